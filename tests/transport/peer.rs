//! An HTTP/2 peer that does what a test tells it, frame by frame.
//!
//! It makes sessions by itself and hands every read to the test. It writes its
//! frames by hand, because an HTTP/2 library has ideas of its own: it drops
//! what is queued when a stream is reset, joins and cuts frames, and refuses to
//! break the rules. What the test sends arrives in exactly this order.
//!
//! Nothing here waits for time to pass: tests wait for what the other side does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use spanner_rows::{Client, ClientBuilder, RetrySettings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc, watch};

use super::wire::{self, header_block};

pub(crate) const DATABASE: &str = "projects/p/instances/i/databases/d";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// More than any test needs; a test that would wait for ever fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server, on as many connections as the client makes.
pub(crate) struct Peer {
    address: String,
    shared: Arc<Shared>,
}

/// What a test can look at.
#[derive(Default)]
struct Shared {
    connections: AtomicUsize,
    /// The resume token of each read, in the order of arrival.
    tokens: Mutex<Vec<String>>,
}

/// How the peer behaves on its connections.
#[derive(Clone, Default)]
pub(crate) struct Manner {
    /// The settings that it begins a connection with.
    pub(crate) settings: Vec<(u16, u32)>,
    /// This many connections are accepted and left alone: nothing is read, nothing written.
    pub(crate) dead: usize,
    /// What is said on the connections behind those, instead of HTTP/2, before
    /// they are closed; one after another.
    pub(crate) greetings: Vec<&'static [u8]>,
}

impl Peer {
    /// Starts a peer that hands every read to `reads`.
    pub(crate) async fn start<F>(reads: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::with_manner(Manner::default(), reads).await
    }

    pub(crate) async fn with_manner<F>(
        manner: Manner,
        reads: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared::default());
        let handler: Handler = Arc::new(move |call| {
            tokio::spawn(reads(call));
        });
        tokio::spawn(accept(listener, manner, shared.clone(), handler));
        Self { address, shared }
    }

    /// A peer whose reads the test answers itself, one after another.
    pub(crate) async fn by_hand(manner: Manner) -> (Self, Reads) {
        let (reads, arrived) = mpsc::unbounded_channel();
        let hand_over = move |call| {
            // The test may be over.
            let _ = reads.send(call);
            std::future::ready(())
        };
        let peer = Self::with_manner(manner, hand_over).await;
        (peer, Reads(arrived))
    }

    /// A client that retries at once.
    pub(crate) async fn client(&self) -> Client {
        self.builder().connect().await.unwrap()
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder(DATABASE)
            .endpoint(&self.address)
            .retry(at_once())
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The resume tokens of the reads since the last time.
    pub(crate) fn take_tokens(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared.tokens))
    }
}

/// The reads that have arrived.
pub(crate) struct Reads(mpsc::UnboundedReceiver<Call>);

impl Reads {
    pub(crate) async fn next(&mut self) -> Call {
        soon(self.0.recv()).await.unwrap()
    }

    /// Nobody has asked for anything.
    #[track_caller]
    pub(crate) fn assert_none(&mut self) {
        assert!(self.0.try_recv().is_err(), "a request too many");
    }
}

pub(crate) fn at_once() -> RetrySettings {
    RetrySettings::default().initial_delay(Duration::ZERO)
}

/// Waits for what is to happen; a test that hangs fails instead.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    let timely = tokio::time::timeout(PATIENCE, future);
    timely.await.expect("it takes too long")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

type Handler = Arc<dyn Fn(Call) + Send + Sync>;

async fn accept(listener: TcpListener, manner: Manner, shared: Arc<Shared>, handler: Handler) {
    let mut left_alone = Vec::new();
    while let Ok((mut socket, _)) = listener.accept().await {
        socket.set_nodelay(true).unwrap();
        let number = shared.connections.fetch_add(1, Ordering::SeqCst);
        if number < manner.dead {
            left_alone.push(socket);
            continue;
        }
        if let Some(greeting) = manner.greetings.get(number - manner.dead) {
            let _ = socket.write_all(greeting).await;
            continue;
        }
        let connection = Halves::new(socket, number + 1, shared.clone());
        tokio::spawn(connection.serve(manner.settings.clone(), handler.clone()));
    }
}

