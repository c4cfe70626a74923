//! The inside of a transaction: who begins it, and how its statements are sent.
//!
//! The first statement begins the transaction, and the others wait for its id. The call
//! that begins runs in a task of its own up to its first message, which has the id: so
//! nobody depends on somebody else's future being polled. When that call fails, or whoever
//! wanted it is gone, everybody who waits is woken, and the first to come begins.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::Client;
use super::bound::TimestampBound;
use super::headers::RequestId;
use super::kind::Kind;
use super::request::{Attempt, ReadCall, body, tag, with_token};
use super::session::Session;
use super::settings::CallSettings;
use super::unary::within;
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation, Scope, Subject};
use crate::result::retry::{RetrySettings, too_late};
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Lane, Messages, Method, Opener};
use crate::types::timestamp::Timestamp;
use crate::wire::ResultMetadata;
use crate::wire::writer::{put_bytes, with_length};

/// Fields of `google.spanner.v1.TransactionSelector`.
const ID: u8 = tag(2);
const BEGIN: u8 = tag(3);

/// How long a call that begins a read-write transaction goes on when nobody waits for it.
const UNWATCHED: Duration = Duration::from_secs(10);

/// A transaction, begun or not.
pub(super) struct Snapshot {
    client: Client,
    kind: Kind,
    state: watch::Sender<State>,
    /// The connection of all its calls, chosen for the first one.
    lane: OnceLock<Lane>,
    /// What its statements are shown as parts of.
    scope: Scope,
}

enum State {
    /// The next statement is to begin.
    Idle,
    /// A call is under way that begins.
    Beginning,
    Begun(Arc<Begun>),
    /// It is not to begin any more.
    Over,
}

/// What statements of a transaction have in common once it has begun.
pub(super) struct Begun {
    /// A transaction is one of its session.
    pub(super) session: Arc<Session>,
    pub(super) id: Bytes,
    /// The content of `TransactionSelector`, with the id.
    pub(super) selector: Vec<u8>,
    pub(super) lane: Lane,
    pub(super) scope: Scope,
    pub(super) read_timestamp: Option<Timestamp>,
}

/// What a statement is to do.
enum Turn {
    Join(Arc<Begun>),
    Begin(Right),
    Wait,
    Over,
}

impl Snapshot {
    pub(super) fn read_only(client: Client, bound: TimestampBound) -> Result<Self, Error> {
        bound.check()?;
        if bound.is_single_use() {
            return Err(Error::config(format!(
                "a transaction cannot be bound to a time that the server chooses ({bound}): only a single query or read can; use `Strong`, `ReadTimestamp` or `ExactStaleness`"
            )));
        }
        Ok(Self::new(client, Kind::ReadOnly(bound)))
    }

    pub(super) fn new(client: Client, kind: Kind) -> Self {
        Self {
            client,
            kind,
            state: watch::Sender::new(State::Idle),
            lane: OnceLock::new(),
            scope: Scope::none(),
        }
    }

