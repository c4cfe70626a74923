//! Results that break, over a real connection: every row exactly once, or an error.

use std::time::Duration;

use spanner_rows::testing::{Answer, Cut, Failure, FakeSpanner, Message, Request, Rows, Step};
use spanner_rows::{Client, Code, ErrorKind, RetrySettings, RowStream, SpannerRow, TypeCode};

const SQL: &str = "SELECT n, text, list FROM Numbered";

#[derive(Clone, Debug, PartialEq, SpannerRow)]
struct Numbered {
    n: i64,
    text: String,
    list: Vec<Option<String>>,
}

fn row(n: i64) -> Numbered {
    let list = (0..n % 4).map(|i| (i != 1).then(|| format!("{n}/{i}")));
    Numbered {
        n,
        text: "ż".repeat((n * 5 % 13) as usize),
        list: list.collect(),
    }
}

fn rows(count: i64) -> Rows {
    let rows = (0..count).map(row).map(|row| (row.n, row.text, row.list));
    Rows::new(["n", "text", "list"], rows)
}

fn quickly() -> RetrySettings {
    RetrySettings::default().initial_delay(Duration::from_millis(1))
}

async fn server(settings: RetrySettings) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.retry(settings).connect().await.unwrap();
    (fake, client)
}

/// The requests for the result since the last time.
fn calls(fake: &FakeSpanner) -> Vec<Request> {
    let requests = fake.take_requests().into_iter();
    requests.filter(|request| request.sql() == SQL).collect()
}

/// All rows, and the error that ended them.
async fn read(client: &Client) -> (Vec<Numbered>, Option<spanner_rows::Error>) {
    let mut seen = Vec::new();
    let mut stream = match client.query(SQL).rows::<Numbered>().await {
        Ok(stream) => stream,
        Err(error) => return (seen, Some(error)),
    };
    let error = stream.extend(&mut seen).await.err();
    assert!(stream.next().await.unwrap().is_none());
    (seen, error)
}

fn kinds_of_breaks() -> Vec<(&'static str, Vec<Step>)> {
    let fail = |failure| vec![Step::Fail(failure)];
    let internal = |text: &str| vec![Step::Fail(Failure::internal(text))];
    let half_a_message = vec![0, 0, 0, 0, 200, 0x12, 5, 0x1a];
    vec![
        ("RST_STREAM NO_ERROR", vec![Step::Reset(0)]),
        ("RST_STREAM INTERNAL_ERROR", vec![Step::Reset(2)]),
        ("RST_STREAM REFUSED_STREAM", vec![Step::Reset(7)]),
        ("RST_STREAM CANCEL", vec![Step::Reset(8)]),
        ("closed connection", vec![Step::Disconnect]),
        ("GOAWAY, then closed", vec![Step::GoAway, Step::Disconnect]),
        ("no status", vec![Step::EndWithoutStatus]),
        (
            "half a message",
            vec![Step::Unframed(half_a_message.into()), Step::Disconnect],
        ),
        ("UNAVAILABLE", fail(Failure::unavailable("later"))),
        (
            "RESOURCE_EXHAUSTED with a delay",
            fail(Failure::resource_exhausted("busy").retry_after(Duration::from_millis(1))),
        ),
        (
            "the same in a trailer",
            fail(Failure::resource_exhausted("busy").retry_after_trailer(Duration::from_millis(1))),
        ),
        (
            "INTERNAL: RST_STREAM",
            internal("stream terminated by RST_STREAM"),
        ),
        ("INTERNAL: Rst Stream", internal("Received Rst Stream")),
        (
            "INTERNAL: EOS",
            internal("Received unexpected EOS on DATA frame from server"),
        ),
        (
            "INTERNAL: HTTP/2",
            internal("HTTP/2 error code: INTERNAL_ERROR"),
        ),
        (
            "INTERNAL: closed",
            internal("Connection closed with unknown cause"),
        ),
    ]
}

const ROWS: i64 = 6;

