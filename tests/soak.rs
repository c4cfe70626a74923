//! Millions of rows through a server that breaks, delays and cancels at random:
//! nothing lost, nothing twice, memory flat.
//!
//! `SOAK_ROWS` says how many rows (default: ten million), `SOAK_SEED` repeats a run.
//! Ignored among the other tests, because it takes minutes without optimisation; `.ci/run`
//! runs a short one.
//! The server makes its messages as they are asked for, on a thread of its own;
//! its memory is counted apart.

#[path = "support/heap.rs"]
mod heap;
#[path = "support/thread.rs"]
mod thread;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_core::Stream as _;
use heap::{Counting, held, held_by_the_server, take_peak};
use spanner_rows::testing::{Answer, Failure, FakeSpanner, Message, Request, Step};
use spanner_rows::{Client, RetrySettings, Row, RowStream, SpannerRow, Type, TypeCode};
use thread::ServerThread;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: i64 = 1 << 20;
const STREAMS: i64 = 5;

/// What the client may hold at any time: for each stream the window of two MiB and
/// what waits for a token, and the same again for the connection and the runtime.
const MOST_HELD: i64 = STREAMS * 4 * MIB;
/// How much more may be held, or be resident, than in the first tenth. Which streams
/// have a full window at the same time is chance.
const GROWTH: i64 = STREAMS * 2 * MIB;
const RESIDENT_GROWTH: i64 = 32 * MIB;

/// A stream that gives no row for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

static ROWS: AtomicI64 = AtomicI64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
static CANCELLED: AtomicU64 = AtomicU64::new(0);

#[test]
#[ignore = "ten million rows take minutes: cargo test --release --test soak -- --ignored --nocapture"]
fn rows_without_end() {
    let rows = number("SOAK_ROWS").unwrap_or(10_000_000);
    let each = (rows / STREAMS as u64) as i64;
    let seed = number("SOAK_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("SOAK_ROWS={rows} SOAK_SEED={seed}");
    let server = ServerThread::start(move |fake| serve(fake, each, seed));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let start = Instant::now();
    runtime.block_on(async {
        let fake = &server.fake;
        let settings = RetrySettings::default().initial_delay(Duration::from_millis(1));
        let client = Client::builder(fake.database()).endpoint(fake.endpoint());
        let client = client.retry(settings).connect().await.unwrap();
        let seeds = (0..STREAMS as u64).map(|i| Dice::new(seed ^ (i + 1)));
        let mut tasks = tokio::task::JoinSet::new();
        for (i, dice) in seeds.enumerate() {
            let client = client.clone();
            match i {
                0 => tasks.spawn(by_next_borrowed(client, i, each, dice)),
                1 => tasks.spawn(by_batch(client, i, each, dice)),
                2 => tasks.spawn(by_for_each(client, i, each, dice)),
                3 => tasks.spawn(as_stream(client, i, each, dice)),
                _ => tasks.spawn(by_next_dynamic(client, i, each, dice)),
            };
        }
        let watch = watch(each * STREAMS);
        tokio::select! {
            () = async { while let Some(done) = tasks.join_next().await { done.unwrap() } } => {}
            () = watch => unreachable!("it watches for ever"),
        }
    });
    assert_eq!(ROWS.load(Ordering::Relaxed), each * STREAMS);
    let time = start.elapsed();
    println!(
        "{} rows in {time:.1?}, {:.0} rows/s; {} calls, so {} breaks; {} futures dropped unready",
        each * STREAMS,
        (each * STREAMS) as f64 / time.as_secs_f64(),
        CALLS.load(Ordering::Relaxed),
        CALLS.load(Ordering::Relaxed) - STREAMS as u64,
        CANCELLED.load(Ordering::Relaxed),
    );
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// Looks at the memory and at the progress.
async fn watch(all: i64) {
    let start = (held(), resident());
    let mut warm = None;
    let (mut most_held, mut most_resident) = start;
    let mut progress = (0, Instant::now());
    let mut told = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let rows = ROWS.load(Ordering::Relaxed);
        if rows > progress.0 {
            progress = (rows, Instant::now());
        }
        assert!(progress.1.elapsed() < PATIENCE, "no row since row {rows}");
        let (peak, resident) = (take_peak(), resident());
        most_held = most_held.max(peak);
        most_resident = most_resident.max(resident);
        assert!(peak < MOST_HELD, "{peak} B held after {rows} rows");
        if rows > all / 10 {
            let (held, was_resident) = *warm.get_or_insert((most_held, most_resident));
            assert!(peak < held + GROWTH, "{peak} B held, {held} B when warm");
            let grown = resident - was_resident;
            assert!(grown < RESIDENT_GROWTH, "{grown} B more resident");
        }
        if rows * 20 / all > told {
            told = rows * 20 / all;
            let (now, server) = (held(), held_by_the_server());
            println!(
                "{rows} rows: {now} B held (start {}, most {most_held}), server {server} B, \
                 {resident} B resident (start {}, most {most_resident})",
                start.0, start.1
            );
        }
    }
}

/// The resident memory of the process, where the system tells it.
fn resident() -> i64 {
    let pages = || {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        text.split(' ').nth(1)?.parse::<i64>().ok()
    };
    pages().map_or(0, |pages| pages * 4096)
}

// The rows

#[derive(SpannerRow)]
struct Borrowed<'row> {
    n: i64,
    text: &'row str,
}