    /// Its statements are shown as parts of a request.
    pub(super) fn within(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    pub(super) const fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    pub(super) const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The connection of the transaction's calls. Those that only read may leave it: they
    /// gain more from several connections than from one.
    pub(super) fn lane(&self) -> Lane {
        let chosen = self.lane.get_or_init(|| {
            let place = Arc::new(self.client.inner.transport.place());
            match self.kind.is_for_leader() {
                true => Lane::Only(place),
                false => Lane::Rather(place),
            }
        });
        chosen.clone()
    }

    /// Lets nobody begin any more; answers what has begun.
    pub(super) fn close(&self) -> Option<Arc<Begun>> {
        let mut begun = None;
        self.state.send_if_modified(|state| match state {
            State::Begun(it) => {
                begun = Some(it.clone());
                false
            }
            _ => {
                *state = State::Over;
                true
            }
        });
        begun
    }

    pub(super) fn read_timestamp(&self) -> Option<Timestamp> {
        match &*self.state.borrow() {
            State::Begun(begun) => begun.read_timestamp,
            _ => None,
        }
    }

    /// Sends a statement of the transaction and waits for the first message of its result.
    pub(super) async fn send<T: SpannerRow>(
        self: &Arc<Self>,
        call: ReadCall,
        settings: &CallSettings,
        subject: Subject<'_>,
    ) -> Result<RowStream<T>, Error> {
        let started = Instant::now();
        let request = self.client.inner.observe(Operation::of(call.method));
        let request = request.started(started).within(&self.scope);
        let request = request.subject(subject).request_tag(&settings.tag);
        let observer = Observer::start(&request.transaction_tag(self.kind.tag()));
        let retry = settings.retry_over(self.kind.retry(&self.client));
        let statement = self.statement(call, &retry, started, &observer);
        let stream = RowStream::open(Box::new(statement), &retry, started, observer).await?;
        Ok(stream.reading_at(self.read_timestamp()))
    }

    pub(super) fn statement(
        self: &Arc<Self>,
        call: ReadCall,
        retry: &RetrySettings,
        started: Instant,
        observer: &Observer,
    ) -> Statement {
        Statement {
            snapshot: self.clone(),
            id: self.client.inner.new_request(observer),
            call: call.into(),
            deadline: retry.total().and_then(|time| started.checked_add(time)),
            sent_on: Arc::default(),
        }
    }

    /// The transaction, begun with a call of its own unless it has begun.
    pub(super) async fn begin(
        self: &Arc<Self>,
        retry: &RetrySettings,
    ) -> Result<Arc<Begun>, Error> {
        let started = Instant::now();
        let deadline = retry.total().and_then(|time| started.checked_add(time));
        let mut state = self.state.subscribe();
        loop {
            match self.turn() {
                Turn::Join(begun) => return Ok(begun),
                Turn::Over => return Err(Error::status(Kind::over(), 1)),
                Turn::Begin(right) => {
                    let (transaction, session) = self.call_begin(retry, started).await?;
                    right.begun(&transaction, session);
                }
                Turn::Wait => {
                    let waited = state.wait_for(|state| !matches!(state, State::Beginning));
                    // It fails only without a sender, which the transaction is.
                    if within(deadline, waited).await.is_none() {
                        return Err(Error::status(too_late(started.elapsed()), 1));
                    }
                }
            }
        }
    }

    fn turn(self: &Arc<Self>) -> Turn {
        let mut turn = Turn::Wait;
        self.state.send_if_modified(|state| {
            match state {
                State::Begun(begun) => turn = Turn::Join(begun.clone()),
                State::Beginning => {}
                State::Over => turn = Turn::Over,
                State::Idle => {
                    *state = State::Beginning;
                    turn = Turn::Begin(Right(Some(self.clone())));
                }
            }
            // Nobody waits for any of this.
            false
        });
        turn
    }

    /// The transaction is that of the server's answer, `google.spanner.v1.Transaction`.
    fn begun(&self, transaction: &ResultMetadata, session: Arc<Session>) {
        let id = transaction.transaction_id();
        let mut selector = Vec::with_capacity(id.len() + 4);
        put_bytes(&mut selector, ID, id);
        let begun = Arc::new(Begun {
            session,
            id: id.clone(),
            selector,
            lane: self.lane(),
            scope: self.scope.clone(),
            read_timestamp: transaction.read_timestamp(),
        });
        let in_time = self.state.send_if_modified(|state| {
            let in_time = !matches!(state, State::Over);
            if in_time {
                *state = State::Begun(begun.clone());
            }
            in_time
        });
        if !in_time {
            self.kind.begun_too_late(&self.client, begun);
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.kind.name())
            .field("client", &self.client)
            .field("read_timestamp", &self.read_timestamp())
            .finish_non_exhaustive()
    }
}

/// The right to begin the transaction, held by one statement at a time.
struct Right(Option<Arc<Snapshot>>);

impl Right {
    fn begun(mut self, transaction: &ResultMetadata, session: Arc<Session>) {
        if let Some(snapshot) = self.0.take() {
            snapshot.begun(transaction, session);
        }
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        if let Some(snapshot) = self.0.take() {
            snapshot.state.send_if_modified(|state| {
                let held = matches!(state, State::Beginning);
                if held {
                    *state = State::Idle;
                }
                held
            });
        }
    }
}

/// One statement of a transaction, sent as often as its result stream needs it.
pub(super) struct Statement {
    snapshot: Arc<Snapshot>,
    id: RequestId,
    call: Arc<ReadCall>,
    /// When the answer is no longer wanted.
    deadline: Option<Instant>,
    sent_on: SentOn,
}

/// The session of the last attempt.
type SentOn = Arc<Mutex<Option<Arc<Session>>>>;

fn lock(sent_on: &SentOn) -> MutexGuard<'_, Option<Arc<Session>>> {
    sent_on.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opener for Statement {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let sending = Sending {
            attempt: Attempt {
                client: self.snapshot.client.inner.clone(),
                id: self.id.attempt(attempt),
                method: self.call.method,
                leader: self.snapshot.kind.is_for_leader(),
                lane: self.snapshot.lane(),
                deadline: self.deadline,
            },
            snapshot: self.snapshot.clone(),
            call: self.call.clone(),
            token: Bytes::copy_from_slice(resume_token),
            sent_on: self.sent_on.clone(),
        };
        Box::pin(sending.open())
    }

    fn change_session(&mut self) -> bool {
        let Some(session) = lock(&self.sent_on).take() else {
            return false;
        };
        let client = &self.snapshot.client;
        client.inner.sessions.forget(&session);
        // A transaction that has begun is lost with its session. One that has not, or
        // that somebody else began on another one, is not.
        match &*self.snapshot.state.borrow() {
            State::Begun(begun) => !Arc::ptr_eq(&begun.session, &session),
            _ => true,
        }
    }
}

/// One attempt of a statement.
struct Sending {
    attempt: Attempt,
    snapshot: Arc<Snapshot>,
    call: Arc<ReadCall>,
    token: Bytes,
    sent_on: SentOn,
}