/// Breaks after message `after` in the first call, one message later in the
/// second, for as long as there are messages.
async fn break_everywhere(tokens: usize, last: bool) {
    let (fake, client) = server(quickly()).await;
    let expected: Vec<_> = (0..ROWS).map(row).collect();
    for (kind, steps) in kinds_of_breaks() {
        for after in 0.. {
            let mut answer = rows(ROWS)
                .message_sizes([9, 30, 4, 17])
                .token_every(tokens)
                .mark_last(last)
                .metadata_on_resume(after % 2 == 0);
            for call in [1, 2] {
                for step in steps.clone() {
                    answer = answer.interrupt(call, after + call - 1, step);
                }
            }
            fake.on_query(SQL, answer);
            let (seen, error) = read(&client).await;
            let what = format!("{kind} after {after} messages, tokens every {tokens}");
            assert!(error.is_none(), "{what}: {error:?}");
            assert_eq!(seen, expected, "{what}");
            let calls = calls(&fake);
            if let [only] = calls.as_slice() {
                // The break is behind the end.
                assert!(only.resume_token().is_empty());
                assert!(after > 10, "{what}: no break");
                break;
            }
            check_attempts(&calls);
        }
    }
}

/// The same request again: all equal but for the token and the attempt.
fn check_attempts(calls: &[Request]) {
    let id = |call: &Request| {
        let id = call.header("x-goog-spanner-request-id").unwrap();
        let (request, attempt) = id.rsplit_once('.').unwrap();
        (request.to_owned(), attempt.parse::<usize>().unwrap())
    };
    for (i, call) in calls.iter().enumerate() {
        assert_eq!(id(call), (id(&calls[0]).0, i + 1));
        assert_eq!(call.session(), calls[0].session());
    }
}

#[tokio::test]
async fn breaks_everywhere_tokens_in_every_message() {
    break_everywhere(1, false).await;
}

#[tokio::test]
async fn breaks_everywhere_tokens_in_every_third_message() {
    break_everywhere(3, true).await;
}

#[tokio::test]
async fn breaks_everywhere_no_tokens() {
    break_everywhere(usize::MAX, false).await;
}

/// GOAWAY alone lets calls under way go on; new ones go to another connection.
#[tokio::test]
async fn goaway_disturbs_nobody() {
    let (fake, client) = server(quickly()).await;
    fake.on_query(
        SQL,
        rows(ROWS).message_size(20).interrupt_every(3, Step::GoAway),
    );
    for _ in 0..5 {
        let (seen, error) = read(&client).await;
        assert!(error.is_none(), "{error:?}");
        assert!(seen.into_iter().eq((0..ROWS).map(row)));
        assert_eq!(calls(&fake).len(), 1);
    }
}

/// The call cannot be opened, several times, at the start and in the middle.
#[tokio::test]
async fn calls_that_cannot_be_opened() {
    let (fake, client) = server(quickly()).await;
    fake.on_query(
        SQL,
        rows(ROWS)
            .message_size(20)
            .interrupt(1, 4, Step::Disconnect),
    );
    let unavailable = || Step::Fail(Failure::unavailable("starting"));
    for step in [unavailable(), Step::Disconnect, Step::Reset(7)] {
        fake.before_next("ExecuteStreamingSql", [step]);
    }
    let (seen, error) = read(&client).await;
    assert!(error.is_none(), "{error:?}");
    assert!(seen.into_iter().eq((0..ROWS).map(row)));
    check_attempts(&calls(&fake));
}

#[tokio::test]
async fn what_is_not_worth_another_attempt() {
    let (fake, client) = server(quickly()).await;
    for (code, text) in [
        (Code::Cancelled, "x"),
        (Code::Unknown, "x"),
        (Code::InvalidArgument, "x"),
        (Code::DeadlineExceeded, "x"),
        (Code::NotFound, "x"),
        (Code::AlreadyExists, "x"),
        (Code::PermissionDenied, "x"),
        (Code::ResourceExhausted, "no delay"),
        (Code::FailedPrecondition, "x"),
        (Code::Aborted, "x"),
        (Code::OutOfRange, "x"),
        (Code::Unimplemented, "x"),
        (Code::Internal, "a bug"),
        (Code::DataLoss, "x"),
        (Code::Unauthenticated, "x"),
    ] {
        // At the start, and with rows delivered and others held.
        for (after, delivered) in [(0, 0), (5, 4)] {
            let answer = rows(ROWS)
                .cut(Cut::BetweenRows)
                .message_size(1)
                .token_every(2);
            fake.on_query(
                SQL,
                answer.interrupt(1, after, Step::Fail(Failure::new(code, text))),
            );
            let (seen, error) = read(&client).await;
            let error = error.expect("a failure");
            assert!(seen.into_iter().eq((0..delivered).map(row)), "{error}");
            let ErrorKind::Status { status, attempts } = error.kind() else {
                panic!("{error:?}");
            };
            assert_eq!((status.code(), status.message()), (code, text));
            assert_eq!(*attempts, 1);
            assert_eq!(calls(&fake).len(), 1, "{error}");
        }
    }
}

