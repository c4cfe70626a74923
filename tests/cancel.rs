//! Futures of a stream that are dropped before they are ready: whenever that
//! happens, every row comes once and in order.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_core::Stream;
use spanner_rows::testing::{Answer, Failure, FakeSpanner, Gate, Message, Rows, Step};
use spanner_rows::{Client, Code, Error, RetrySettings, RowStream, SpannerRow, TypeCode};

const SQL: &str = "SELECT n, text, list FROM Numbered";
const ROWS: i64 = 40;

#[derive(Debug, SpannerRow)]
struct Numbered<'row> {
    n: i64,
    text: &'row str,
    list: Vec<&'row str>,
}

#[derive(Clone, Debug, PartialEq, SpannerRow)]
struct NumberedOwned {
    n: i64,
    text: String,
    list: Vec<String>,
}

fn row(n: i64) -> NumberedOwned {
    NumberedOwned {
        n,
        text: format!("row {n} {}", "żółć ".repeat((n % 7) as usize)),
        list: (0..n % 4).map(|i| format!("{n}/{i}")).collect(),
    }
}

fn rows(count: i64) -> Rows {
    let rows = (0..count).map(row).map(|row| (row.n, row.text, row.list));
    Rows::new(["n", "text", "list"], rows)
}

/// Messages that end within values and rows, every other with a token, and
/// breaks of all kinds: before a token, behind it, twice at the same place.
fn broken(rows: Rows) -> Rows {
    let half_a_message = [0, 0, 0, 0, 9, 1, 2].as_slice();
    let unavailable = || Step::Fail(Failure::unavailable("later"));
    rows.message_sizes([23, 5, 40])
        .token_every(2)
        .interrupt_every(4, Step::Delay(Duration::from_millis(2)))
        .interrupt(1, 3, Step::Reset(2))
        .interrupt(2, 2, unavailable())
        .interrupt(3, 5, Step::Disconnect)
        .interrupt(4, 8, Step::EndWithoutStatus)
        .interrupt(5, 13, Step::Unframed(half_a_message.to_vec().into()))
        .interrupt(5, 13, Step::Disconnect)
        .interrupt(6, 12, unavailable())
        .interrupt(7, 21, Step::Reset(7))
}

const BREAKS: usize = 7;

/// A server that breaks, and whose calls take their time to begin.
async fn broken_server(rows: Rows) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, broken(rows));
    for _ in 0..=BREAKS {
        let delay = Step::Delay(Duration::from_millis(3));
        fake.before_next("ExecuteStreamingSql", [delay]);
    }
    let client = client(&fake).await;
    (fake, client)
}

async fn client(fake: &FakeSpanner) -> Client {
    let settings = RetrySettings::default().initial_delay(Duration::from_millis(10));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    client.retry(settings).connect().await.unwrap()
}

/// Polls a future once, with a waker that wakes nobody, and drops it.
fn poll_and_drop<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Makes sure that calls were broken and taken up again.
fn assert_broken(fake: &FakeSpanner) {
    let requests = fake.requests();
    let calls = requests.iter().filter(|request| request.sql() == SQL);
    assert_eq!(calls.count(), BREAKS + 1, "calls");
}

/// Lets the connection work, and a test that would wait for ever fail.
struct Patience(Instant, u64);

impl Patience {
    fn new() -> Self {
        Self(Instant::now(), 0)
    }

    async fn wait(&mut self) {
        self.1 += 1;
        assert!(
            self.0.elapsed() < Duration::from_secs(60),
            "it takes too long"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn next_dropped_at_every_poll() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<Numbered>().await.unwrap();
    let mut patience = Patience::new();
    let mut n = 0;
    loop {
        match poll_and_drop(rows.next()) {
            Poll::Ready(result) => {
                let Some(found) = result.unwrap() else { break };
                let expected = row(n);
                assert_eq!((found.n, found.text), (n, expected.text.as_str()));
                assert_eq!(found.list, expected.list);
                n += 1;
            }
            Poll::Pending => patience.wait().await,
        }
    }
    assert_eq!(n, ROWS);
    assert!(patience.1 > 50, "only {} futures were dropped", patience.1);
    assert_broken(&fake);
}

#[tokio::test]
async fn next_batch_dropped_at_every_poll() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
    let mut patience = Patience::new();
    let mut seen = Vec::new();
    loop {
        match poll_and_drop(rows.next_batch()) {
            Poll::Ready(result) => {
                let Some(batch) = result.unwrap() else { break };
                assert!(!batch.is_empty());
                seen.extend(batch.iter().map(Result::unwrap));
            }
            Poll::Pending => patience.wait().await,
        }
    }
    assert!(seen.into_iter().eq((0..ROWS).map(row)));
    assert_broken(&fake);
}

#[tokio::test]
async fn extend_dropped_at_every_poll() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
    let mut patience = Patience::new();
    let mut seen = Vec::new();
    while poll_and_drop(rows.extend(&mut seen))
        .map(Result::unwrap)
        .is_pending()
    {
        patience.wait().await;
    }
    assert!(seen.into_iter().eq((0..ROWS).map(row)));
    assert_broken(&fake);
}