#[derive(SpannerRow)]
struct Mixed<'row> {
    n: i64,
    text: &'row str,
    list: Vec<&'row str>,
}

#[derive(SpannerRow)]
struct Owned {
    n: i64,
    text: String,
    list: Vec<String>,
}

/// Writes the text of a row: between 8 and some 170 bytes.
fn write_text(n: i64, out: &mut String) {
    out.clear();
    let _ = write!(out, "row {n} ");
    for i in 0..(n * 7919 % 41) {
        out.push(['a', 'ż', '€', '🎷'][((n + i) % 4) as usize]);
    }
}

fn elements(n: i64) -> impl Iterator<Item = String> {
    (0..n % 3).map(move |i| format!("{n}/{i}"))
}

/// Checks rows: each is the one behind the one before.
#[derive(Default)]
struct Checker {
    next: i64,
    text: String,
}

impl Checker {
    fn check<'a>(&mut self, n: i64, text: &str, list: Option<impl Iterator<Item = &'a str>>) {
        assert_eq!(n, self.next);
        write_text(n, &mut self.text);
        assert_eq!(text, self.text, "row {n}");
        if let Some(list) = list {
            assert!(list.eq(elements(n)), "row {n}");
        }
        self.next += 1;
        ROWS.fetch_add(1, Ordering::Relaxed);
    }
}

const NO_LIST: Option<std::iter::Empty<&str>> = None;

// The readers

fn sql(stream: usize) -> String {
    format!("SELECT n, text, list FROM Soak{stream}")
}

async fn open<T: SpannerRow>(client: &Client, stream: usize) -> RowStream<T> {
    client.query(sql(stream)).rows().await.unwrap()
}

/// Polls a future, and drops it unready once in a while.
async fn polled<F: Future>(future: F, dice: &mut Dice) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if dice.one_in(3) => {
            CANCELLED.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(None)
        }
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Reads on at once nearly always.
async fn dawdle(dice: &mut Dice) {
    if dice.one_in(50_000) {
        tokio::time::sleep(Duration::from_millis(dice.below(30))).await;
    }
}