/// Each break after progress has the full budget.
#[tokio::test]
async fn progress_renews_the_budget() {
    let (fake, client) = server(quickly().max_attempts(2)).await;
    let mut answer = rows(20).cut(Cut::BetweenRows).message_size(1);
    for call in 1..=15 {
        answer = answer.interrupt(call, call, Step::Fail(Failure::unavailable("later")));
    }
    fake.on_query(SQL, answer);
    let (seen, error) = read(&client).await;
    assert!(error.is_none(), "{error:?}");
    assert!(seen.into_iter().eq((0..20).map(row)));
    let calls = calls(&fake);
    assert_eq!(calls.len(), 16);
    check_attempts(&calls);

    // Breaks without progress use it up.
    let answer = rows(20).cut(Cut::BetweenRows).message_size(1);
    fake.on_query(
        SQL,
        answer.interrupt_every(3, Step::Fail(Failure::unavailable("down"))),
    );
    let (seen, error) = read(&client).await;
    assert!(seen.into_iter().eq((0..3).map(row)));
    let error = error.unwrap();
    assert_eq!(error.code(), Code::Unavailable);
    assert!(error.to_string().contains("down"), "{error}");
    assert!(error.to_string().contains("attempts"), "{error}");

    let (fake, client) = server(RetrySettings::never()).await;
    fake.on_query(
        SQL,
        rows(3).interrupt(1, 0, Step::Fail(Failure::unavailable("down"))),
    );
    let (seen, error) = read(&client).await;
    assert!(seen.is_empty());
    assert_eq!(error.unwrap().code(), Code::Unavailable);
}

/// Beyond the hold limit rows are delivered, and a break is final until the next token.
#[tokio::test]
async fn hold_limit() {
    let answer = || rows(12).cut(Cut::BetweenRows).message_size(1);
    let unavailable = || Step::Fail(Failure::unavailable("later"));
    let by_bytes = quickly().hold_bytes(1_500);
    for settings in [quickly().hold_messages(2), by_bytes] {
        let (fake, client) = server(settings).await;
        // Without any token: all that was received comes, then the error.
        fake.on_query(
            SQL,
            answer()
                .token_every(usize::MAX)
                .interrupt(1, 9, unavailable()),
        );
        let (seen, error) = read(&client).await;
        assert!(seen.into_iter().eq((0..9).map(row)));
        assert_eq!(error.unwrap().code(), Code::Unavailable);
        assert_eq!(calls(&fake).len(), 1);
        // A break within the limit is repaired.
        fake.on_query(
            SQL,
            answer()
                .token_every(usize::MAX)
                .interrupt(1, 1, unavailable()),
        );
        let (seen, error) = read(&client).await;
        assert!(error.is_none(), "{error:?}");
        assert!(seen.into_iter().eq((0..12).map(row)));
        assert_eq!(calls(&fake).len(), 2);
        // A token makes it safe again.
        fake.on_query(SQL, answer().tokens_in([8]).interrupt(1, 10, unavailable()));
        let (seen, error) = read(&client).await;
        assert!(error.is_none(), "{error:?}");
        assert!(seen.into_iter().eq((0..12).map(row)));
        let tokens = calls(&fake);
        let tokens: Vec<_> = tokens
            .iter()
            .map(|call| call.resume_token().is_empty())
            .collect();
        assert_eq!(tokens, [true, false]);
    }
}

fn message() -> Message {
    Message::new()
}