#[tokio::test]
async fn for_each_dropped_at_every_poll() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<Numbered>().await.unwrap();
    let mut patience = Patience::new();
    let mut seen = Vec::new();
    while poll_and_drop(rows.for_each(|row| seen.push(row.n)))
        .map(Result::unwrap)
        .is_pending()
    {
        patience.wait().await;
    }
    assert!(seen.into_iter().eq(0..ROWS));
    assert_broken(&fake);
}

#[tokio::test]
async fn ways_mixed_and_dropped_at_every_poll() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
    let mut patience = Patience::new();
    let mut seen = Vec::new();
    // Ten turns of each way, finished or not.
    for turn in 0_u64.. {
        let pending = match turn / 10 % 3 {
            0 => match poll_and_drop(rows.next()) {
                Poll::Ready(row) => match row.unwrap() {
                    Some(row) => {
                        seen.push(row.clone());
                        false
                    }
                    None => break,
                },
                Poll::Pending => true,
            },
            1 => match poll_and_drop(rows.next_batch()) {
                Poll::Ready(batch) => match batch.unwrap() {
                    Some(batch) => {
                        seen.extend(batch.iter().map(Result::unwrap));
                        false
                    }
                    None => break,
                },
                Poll::Pending => true,
            },
            // Waits for a second row and takes none, as long as there is one.
            _ => match poll_and_drop(rows.optional()) {
                Poll::Ready(Ok(last)) => {
                    seen.extend(last);
                    break;
                }
                Poll::Ready(Err(_)) => false,
                Poll::Pending => true,
            },
        };
        if pending {
            patience.wait().await;
        }
    }
    assert!(seen.into_iter().eq((0..ROWS).map(row)));
    assert_broken(&fake);
}

#[tokio::test]
async fn one_dropped_at_every_poll() {
    let only = (
        7_i64,
        "żółć 🎷 ".repeat(40),
        vec!["a".repeat(50), "b".repeat(80)],
    );
    let rows = || Rows::new(["n", "text", "list"], [only.clone()]);

    let (fake, client) = broken_server(rows()).await;
    let mut stream = client
        .query(SQL)
        .rows::<(i64, String, Vec<String>)>()
        .await
        .unwrap();
    let found = until_ready(&mut stream, |stream| poll_and_drop(stream.one())).await;
    assert_eq!(found.unwrap(), only);
    assert!(stream.next().await.unwrap().is_none());
    assert_broken(&fake);

    let (fake, client) = broken_server(rows()).await;
    let mut stream = client
        .query(SQL)
        .rows::<(i64, &str, Vec<&str>)>()
        .await
        .unwrap();
    let found = until_ready(&mut stream, |stream| poll_and_drop(stream.one_batch())).await;
    let batch = found.unwrap();
    assert_eq!(batch.len(), 1);
    let (n, text, list) = batch.row(0).unwrap();
    assert_eq!((n, text), (only.0, only.1.as_str()));
    assert_eq!(list, only.2);
    assert_broken(&fake);
}

async fn until_ready<S, T>(stream: &mut S, poll: impl Fn(&mut S) -> Poll<T>) -> T {
    let mut patience = Patience::new();
    loop {
        match poll(stream) {
            Poll::Ready(value) => return value,
            Poll::Pending => patience.wait().await,
        }
    }
}