/// One connection, as its calls share it.
pub(crate) struct Connection {
    /// Connections are counted from 1.
    number: usize,
    shared: Arc<Shared>,
    /// `None` once the connection is closed.
    out: tokio::sync::Mutex<Option<OwnedWriteHalf>>,
    /// Nothing more is read, either.
    aborted: Notify,
    seen: watch::Sender<Seen>,
}

/// What the client has sent.
#[derive(Default)]
struct Seen {
    /// What may be sent on a new stream, on the streams, and on all together.
    initial_window: i64,
    windows: BTreeMap<u32, i64>,
    window: i64,
    /// Streams whose peer waits for a window.
    held_back: BTreeSet<u32>,
    resets: BTreeMap<u32, u32>,
    /// Pings, and answers to the peer's own.
    pings: usize,
    pongs: usize,
    /// Whether pings are left without an answer.
    deaf: bool,
    /// The client has closed the connection.
    closed: bool,
}

impl Connection {
    pub(crate) async fn write(&self, bytes: &[u8]) {
        if let Some(out) = &mut *self.out.lock().await {
            // The client may have closed the connection.
            let _ = out.write_all(bytes).await;
        }
    }

    /// Closes the connection in a way that TCP tells as an error (RST), and that
    /// may overtake what was sent.
    pub(crate) async fn abort(&self) {
        if let Some(out) = self.out.lock().await.take() {
            out.as_ref().set_zero_linger().unwrap();
            out.forget();
            self.aborted.notify_one();
        }
    }

    /// Closes the connection behind what was sent.
    pub(crate) async fn close(&self) {
        if let Some(mut out) = self.out.lock().await.take() {
            let _ = out.shutdown().await;
        }
    }

    /// Waits until the client has done something.
    async fn until(&self, mut done: impl FnMut(&Seen) -> bool) {
        let mut seen = self.seen.subscribe();
        soon(seen.wait_for(|seen| done(seen))).await.unwrap();
    }

    /// Takes as much of `len` as the client lets on the stream; none when it has gone.
    async fn take_window(&self, stream: u32, len: usize) -> usize {
        loop {
            let mut taken = None;
            self.seen.send_if_modified(|seen| {
                taken = seen.take_window(stream, len);
                match taken {
                    Some(_) => seen.held_back.remove(&stream),
                    None => seen.held_back.insert(stream),
                }
            });
            if let Some(taken) = taken {
                return taken;
            }
            self.until(|seen| seen.window_of(stream) != Some(0)).await;
        }
    }
}

impl Seen {
    /// How much may be sent on a stream; `None` when nobody is there for it.
    fn window_of(&self, stream: u32) -> Option<usize> {
        if self.closed || self.resets.contains_key(&stream) {
            return None;
        }
        let window = *self.windows.get(&stream).unwrap_or(&0).min(&self.window);
        Some(usize::try_from(window).unwrap_or(0))
    }

    /// `None` when that is to be waited for.
    fn take_window(&mut self, stream: u32, len: usize) -> Option<usize> {
        match self.window_of(stream) {
            None => Some(0),
            Some(0) => None,
            Some(open) => {
                let len = len.min(open);
                *self.windows.entry(stream).or_default() -= len as i64;
                self.window -= len as i64;
                Some(len)
            }
        }
    }
}

/// A connection and what comes from the client on it.
struct Halves {
    reader: OwnedReadHalf,
    connection: Arc<Connection>,
}

impl Halves {
    fn new(socket: TcpStream, number: usize, shared: Arc<Shared>) -> Self {
        let (reader, writer) = socket.into_split();
        let (seen, _) = watch::channel(Seen {
            initial_window: 65_535,
            window: 65_535,
            ..Seen::default()
        });
        let connection = Connection {
            number,
            shared,
            out: tokio::sync::Mutex::new(Some(writer)),
            aborted: Notify::new(),
            seen,
        };
        Self {
            reader,
            connection: Arc::new(connection),
        }
    }

    async fn serve(mut self, settings: Vec<(u16, u32)>, handler: Handler) {
        let connection = self.connection.clone();
        tokio::select! {
            // The client goes away in its own time.
            _ = self.read_all(&settings, &handler) => {}
            () = connection.aborted.notified() => {}
        }
        self.connection.seen.send_modify(|seen| seen.closed = true);
    }

