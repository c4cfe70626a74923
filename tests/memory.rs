//! What a stream holds: what HTTP/2 lets the server send ahead, what waits for a
//! resume token up to the limit, and one row. Nothing of it stays.
//!
//! The server runs on a thread of its own, and its memory is counted apart.

#[path = "support/heap.rs"]
mod heap;
#[path = "support/thread.rs"]
mod thread;

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use heap::{Counting, held, take_peak};
use spanner_rows::testing::{Answer, Cut, Gate, Message, Rows, Step};
use spanner_rows::{Client, RetrySettings, RowStream, TypeCode};
use thread::ServerThread;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KIB: i64 = 1 << 10;
const MIB: i64 = 1 << 20;

/// What the server may send ahead on one stream.
const WINDOW: i64 = 2 * MIB;
/// Room for what the HTTP/2 library keeps beside that, and for one message.
const SLACK: i64 = 512 * KIB;

const SQL: &str = "SELECT n, text FROM Texts";

/// One test at a time: all memory of the process is counted.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

async fn client(server: &ServerThread, retry: RetrySettings) -> Client {
    let fake = &server.fake;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    client.retry(retry).connect().await.unwrap()
}

/// Lets the connection do what it has to.
async fn settle() {
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

const HUGE: usize = 10 << 20;
const SMALL_ROWS: i64 = 400;

/// The huge cell lies between as many small rows before and behind it.
fn huge_row_among_small_ones() -> Rows {
    let text = |n| if n == SMALL_ROWS { HUGE } else { 1000 };
    let rows = (0..=2 * SMALL_ROWS).map(move |n| (n, "x".repeat(text(n))));
    Rows::new(["n", "text"], rows)
}

/// In messages of the usual size, and as one message of ten MiB.
const WAYS: [(&str, Cut); 2] = [
    ("cut", Cut::InsideValues),
    ("in one message", Cut::BetweenRows),
];

/// Reads with `read`, which is told whether to go on, and compares what is held in
/// the middle of the small rows before and behind the huge one.
fn one_huge_row_leaves_nothing(
    what: &str,
    mut read: impl AsyncFnMut(&mut RowStream<(i64, &str)>) -> Option<i64>,
) {
    let _alone = alone();
    for (way, cut) in WAYS {
        let server = ServerThread::start(move |fake| {
            let rows = huge_row_among_small_ones().message_size(32 << 10);
            fake.on_query(SQL, rows.cut(cut));
        });
        run(async {
            let client = client(&server, RetrySettings::default()).await;
            let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
            let (mut before, mut behind) = (None, None);
            let mut last = 0;
            while let Some(n) = read(&mut rows).await {
                last = n;
                if (SMALL_ROWS / 2..SMALL_ROWS).contains(&n) && before.is_none() {
                    settle().await;
                    before = Some(held());
                    take_peak();
                }
                if n > SMALL_ROWS + SMALL_ROWS / 2 && behind.is_none() {
                    settle().await;
                    behind = Some(held());
                }
            }
            assert_eq!(last, 2 * SMALL_ROWS);
            let peak = take_peak();
            let (before, behind) = (before.unwrap(), behind.unwrap());
            println!("{what}, {way}: {before} B before, {peak} B at most, {behind} B behind");
            assert!(
                peak - before > HUGE as i64,
                "{what}, {way}: nothing was huge"
            );
            // Twice, because the row is put together while its pieces arrive; and what
            // grows is copied when it does.
            let most = 3 * HUGE as i64 + WINDOW + SLACK;
            assert!(peak - before < most, "{what}, {way}: {peak} B at most");
            // Before it the window was full of the huge row. Now there is the rest of
            // the small ones, and what the connection needs.
            assert!(behind < before && behind < MIB, "{what}, {way}: {behind} B");
        });
    }
}

#[test]
fn one_huge_row_leaves_nothing_to_next() {
    one_huge_row_leaves_nothing("next", async |rows| {
        let row = rows.next().await.unwrap();
        row.map(|(n, _)| n)
    });
}

#[test]
fn one_huge_row_leaves_nothing_to_next_batch() {
    one_huge_row_leaves_nothing("next_batch", async |rows| {
        let batch = rows.next_batch().await.unwrap()?;
        Some(batch.row(batch.len() - 1).unwrap().0)
    });
}

/// Whether the future is ready at once.
fn is_ready(future: impl Future) -> bool {
    let future = tokio::task::unconstrained(future);
    let mut context = Context::from_waker(Waker::noop());
    pin!(future).poll(&mut context).is_ready()
}

/// Messages of 64 KiB, with an open gate before each that tells how far the server got.
fn watched(gates: &[Gate], tokens: bool) -> Answer {
    let mut steps = Vec::new();
    for (n, gate) in gates.iter().enumerate() {
        gate.open();
        let mut message = Message::new();
        if n == 0 {
            message = message.columns([("n", TypeCode::Int64), ("text", TypeCode::String)]);
        }
        message = message.value(n as i64).value("x".repeat(MESSAGE));
        if tokens {
            message = message.resume_token(format!("token {n}"));
        }
        steps.extend([Step::Wait(gate.clone()), Step::Message(message)]);
    }
    Answer::script(steps)
}

fn gates(messages: usize) -> Vec<Gate> {
    (0..messages).map(|_| Gate::new()).collect()
}

const MESSAGE: usize = 64 << 10;

/// How many bytes the server has got rid of, when it gets rid of no more.
async fn sent(gates: &[Gate]) -> i64 {
    let count = || gates.iter().filter(|gate| is_ready(gate.reached())).count();
    let mut before = 0;
    loop {
        settle().await;
        let now = count();
        if now == before {
            return (now * MESSAGE) as i64;
        }
        before = now;
    }
}

#[test]
fn a_reader_that_waits_holds_back_the_server() {
    const MESSAGES: usize = 512;
    let _alone = alone();
    let gates = gates(MESSAGES);
    let servers = gates.clone();
    let server = ServerThread::start(move |fake| fake.on_query(SQL, watched(&servers, true)));
    run(async {
        let client = client(&server, RetrySettings::default()).await;
        settle().await;
        let before = held();
        take_peak();
        let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
        let mut read = 0;
        for stop in [0, 1, 100, 101, 300] {
            while read < stop {
                assert_eq!(rows.next().await.unwrap().unwrap().0, read);
                read += 1;
            }
            let sent = sent(&gates).await - read * MESSAGE as i64;
            let more = held() - before;
            println!("{read} messages read: {sent} B sent ahead, {more} B held");
            // What the server's HTTP/2 library takes in advance is on its side.
            assert!(sent >= WINDOW - MIB, "{sent} B: not as much as may be");
            assert!(sent <= WINDOW + MIB, "{sent} B sent ahead");
            assert!(more <= WINDOW + SLACK, "{more} B held");
        }
        while let Some((n, text)) = rows.next().await.unwrap() {
            assert_eq!((n, text.len()), (read, MESSAGE));
            read += 1;
        }
        assert_eq!(read, MESSAGES as i64);
        let peak = take_peak() - before;
        assert!(peak <= WINDOW + SLACK, "{peak} B at most");
    });
}

#[test]
fn the_hold_limit_bounds_what_waits_for_a_token() {
    const MESSAGES: usize = 512;
    const LIMIT: i64 = MIB;
    let _alone = alone();
    let server = ServerThread::start(|fake| fake.on_query(SQL, watched(&gates(MESSAGES), false)));
    run(async {
        let settings = RetrySettings::default().hold_bytes(LIMIT as usize);
        for (limit, settings) in [(Some(LIMIT), settings), (None, RetrySettings::default())] {
            let client = client(&server, settings).await;
            settle().await;
            let before = held();
            take_peak();
            let mut rows = client.query(SQL).rows::<(i64, &str)>().await.unwrap();
            let mut read = 0;
            while let Some((n, _)) = rows.next().await.unwrap() {
                assert_eq!(n, read);
                read += 1;
            }
            assert_eq!(read, MESSAGES as i64);
            let peak = take_peak() - before;
            println!("limit {limit:?}: {peak} B at most");
            match limit {
                Some(limit) => assert!(peak <= WINDOW + limit + SLACK, "{peak} B at most"),
                // All of it, in the default of 128 MiB: so the limit is what bounds it.
                None => assert!(peak >= (MESSAGES * MESSAGE) as i64, "{peak} B at most"),
            }
        }
    });
}

/// A thousand streams, each with messages that nobody has read.
#[test]
fn unread_streams_leave_nothing() {
    const AT_ONCE: usize = 50;
    let _alone = alone();
    let server = ServerThread::start(|fake| fake.on_query(SQL, watched(&gates(8), true)));
    run(async {
        let client = client(&server, RetrySettings::default()).await;
        let mut before = None;
        for round in 0..1000 / AT_ONCE {
            let mut streams = Vec::new();
            for _ in 0..AT_ONCE {
                streams.push(client.query(SQL).rows::<(i64, &str)>().await.unwrap());
            }
            settle().await;
            let all = held();
            drop(streams);
            settle().await;
            // The first round made the connection's tables as large as they get.
            let before = *before.get_or_insert_with(held);
            let more = held() - before;
            println!("round {round}: {all} B with {AT_ONCE} streams, {more} B more behind");
            assert!(
                all - before > (AT_ONCE * 4 * MESSAGE) as i64,
                "nothing was unread"
            );
            assert!(more < SLACK, "{more} B more after round {round}");
        }
        assert!(
            before.unwrap() < 2 * MIB,
            "{before:?} B behind the first round"
        );
    });
}