#[tokio::test]
async fn stream_polled_in_any_way() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let rows = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
    let mut stream = rows.into_stream();
    let mut patience = Patience::new();
    let mut seen = Vec::new();
    loop {
        let polled = Pin::new(&mut stream).poll_next(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Ready(Some(row)) => seen.push(row.unwrap()),
            Poll::Ready(None) => break,
            Poll::Pending => patience.wait().await,
        }
    }
    assert!(seen.into_iter().eq((0..ROWS).map(row)));
    assert_broken(&fake);
}

#[tokio::test]
async fn select_loop_with_timeouts() {
    let (fake, client) = broken_server(rows(ROWS)).await;
    let mut rows = client.query(SQL).rows::<Numbered>().await.unwrap();
    let (mut n, mut ticks) = (0, 0);
    loop {
        tokio::select! {
            biased;
            () = tokio::time::sleep(Duration::from_micros(500)) => {
                ticks += 1;
                assert!(ticks < 20_000, "no row comes any more");
            }
            row = rows.next() => match row.unwrap() {
                Some(row) => {
                    assert_eq!(row.n, n);
                    n += 1;
                }
                None => break,
            },
        }
    }
    assert_eq!(n, ROWS);
    assert!(ticks > 5, "only {ticks} ticks");
    assert_broken(&fake);
}

/// The back-off goes on from where it was, however often it is looked at.
#[tokio::test]
async fn back_off_is_not_begun_anew() {
    let fake = FakeSpanner::start().await;
    let delay = Duration::from_millis(200);
    let busy = Failure::unavailable("later").retry_after(delay);
    fake.on_query(
        SQL,
        rows(ROWS)
            .message_size(300)
            .interrupt(1, 2, Step::Fail(busy)),
    );
    let client = client(&fake).await;
    let mut rows = client.query(SQL).rows::<Numbered>().await.unwrap();
    let start = Instant::now();
    let mut n = 0;
    let mut timeouts = 0;
    loop {
        match tokio::time::timeout(Duration::from_millis(20), rows.next()).await {
            Ok(row) => match row.unwrap() {
                Some(row) => {
                    assert_eq!(row.n, n);
                    n += 1;
                }
                None => break,
            },
            Err(_) => timeouts += 1,
        }
        assert!(timeouts < 200, "the back-off never ends");
    }
    assert_eq!(n, ROWS);
    assert!(timeouts >= 5, "{timeouts} timeouts");
    assert!(start.elapsed() >= delay && start.elapsed() < delay * 10);
}

#[tokio::test]
async fn one_future_per_row_error() {
    let fake = FakeSpanner::start().await;
    let values = [Some("a"), None, None, Some("b"), None];
    let rows = Rows::new(["text"], values.map(|text| (text,)));
    fake.on_query(SQL, rows.message_size(8));
    let client = client(&fake).await;
    let mut rows = client.query(SQL).rows::<(String,)>().await.unwrap();
    let mut seen = Vec::new();
    let mut patience = Patience::new();
    loop {
        match poll_and_drop(rows.next()) {
            Poll::Ready(Ok(Some(row))) => seen.push(Some(row.0.clone())),
            Poll::Ready(Ok(None)) => break,
            Poll::Ready(Err(error)) => {
                assert!(error.is_row_error(), "{error}");
                let text = format!("row {}, column 0", seen.len());
                assert!(error.to_string().contains(&text), "{error}");
                seen.push(None);
            }
            Poll::Pending => patience.wait().await,
        }
    }
    assert_eq!(seen, values.map(|text| text.map(str::to_owned)));
}