    async fn read_all(
        &mut self,
        settings: &[(u16, u32)],
        handler: &Handler,
    ) -> std::io::Result<()> {
        self.connection.write(&wire::settings(settings)).await;
        let mut preface = [0; PREFACE.len()];
        self.reader.read_exact(&mut preface).await?;
        assert_eq!(preface, PREFACE);
        let mut bodies = BTreeMap::<u32, Vec<u8>>::new();
        loop {
            let mut head = [0; 9];
            self.reader.read_exact(&mut head).await?;
            let [a, b, c, kind, flags, stream @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            self.reader.read_exact(&mut payload).await?;
            let stream = u32::from_be_bytes(stream);
            self.note(kind, flags, stream, &payload).await;
            if kind == wire::DATA {
                let body = bodies.entry(stream).or_default();
                body.extend_from_slice(&payload);
                if flags & wire::END_STREAM != 0 {
                    let body = bodies.remove(&stream).unwrap_or_default();
                    self.request(stream, &body, handler).await;
                }
            }
        }
    }

    async fn note(&self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let connection = &self.connection;
        let number = |range| u32::from_be_bytes(<[u8; 4]>::try_from(&payload[range]).unwrap());
        match kind {
            wire::DATA if !payload.is_empty() => {
                let more = u32::try_from(payload.len()).unwrap().to_be_bytes();
                let mut updates = wire::frame(wire::WINDOW_UPDATE, 0, 0, &more);
                if flags & wire::END_STREAM == 0 {
                    updates.extend(wire::frame(wire::WINDOW_UPDATE, 0, stream, &more));
                }
                connection.write(&updates).await;
            }
            wire::HEADERS => connection.seen.send_modify(|seen| {
                let window = seen.initial_window;
                seen.windows.insert(stream, window);
            }),
            wire::RST_STREAM => connection.seen.send_modify(|seen| {
                seen.resets.insert(stream, number(0..4));
            }),
            wire::SETTINGS if flags & wire::ACK == 0 => {
                for pair in payload.chunks_exact(6) {
                    if pair[..2] == wire::INITIAL_WINDOW_SIZE.to_be_bytes() {
                        let size = u32::from_be_bytes(<[u8; 4]>::try_from(&pair[2..]).unwrap());
                        connection
                            .seen
                            .send_modify(|seen| seen.initial_window = i64::from(size));
                    }
                }
                let ack = wire::frame(wire::SETTINGS, wire::ACK, 0, &[]);
                connection.write(&ack).await;
            }
            wire::PING if flags & wire::ACK != 0 => {
                connection.seen.send_modify(|seen| seen.pongs += 1);
            }
            wire::PING if !connection.seen.borrow().deaf => {
                connection.seen.send_modify(|seen| seen.pings += 1);
                let pong = wire::frame(wire::PING, wire::ACK, 0, payload);
                connection.write(&pong).await;
            }
            wire::WINDOW_UPDATE => connection.seen.send_modify(|seen| {
                let more = i64::from(number(0..4));
                match stream {
                    0 => seen.window += more,
                    _ => *seen.windows.entry(stream).or_default() += more,
                }
            }),
            _ => {}
        }
    }

    async fn request(&self, stream: u32, body: &[u8], handler: &Handler) {
        let connection = &self.connection;
        if connection.out.lock().await.is_none() {
            // Closed; the client may not know yet.
            return;
        }
        let message = body.get(5..).unwrap_or_default();
        // `CreateSessionRequest.database`, `ExecuteSqlRequest.session`
        let name = wire::find_field(message, 1).unwrap_or_default();
        let token = wire::find_field(message, 6).unwrap_or_default();
        let mut call = Call {
            number: 0,
            stream,
            connection: connection.clone(),
            token: String::from_utf8(token.to_vec()).unwrap(),
            request: body.to_vec(),
        };
        if name == DATABASE.as_bytes() {
            let session = format!("{DATABASE}/sessions/s");
            call.head().await;
            call.data(&wire::framed(&wire::field(1, session.as_bytes())))
                .await;
            return call.ok().await;
        }
        {
            let mut tokens = lock(&connection.shared.tokens);
            tokens.push(call.token.clone());
            call.number = tokens.len();
        }
        handler(call);
    }
}

/// One request, to be answered in any way.
#[derive(Clone)]
pub(crate) struct Call {
    /// Reads are counted from 1, since the tokens were last taken.
    pub(crate) number: usize,
    pub(crate) stream: u32,
    pub(crate) connection: Arc<Connection>,
    /// The resume token of the request; empty for none.
    pub(crate) token: String,
    /// The request, its gRPC prefix included.
    pub(crate) request: Vec<u8>,
}

impl Call {
    /// The connection that it came on; they are counted from 1.
    pub(crate) fn connection_number(&self) -> usize {
        self.connection.number
    }