/// A table that changes between two attempts, of which the first delivered nothing.
#[tokio::test]
async fn columns_that_change_before_the_first_row() {
    let (fake, client) = server(quickly()).await;
    let first = message()
        .columns([("n", TypeCode::Int64), ("text", TypeCode::String)])
        .value(1_i64)
        .value("first");
    let broken = || {
        vec![
            Step::Message(first.clone()),
            Step::Fail(Failure::unavailable("later")),
        ]
    };
    #[derive(Debug, PartialEq, SpannerRow)]
    struct Two<'row> {
        n: i64,
        text: &'row str,
    }
    let swapped = message()
        .columns([
            ("text", TypeCode::String),
            ("new", TypeCode::Bool),
            ("n", TypeCode::Int64),
        ])
        .value("second")
        .value(true)
        .value(2_i64);
    fake.on_query(
        SQL,
        Answer::scripts([broken(), vec![Step::Message(swapped)]]),
    );
    let mut rows = client.query(SQL).rows::<Two>().await.unwrap();
    assert_eq!(rows.row_type().len(), 2);
    assert_eq!(
        rows.next().await.unwrap(),
        Some(Two {
            n: 2,
            text: "second"
        })
    );
    assert_eq!(rows.row_type().len(), 3);
    assert_eq!(rows.metadata().unwrap().row_type().len(), 3);
    assert_eq!(rows.next().await.unwrap(), None);

    let other = message().columns([("n", TypeCode::String)]).value("x");
    fake.on_query(SQL, Answer::scripts([broken(), vec![Step::Message(other)]]));
    let mut rows = client.query(SQL).rows::<Two>().await.unwrap();
    let error = rows.next().await.unwrap_err();
    let ErrorKind::Bind(bind) = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(bind.problems().len(), 2, "{error}");
    assert!(rows.next().await.unwrap().is_none());
}

/// Once rows are out, other columns are an error, not other rows.
#[tokio::test]
async fn columns_that_change_in_the_middle() {
    let (fake, client) = server(quickly()).await;
    let first = message()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64)
        .resume_token("a");
    let broken = vec![
        Step::Message(first),
        Step::Fail(Failure::unavailable("later")),
    ];
    let other = message().columns([("n", TypeCode::Int64), ("m", TypeCode::Int64)]);
    let other = other.value(2_i64).value(3_i64);
    fake.on_query(SQL, Answer::scripts([broken, vec![Step::Message(other)]]));
    let mut rows: RowStream<(i64,)> = client.query(SQL).rows().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((1,)));
    let error = rows.next().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Protocol(_)), "{error:?}");
    assert!(rows.next().await.unwrap().is_none());
}

/// Statistics are those of the attempt that came to the end.
#[tokio::test]
async fn stats_of_the_last_attempt() {
    let (fake, client) = server(quickly()).await;
    let stats = |n: &str| message().query_stats([("rows_returned", n)]);
    let first = stats("99").columns([("n", TypeCode::Int64)]).value(1_i64);
    let broken = vec![
        Step::Message(first),
        Step::Fail(Failure::unavailable("later")),
    ];
    let whole = message().columns([("n", TypeCode::Int64)]).value(2_i64);
    let end = vec![Step::Message(whole), Step::Message(stats("1"))];
    fake.on_query(SQL, Answer::scripts([broken, end]));
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((2,)));
    assert_eq!(rows.next().await.unwrap(), None);
    let stats = rows.stats().expect("statistics");
    assert_eq!(
        stats.query_stat("rows_returned").unwrap().to_string(),
        "\"1\""
    );
}

/// Silence beyond the idle limit is an error, not a wait for ever.
#[tokio::test]
async fn idle_limit() {
    let (fake, client) = server(quickly().idle_limit(Duration::from_millis(100))).await;
    let answer = rows(ROWS).cut(Cut::BetweenRows).message_size(1);
    fake.on_query(SQL, answer.interrupt(1, 2, Step::Hang));
    let (seen, error) = read(&client).await;
    assert!(seen.into_iter().eq((0..2).map(row)));
    assert_eq!(error.unwrap().code(), Code::DeadlineExceeded);
}