impl Sending {
    async fn open(self) -> Result<Box<dyn Messages>, Status> {
        let mut state = self.snapshot.state.subscribe();
        loop {
            self.snapshot.kind.check()?;
            match self.snapshot.turn() {
                Turn::Join(begun) => return self.join(&begun).await,
                Turn::Begin(right) => {
                    let let_go_on = self.snapshot.kind.begins_unwatched();
                    return Task::new(self.begin(right), let_go_on).result().await;
                }
                Turn::Over => return Err(Kind::over()),
                Turn::Wait => {
                    let waited = state.wait_for(|state| !matches!(state, State::Beginning));
                    // It fails only without a sender, which the transaction is.
                    let _ = waited.await;
                }
            }
        }
    }

    /// Sends the statement in the transaction that has begun.
    async fn join(self, begun: &Begun) -> Result<Box<dyn Messages>, Status> {
        let session = begun.session.clone();
        *lock(&self.sent_on) = Some(session.clone());
        let body = body(&session, &begun.selector, &self.call.fields);
        let body = with_token(&body, self.call.token_tag, &self.token);
        let messages = self.attempt.send(session, body).await;
        let messages = messages.map_err(|status| self.snapshot.kind.failed(status, true))?;
        Ok(Box::new(InTransaction {
            first: None,
            method: self.call.method,
            messages,
            snapshot: self.snapshot,
        }))
    }

    /// Sends the statement to begin the transaction, and waits for the message that says
    /// which one it is.
    async fn begin(self, right: Right) -> Result<Box<dyn Messages>, Status> {
        debug_assert!(self.token.is_empty(), "a token comes behind the id");
        let session = self.attempt.client.sessions.for_transaction().await;
        let session = session.map_err(|(status, _)| status)?;
        *lock(&self.sent_on) = Some(session.clone());
        let mut selector = Vec::with_capacity(32);
        selector.push(BEGIN);
        let kind = &self.snapshot.kind;
        with_length(&mut selector, |out| kind.encode_options(out));
        let body = body(&session, &selector, &self.call.fields);
        let id = self.attempt.id.text.clone();
        let failed = |status| kind.failed(status, false);
        let messages = self.attempt.send(session.clone(), body).await;
        let mut messages = messages.map_err(failed)?;
        let first = poll_fn(|cx| messages.poll_message(cx)).await;
        let first = first.transpose().map_err(failed)?;
        // Whatever else is wrong with the message, the reader of the result will say.
        if let Some(metadata) = first
            .as_ref()
            .and_then(|message| kind.received(self.call.method, message))
        {
            if metadata.transaction_id().is_empty() {
                return Err(no_transaction().with_request_id(id));
            }
            right.begun(&metadata, session);
        }
        Ok(Box::new(InTransaction {
            first,
            method: self.call.method,
            messages,
            snapshot: self.snapshot,
        }))
    }
}

#[cold]
pub(super) fn no_transaction() -> Status {
    let text = "no transaction returned: the request began one, and the answer has no id";
    Status::new(Code::Internal, text)
}

/// A task that ends with whoever waits for it, or soon after.
struct Task<T: Send + 'static> {
    handle: Option<JoinHandle<Result<T, Status>>>,
    let_go_on: bool,
}

impl<T: Send + 'static> Task<T> {
    fn new(
        work: impl Future<Output = Result<T, Status>> + Send + 'static,
        let_go_on: bool,
    ) -> Self {
        Self {
            handle: Some(tokio::spawn(work)),
            let_go_on,
        }
    }

    async fn result(mut self) -> Result<T, Status> {
        let joined = match &mut self.handle {
            Some(handle) => handle.await,
            None => unreachable!("only `drop` takes the handle"),
        };
        joined.unwrap_or_else(|_| {
            let text = "the runtime that was beginning the transaction is gone: ask again";
            Err(Status::new(Code::Cancelled, text))
        })
    }
}

impl<T: Send + 'static> Drop for Task<T> {
    fn drop(&mut self) {
        let Some(mut handle) = self.handle.take() else {
            return;
        };
        if handle.is_finished() {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            // What has begun unseen could not be rolled back.
            Ok(runtime) if self.let_go_on => {
                runtime.spawn(async move {
                    if timeout(UNWATCHED, &mut handle).await.is_err() {
                        handle.abort();
                    }
                });
            }
            _ => handle.abort(),
        }
    }
}

/// The answer to a statement in a transaction.
struct InTransaction {
    /// Received already.
    first: Option<Bytes>,
    method: Method,
    messages: Box<dyn Messages>,
    snapshot: Arc<Snapshot>,
}

impl Messages for InTransaction {
    fn blocks(&self) -> u64 {
        self.messages.blocks()
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        let kind = &self.snapshot.kind;
        if let Err(status) = kind.check() {
            return Poll::Ready(Some(Err(status)));
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let polled = ready!(self.messages.poll_message(cx));
        if let Some(Ok(message)) = &polled {
            kind.received(self.method, message);
        }
        Poll::Ready(polled.map(|it| it.map_err(|status| kind.failed(status, true))))
    }
}