async fn by_next_borrowed(client: Client, stream: usize, rows: i64, mut dice: Dice) {
    let mut stream = open::<Borrowed>(&client, stream).await;
    let mut checker = Checker::default();
    loop {
        match polled(stream.next(), &mut dice).await {
            Some(Ok(Some(row))) => checker.check(row.n, row.text, NO_LIST),
            Some(Ok(None)) => break,
            Some(Err(error)) => panic!("{error}"),
            None => tokio::task::yield_now().await,
        }
        dawdle(&mut dice).await;
    }
    assert_eq!(checker.next, rows);
}

/// Batches go to another task.
async fn by_batch(client: Client, stream: usize, rows: i64, mut dice: Dice) {
    let mut stream = open::<Mixed>(&client, stream).await;
    let mut checker = Checker::default();
    loop {
        match polled(stream.next_batch(), &mut dice).await {
            Some(Ok(Some(batch))) => {
                let checking = async move {
                    for row in &batch {
                        let row = row.unwrap();
                        checker.check(row.n, row.text, Some(row.list.iter().copied()));
                    }
                    checker
                };
                checker = tokio::spawn(checking).await.unwrap();
            }
            Some(Ok(None)) => break,
            Some(Err(error)) => panic!("{error}"),
            None => tokio::task::yield_now().await,
        }
    }
    assert_eq!(checker.next, rows);
}

async fn by_for_each(client: Client, stream: usize, rows: i64, mut dice: Dice) {
    let mut stream = open::<Owned>(&client, stream).await;
    let mut checker = Checker::default();
    loop {
        let all = stream.for_each(|row| {
            let list = row.list.iter().map(String::as_str);
            checker.check(row.n, &row.text, Some(list));
        });
        match polled(all, &mut dice).await {
            Some(end) => break end.unwrap(),
            None => tokio::task::yield_now().await,
        }
    }
    assert_eq!(checker.next, rows);
}

async fn as_stream(client: Client, stream: usize, rows: i64, mut dice: Dice) {
    let mut stream = open::<Owned>(&client, stream).await.into_stream();
    let mut checker = Checker::default();
    loop {
        let next = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx));
        match polled(next, &mut dice).await {
            Some(Some(row)) => {
                let row = row.unwrap();
                let list = row.list.iter().map(String::as_str);
                checker.check(row.n, &row.text, Some(list));
            }
            Some(None) => break,
            None => tokio::task::yield_now().await,
        }
        dawdle(&mut dice).await;
    }
    assert_eq!(checker.next, rows);
}

async fn by_next_dynamic(client: Client, stream: usize, rows: i64, mut dice: Dice) {
    let mut stream = open::<Row>(&client, stream).await;
    let mut checker = Checker::default();
    loop {
        let limit = Duration::from_micros(dice.below(3_000));
        match tokio::time::timeout(limit, stream.next()).await {
            Ok(Ok(Some(row))) => {
                let list: Vec<&str> = row.get("list").unwrap();
                let (n, text) = (row.get("n").unwrap(), row.get("text").unwrap());
                checker.check(n, text, Some(list.into_iter()));
            }
            Ok(Ok(None)) => break,
            Ok(Err(error)) => panic!("{error}"),
            Err(_) => {
                CANCELLED.fetch_add(1, Ordering::Relaxed);
            }
        }
        dawdle(&mut dice).await;
    }
    assert_eq!(checker.next, rows);
}

// The server

fn serve(fake: &Arc<FakeSpanner>, rows: i64, seed: u64) {
    let forgetful = Arc::clone(fake);
    tokio::spawn(async move {
        // Its list of requests would grow.
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            forgetful.take_requests();
        }
    });
    let streams: Arc<Mutex<HashMap<String, Dice>>> = Arc::default();
    fake.on_any(move |request| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let mut streams = streams.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = request.sql();
        let dice = streams.entry(sql.to_owned()).or_insert_with(|| {
            let stream = sql.bytes().last().unwrap_or_default();
            Dice::new(seed.rotate_left(32) ^ u64::from(stream))
        });
        Some(call(request, rows, dice))
    });
}

/// A place in the result: before a byte of the text of a row, or a value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    row: i64,
    column: u8,
    offset: usize,
}