/// Reads to the end; then again, which must find nothing.
async fn ended(rows: &mut RowStream<NumberedOwned>) -> (Vec<i64>, Option<Error>) {
    let mut seen = Vec::new();
    let error = loop {
        match rows.next().await {
            Ok(Some(row)) => seen.push(row.n),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    for _ in 0..3 {
        assert!(rows.next().await.unwrap().is_none());
        assert!(rows.next_batch().await.unwrap().is_none());
        assert!(rows.optional().await.unwrap().is_none());
        rows.for_each(|row| panic!("{row:?} behind the end"))
            .await
            .unwrap();
        assert_eq!(rows.try_collect::<Vec<_>>().await.unwrap(), []);
    }
    (seen, error)
}

#[tokio::test]
async fn the_end_stays_the_end() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    fake.on_query(SQL, rows(3));
    let mut stream = client.query(SQL).rows().await.unwrap();
    let (seen, error) = ended(&mut stream).await;
    assert_eq!(seen, [0, 1, 2]);
    assert!(error.is_none());

    // A final error: rows that a token covers come, those held do not.
    let denied = Step::Fail(Failure::permission_denied("no more"));
    let answer = rows(30)
        .cut(spanner_rows::testing::Cut::BetweenRows)
        .message_size(1);
    fake.on_query(SQL, answer.token_every(2).interrupt(1, 5, denied));
    let mut stream = client.query(SQL).rows().await.unwrap();
    let (seen, error) = ended(&mut stream).await;
    assert_eq!(seen, [0, 1, 2, 3]);
    assert_eq!(error.unwrap().code(), Code::PermissionDenied);
    let mut stream = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
    assert!(stream.next().await.unwrap().is_some());
}

/// One row; then the call waits at the first gate, and goes on to the second if
/// it is still under way when the first is opened.
fn watched_call(message: Message) -> (Answer, [Gate; 2]) {
    let gates = [Gate::new(), Gate::new()];
    let message = message.columns([("n", TypeCode::Int64)]).value(7_i64);
    let script = [
        Step::Message(message),
        Step::Wait(gates[0].clone()),
        Step::Wait(gates[1].clone()),
    ];
    (Answer::script(script), gates)
}

async fn is_under_way([first, second]: [Gate; 2]) -> bool {
    first.reached().await;
    first.open();
    let second = tokio::time::timeout(Duration::from_millis(300), second.reached());
    second.await.is_ok()
}

/// The server says which message is the last: the rows do not wait for the
/// trailers, but the call is not broken off either.
#[tokio::test]
async fn last_ends_at_once() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    let (answer, gates) = watched_call(Message::new().last());
    fake.on_query(SQL, answer);
    let start = Instant::now();
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((7,)));
    assert_eq!(rows.next().await.unwrap(), None);
    assert!(rows.stats().is_none());
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    drop(rows);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(is_under_way(gates).await);
    assert_eq!(client.query(SQL).one::<(i64,)>().await.unwrap(), (7,));
}

#[tokio::test]
async fn dropping_a_stream_cancels_its_call() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    for kept in [false, true] {
        let (answer, gates) = watched_call(Message::new().resume_token("t"));
        fake.on_query(SQL, answer);
        let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
        assert_eq!(rows.next().await.unwrap(), Some((7,)));
        let rows = Some(rows).filter(|_| kept);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(is_under_way(gates).await, kept);
        drop(rows);
    }
}

/// More calls than a connection may have at a time: a stream that is dropped
/// gives its place back.
#[tokio::test]
async fn dropped_streams_do_not_use_the_connection_up() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(7_i64);
    let message = message.resume_token("t");
    fake.on_query(SQL, Answer::script([Step::Message(message), Step::Hang]));
    let many = async {
        for i in 0..300 {
            let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
            if i % 2 == 0 {
                assert_eq!(rows.next().await.unwrap(), Some((7,)));
            }
        }
    };
    let many = tokio::time::timeout(Duration::from_secs(30), many);
    many.await.expect("calls that end");
}

/// A stream may outlive its runtime; dropped outside of one it does not panic.
#[test]
fn dropped_outside_of_a_runtime() {
    let half = |mark_last| rows(ROWS).message_size(200).mark_last(mark_last);
    for (answer, taken) in [
        (half(false), 0),
        (half(false), 3),
        (half(true), ROWS),
        (
            half(false).interrupt(1, 2, Step::Fail(Failure::unavailable("later"))),
            6,
        ),
        (half(false).interrupt(1, 2, Step::Hang), 2),
    ] {
        for runtime_first in [false, true] {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let (rows, fake) = runtime.block_on(async {
                let fake = FakeSpanner::start().await;
                fake.on_query(SQL, answer.clone());
                let client = client(&fake).await;
                let mut rows = client.query(SQL).rows::<NumberedOwned>().await.unwrap();
                for n in 0..taken {
                    assert_eq!(*rows.next().await.unwrap().unwrap(), row(n));
                }
                // Whatever it is waiting for then.
                let _ = poll_and_drop(rows.next()).is_pending();
                (rows, fake)
            });
            if runtime_first {
                drop(runtime);
                drop(rows);
            } else {
                drop(rows);
                drop(runtime);
            }
            drop(fake);
        }
    }
}