    pub(crate) async fn frame(&self, kind: u8, flags: u8, payload: &[u8]) {
        let frame = wire::frame(kind, flags, self.stream, payload);
        self.connection.write(&frame).await;
    }

    /// The headers that a gRPC server begins an answer with.
    pub(crate) async fn head(&self) {
        let head = [(":status", "200"), ("content-type", "application/grpc")];
        self.headers(&head, false).await;
    }

    pub(crate) async fn headers(&self, headers: &[(&str, &str)], end: bool) {
        let end = if end { wire::END_STREAM } else { 0 };
        let flags = wire::END_HEADERS | end;
        self.frame(wire::HEADERS, flags, &header_block(headers))
            .await;
    }

    pub(crate) async fn trailers(&self, trailers: &[(&str, &str)]) {
        self.headers(trailers, true).await;
    }

    /// The end of a result.
    pub(crate) async fn ok(&self) {
        self.trailers(&[("grpc-status", "0")]).await;
    }

    /// Headers and status in one.
    pub(crate) async fn trailers_only(&self, status: &[(&str, &str)]) {
        let head = [(":status", "200"), ("content-type", "application/grpc")];
        self.headers(&[&head, status].concat(), true).await;
    }

    /// Bytes of the body, as many at a time as the client lets.
    pub(crate) async fn data(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let most = bytes.len().min(16_384);
            let len = self.connection.take_window(self.stream, most).await;
            if len == 0 {
                return;
            }
            self.frame(wire::DATA, 0, &bytes[..len]).await;
            bytes = &bytes[len..];
        }
    }

    pub(crate) async fn reset(&self, reason: u32) {
        self.frame(wire::RST_STREAM, 0, &reason.to_be_bytes()).await;
    }

    /// Streams above `last` are refused, those up to it may go on.
    pub(crate) async fn go_away(&self, last: u32, reason: u32) {
        let payload = [last.to_be_bytes(), reason.to_be_bytes()].concat();
        let frame = wire::frame(wire::GOAWAY, 0, 0, &payload);
        self.connection.write(&frame).await;
    }

    /// Waits until the client has asked for so many more signs of life.
    pub(crate) async fn until_pings(&self, count: usize) {
        let before = self.connection.seen.borrow().pings;
        self.connection
            .until(|seen| seen.pings >= before + count)
            .await;
    }

    /// Answers no more pings.
    pub(crate) fn go_deaf(&self) {
        self.connection.seen.send_modify(|seen| seen.deaf = true);
    }

    /// Asks for a sign of life, and waits until what was sent so far is processed.
    pub(crate) async fn ping(&self) {
        let before = self.connection.seen.borrow().pongs;
        self.connection
            .write(&wire::frame(wire::PING, 0, 0, b"anybody?"))
            .await;
        self.connection
            .until(|seen| seen.pongs > before || seen.closed)
            .await;
    }

    /// Waits until the client lets no more be sent on the stream.
    pub(crate) async fn until_held_back(&self) {
        let stream = self.stream;
        self.connection
            .until(|seen| seen.held_back.contains(&stream))
            .await;
    }

    /// Waits until the client resets the stream, and tells why.
    pub(crate) async fn until_reset(&self) -> u32 {
        let stream = self.stream;
        self.connection
            .until(|seen| seen.resets.contains_key(&stream))
            .await;
        self.reset_seen().unwrap()
    }

    pub(crate) async fn until_reset_or_closed(&self) {
        let stream = self.stream;
        self.connection
            .until(|seen| seen.window_of(stream).is_none())
            .await;
    }

    /// Why the client has reset the stream, if it has.
    pub(crate) fn reset_seen(&self) -> Option<u32> {
        self.connection
            .seen
            .borrow()
            .resets
            .get(&self.stream)
            .copied()
    }

    /// Waits until the client has closed the connection.
    pub(crate) async fn until_closed(&self) {
        self.connection.until(|seen| seen.closed).await;
    }
}