impl Place {
    fn from_token(token: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(token).ok()?.split('.');
        Some(Self {
            row: parts.next()?.parse().ok()?,
            column: parts.next()?.parse().ok()?,
            offset: parts.next()?.parse().ok()?,
        })
    }

    fn token(self) -> String {
        format!("{}.{}.{}", self.row, self.column, self.offset)
    }

    /// The next value.
    fn pass(&mut self) {
        self.offset = 0;
        self.column += 1;
        if self.column == 3 {
            self.column = 0;
            self.row += 1;
        }
    }
}

/// Some messages, and then a break.
fn call(request: &Request, rows: i64, dice: &mut Dice) -> Answer {
    if dice.one_in(20) {
        return failure(dice).into();
    }
    let start = Place {
        row: 0,
        column: 0,
        offset: 0,
    };
    let token = request.resume_token();
    let mut place = match token {
        b"" => start,
        token => Place::from_token(token).expect("a token of this server"),
    };
    let mut steps = Vec::new();
    let mut first = token.is_empty() || dice.one_in(2);
    for _ in 0..dice.below(30) {
        let mut message = message(&mut place, rows, dice);
        if std::mem::take(&mut first) {
            message = message.columns([
                ("n", Type::from(TypeCode::Int64)),
                ("text", TypeCode::String.into()),
                ("list", Type::array(TypeCode::String.into())),
            ]);
        }
        if dice.one_in(200) {
            steps.push(Step::Delay(Duration::from_millis(dice.below(5))));
        }
        if place.row >= rows {
            let message = if dice.one_in(2) {
                message.last()
            } else {
                message
            };
            steps.push(Step::Message(message));
            return steps.into();
        }
        if !dice.one_in(4) {
            message = message.resume_token(place.token());
        }
        steps.push(Step::Message(message));
    }
    if dice.one_in(4) {
        let half = [0, 0, 0, 200, 0, 0x12, 5, 0x1a];
        steps.push(Step::Unframed(half.to_vec().into()));
    }
    steps.extend(match dice.below(40) {
        0 => vec![Step::Disconnect],
        1 => vec![Step::GoAway, Step::Fail(failure(dice))],
        2..=6 => vec![Step::EndWithoutStatus],
        7..=20 => vec![Step::Reset([0, 2, 7, 8][dice.below(4) as usize])],
        _ => vec![Step::Fail(failure(dice))],
    });
    steps.into()
}

fn failure(dice: &mut Dice) -> Failure {
    match dice.below(4) {
        0 => Failure::resource_exhausted("busy").retry_after(Duration::from_millis(1)),
        1 => Failure::internal("Received Rst Stream"),
        _ => Failure::unavailable("later"),
    }
}

/// The values from `place` on, and where they end: anywhere.
fn message(place: &mut Place, rows: i64, dice: &mut Dice) -> Message {
    let mut room = dice.below(48 << 10) as usize;
    let mut message = Message::new();
    let mut text = String::new();
    while place.row < rows {
        match place.column {
            0 => {
                message = message.value(place.row);
                room = room.saturating_sub(16);
            }
            1 => {
                write_text(place.row, &mut text);
                let rest = &text[place.offset..];
                if room < 100 && dice.one_in(2) {
                    let mut end = dice.below(rest.len() as u64 + 1) as usize;
                    while !rest.is_char_boundary(end) {
                        end -= 1;
                    }
                    place.offset += end;
                    return message.value(&rest[..end]).chunked();
                }
                message = message.value(rest);
                room = room.saturating_sub(rest.len());
            }
            _ => {
                let list: Vec<_> = elements(place.row).collect();
                message = message.value(&list[..]);
                room = room.saturating_sub(16);
            }
        }
        place.pass();
        if room < 100 && dice.one_in(4) {
            break;
        }
    }
    message
}

/// Random numbers that a seed repeats.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
