//! Read-only transactions: what is sent, who begins, and what happens when that fails, is
//! dropped, or loses its session.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use spanner_rows::testing::{
    Answer, Failure, FakeSpanner, Gate, Message, Request, RequestTransaction, Rows, Step,
};
use spanner_rows::{
    Client, Code, ErrorKind, ReadOnlyTransaction, RowStream, Timestamp, TimestampBound, TypeCode,
};

const FIRST: &str = "SELECT first FROM Numbers";
const SECOND: &str = "SELECT second FROM Numbers";
const BAD: &str = "SELECT nonsense";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    for sql in [FIRST, SECOND] {
        fake.on_query(sql, numbers());
    }
    fake.on_query(BAD, Failure::invalid_argument("no such thing"));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client)
}

fn numbers() -> Rows {
    Rows::new(["n"], [(1_i64,), (2,)])
}

fn first_message() -> Message {
    Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64)
        .transaction_id("t 1")
        .read_timestamp(time(7))
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::new(seconds, 3).unwrap()
}

fn start(client: &Client) -> ReadOnlyTransaction {
    client.read_only().start().unwrap()
}

async fn all(mut rows: RowStream<(i64,)>) -> Vec<i64> {
    let rows: Vec<_> = rows.try_collect().await.unwrap();
    rows.into_iter().map(|row| row.0).collect()
}

/// All of a query in the transaction, which must not take long.
async fn query(transaction: &ReadOnlyTransaction, sql: &str) -> Vec<i64> {
    let rows = transaction.query(sql).rows::<(i64,)>();
    let rows = tokio::time::timeout(Duration::from_secs(20), rows).await;
    all(rows.expect("nobody is waited for in vain").unwrap()).await
}

fn session(request: &Request) -> &str {
    request.session().rsplit('/').next().unwrap_or("")
}

/// The transactions that statements ran in: `begin`, or the id.
fn transactions(fake: &FakeSpanner) -> Vec<String> {
    let requests = fake.take_requests();
    let requests = requests.iter().filter(|it| it.method() != "CreateSession");
    requests
        .map(|request| match request.transaction() {
            RequestTransaction::Begin => "begin".to_owned(),
            RequestTransaction::Id(id) => String::from_utf8(id.to_vec()).unwrap(),
            other => format!("{} {other:?}", request.method()),
        })
        .collect()
}

/// Polls a future once, with a waker that wakes nobody.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn the_first_statement_begins_and_the_others_are_in_it() {
    let (fake, client) = server().await;
    fake.on_read("Numbers", numbers());
    let transaction = start(&client);
    assert_eq!(transaction.read_timestamp(), None);
    let rows = transaction.query(FIRST).rows::<(i64,)>().await.unwrap();
    let time = transaction.read_timestamp().expect("it has begun");
    assert_eq!(rows.read_timestamp(), Some(time), "before any row");
    assert_eq!(all(rows).await, [1, 2]);
    let rows = transaction.query(SECOND).rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.read_timestamp(), Some(time), "the server says it once");
    assert_eq!(all(rows).await, [1, 2]);
    let read = transaction.clone().read::<(i64,)>("Numbers").columns(["n"]);
    let rows = read.all().rows().await.unwrap();
    assert_eq!(rows.read_timestamp(), Some(time));
    assert_eq!(all(rows).await, [1, 2]);

    let requests = fake.requests();
    let [_, first, second, read] = &*requests else {
        panic!("{requests:?}")
    };
    assert_eq!(first.transaction(), RequestTransaction::Begin);
    assert_eq!(first.timestamp_bound(), Some(TimestampBound::Strong));
    let id = RequestTransaction::Id("fake-transaction-1".into());
    for request in [second, read] {
        assert_eq!(request.transaction(), id);
        assert_eq!(request.session(), first.session());
        assert_ne!(
            request.header("x-goog-spanner-request-id"),
            first.header("x-goog-spanner-request-id")
        );
    }
    for request in [first, second, read] {
        assert_eq!(request.header("x-goog-spanner-route-to-leader"), None);
        assert_eq!(
            request.header("google-cloud-resource-prefix"),
            Some(fake.database())
        );
        let params = format!("session={}", request.session().replace('/', "%2F"));
        assert_eq!(request.header("x-goog-request-params"), Some(&*params));
    }
    assert_eq!(read.method(), "StreamingRead");
}

#[tokio::test]
async fn the_bound_is_the_transactions() {
    let (fake, client) = server().await;
    for bound in [
        TimestampBound::Strong,
        TimestampBound::ReadTimestamp(time(5)),
        TimestampBound::ExactStaleness(Duration::new(10, 1)),
    ] {
        let builder = client.read_only().timestamp_bound(bound);
        query(&builder.clone().start().unwrap(), FIRST).await;
        builder.begin().await.unwrap();
        for request in fake.take_requests() {
            if request.method() != "CreateSession" {
                assert_eq!(request.timestamp_bound(), Some(bound));
            }
        }
    }
    let builder = client.read_only();
    let at = builder.timestamp_bound(TimestampBound::ReadTimestamp(time(5)));
    let transaction = at.begin().await.unwrap();
    assert_eq!(transaction.read_timestamp(), Some(time(5)));
}

#[tokio::test]
async fn bounds_that_a_transaction_cannot_have() {
    let (fake, client) = server().await;
    fake.take_requests();
    for (bound, why) in [
        (
            TimestampBound::MinReadTimestamp(time(5)),
            "only a single query or read",
        ),
        (
            TimestampBound::MaxStaleness(Duration::from_secs(1)),
            "only a single query or read",
        ),
        (
            TimestampBound::ExactStaleness(Duration::MAX),
            "10,000 years",
        ),
    ] {
        let builder = client.read_only().timestamp_bound(bound);
        for error in [
            builder.clone().start().unwrap_err(),
            builder.begin().await.unwrap_err(),
        ] {
            assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
    let transaction = start(&client);
    let query = transaction.query(FIRST);
    let query = query.timestamp_bound(TimestampBound::Strong);
    let read = transaction.read::<(i64,)>("Numbers").columns(["n"]).all();
    let read = read.timestamp_bound(TimestampBound::Strong);
    for error in [
        query.rows::<(i64,)>().await.unwrap_err(),
        read.rows().await.unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("give it to the transaction"),
            "{error}"
        );
    }
    assert_eq!(fake.requests().len(), 0);
}

#[tokio::test]
async fn a_transaction_that_is_begun_by_a_call_of_its_own() {
    let (fake, client) = server().await;
    let refused = Step::Fail(Failure::unavailable("later"));
    fake.before_next("BeginTransaction", [refused]);
    let transaction = client.read_only().begin().await.unwrap();
    assert!(transaction.read_timestamp().is_some());
    query(&transaction, FIRST).await;
    query(&transaction, SECOND).await;
    let requests = fake.requests();
    let [_, refused, begin, first, second] = &*requests else {
        panic!("{requests:?}")
    };
    let id = |request: &Request| {
        let id = request.header("x-goog-spanner-request-id").unwrap();
        let (id, attempt) = id.rsplit_once('.').unwrap();
        (id.to_owned(), attempt.to_owned())
    };
    assert_eq!(id(refused).0, id(begin).0);
    assert_eq!((&*id(refused).1, &*id(begin).1), ("1", "2"));
    for request in [refused, begin] {
        assert_eq!(request.method(), "BeginTransaction");
        assert_eq!(request.session(), first.session());
        assert_eq!(request.timestamp_bound(), Some(TimestampBound::Strong));
        assert_eq!(request.header("x-goog-spanner-route-to-leader"), None);
        let params = format!("session={}", request.session().replace('/', "%2F"));
        assert_eq!(request.header("x-goog-request-params"), Some(&*params));
    }
    for request in [first, second] {
        let id = RequestTransaction::Id("fake-transaction-1".into());
        assert_eq!(request.transaction(), id);
    }
}

#[tokio::test]
async fn a_call_that_begins_may_fail_for_good_or_find_its_session_gone() {
    let (fake, client) = server().await;
    let refused = Step::Fail(Failure::invalid_argument("no"));
    fake.before_next("BeginTransaction", [refused]);
    let error = client.read_only().begin().await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);

    fake.forget_sessions();
    fake.take_requests();
    let transaction = client.read_only().begin().await.unwrap();
    query(&transaction, FIRST).await;
    let requests = fake.requests();
    let methods: Vec<_> = requests.iter().map(Request::method).collect();
    assert_eq!(
        methods,
        [
            "BeginTransaction",
            "CreateSession",
            "BeginTransaction",
            "ExecuteStreamingSql"
        ]
    );
    assert_eq!(requests[2].session(), requests[3].session());
}

/// Streams side by side: one that nobody reads holds nobody up.
#[tokio::test]
async fn a_stream_that_nobody_reads() {
    let (fake, client) = server().await;
    let hangs = [Step::Message(first_message()), Step::Hang];
    fake.on_query(FIRST, hangs);
    let transaction = start(&client);
    let never_read = transaction.query(FIRST).rows::<(i64,)>().await.unwrap();
    assert_eq!(transaction.read_timestamp(), Some(time(7)));
    let second = transaction.query(SECOND).rows::<(i64,)>().await.unwrap();
    let third = transaction.query(SECOND).rows::<(i64,)>().await.unwrap();
    assert_eq!(all(third).await, [1, 2]);
    assert_eq!(all(second).await, [1, 2]);
    assert_eq!(transactions(&fake), ["begin", "t 1", "t 1"]);
    drop(never_read);
}

/// A future that has sent the statement that begins, and is kept without being polled.
#[tokio::test]
async fn a_future_that_begins_and_is_not_polled_any_more() {
    let (fake, client) = server().await;
    let transaction = start(&client);
    let mut kept = pin!(transaction.query(FIRST).rows::<(i64,)>());
    assert!(poll_once(kept.as_mut()).is_pending());
    assert_eq!(query(&transaction, SECOND).await, [1, 2]);
    assert_eq!(transactions(&fake), ["begin", "fake-transaction-1"]);
    // And it has its own answer still.
    assert_eq!(all(kept.await.unwrap()).await, [1, 2]);

    // The same, when what it sent fails: the next one begins.
    fake.on_query(
        FIRST,
        Answer::scripts([vec![Step::Fail(Failure::unavailable("later"))]]),
    );
    let transaction = start(&client);
    let mut kept = pin!(transaction.query(FIRST).rows::<(i64,)>());
    assert!(poll_once(kept.as_mut()).is_pending());
    assert_eq!(query(&transaction, SECOND).await, [1, 2]);
    assert_eq!(transactions(&fake), ["begin", "begin"]);
}

/// Dropped at every poll, the future that begins leaves a transaction that others use,
/// begun or not.
#[tokio::test]
async fn a_future_that_begins_is_dropped_at_every_poll() {
    let (fake, client) = server().await;
    for polls in 1.. {
        let transaction = start(&client);
        let waiting = {
            let transaction = transaction.clone();
            // Polled for the first time when the other one has begun to begin.
            async move { query(&transaction, SECOND).await }
        };
        let mut dropped = Box::pin(transaction.query(FIRST).rows::<(i64,)>());
        let mut done = false;
        let mut waiting = Box::pin(waiting);
        for poll in 0..polls {
            done = poll_once(dropped.as_mut()).is_ready();
            if done {
                break;
            }
            if poll == 0 {
                assert!(poll_once(waiting.as_mut()).is_pending());
            }
            tokio::task::yield_now().await;
        }
        drop(dropped);
        assert_eq!(waiting.await, [1, 2]);
        assert_eq!(query(&transaction, SECOND).await, [1, 2]);
        let sent = transactions(&fake);
        // The first one may have been dropped before it was sent. The statement that
        // ended up beginning gave the id of all that came after it.
        let begun = sent.iter().rposition(|it| it == "begin").unwrap();
        assert!(begun <= 1, "{sent:?}");
        let ids = &sent[begun + 1..];
        assert!(
            !ids.is_empty() && ids.iter().all(|id| *id == ids[0]),
            "{sent:?}"
        );
        if done {
            assert!(polls > 3, "{polls}");
            break;
        }
        assert!(polls < 10_000, "it never ends");
    }
}

#[tokio::test]
async fn many_wait_for_one() {
    let (fake, client) = server().await;
    let gate = Gate::new();
    fake.on_query(
        FIRST,
        Answer::script([Step::Wait(gate.clone()), Step::Message(first_message())]),
    );
    let transaction = start(&client);
    let spawn = |sql: &'static str| {
        let transaction = transaction.clone();
        tokio::spawn(async move { query(&transaction, sql).await })
    };
    let first = spawn(FIRST);
    gate.reached().await;
    let others: Vec<_> = (0..20).map(|_| spawn(SECOND)).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(transactions(&fake), ["begin"], "the others wait");
    gate.open();
    assert_eq!(first.await.unwrap(), [1]);
    for other in others {
        assert_eq!(other.await.unwrap(), [1, 2]);
    }
    assert_eq!(transactions(&fake), ["t 1"; 20]);
}

/// When the one fails, exactly one of the others begins.
#[tokio::test]
async fn many_wait_for_one_that_fails() {
    let (fake, client) = server().await;
    let gate = Gate::new();
    fake.on_query(
        BAD,
        Answer::script([
            Step::Wait(gate.clone()),
            Step::Fail(Failure::invalid_argument("no such thing")),
        ]),
    );
    let transaction = start(&client);
    let first = {
        let query = transaction.query(BAD);
        tokio::spawn(async move { query.rows::<(i64,)>().await.unwrap_err().code() })
    };
    gate.reached().await;
    let others: Vec<_> = (0..20)
        .map(|_| {
            let transaction = transaction.clone();
            tokio::spawn(async move { query(&transaction, SECOND).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    gate.open();
    assert_eq!(first.await.unwrap(), Code::InvalidArgument);
    for other in others {
        assert_eq!(other.await.unwrap(), [1, 2]);
    }
    let sent = transactions(&fake);
    assert_eq!(sent[..2], ["begin", "begin"]);
    assert_eq!(sent[2..], ["fake-transaction-1"; 19]);
}

#[tokio::test]
async fn a_first_statement_that_is_wrong() {
    let (fake, client) = server().await;
    let transaction = start(&client);
    for _ in 0..2 {
        let error = transaction.query(BAD).rows::<(i64,)>().await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(transaction.read_timestamp(), None);
    }
    query(&transaction, FIRST).await;
    let error = transaction.query(BAD).rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    query(&transaction, SECOND).await;
    let id = "fake-transaction-1";
    assert_eq!(transactions(&fake), ["begin", "begin", "begin", id, id]);
}

#[tokio::test]
async fn a_first_message_without_an_id() {
    let (fake, client) = server().await;
    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64);
    fake.on_query(FIRST, message);
    let transaction = start(&client);
    let error = transaction.query(FIRST).rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::Internal);
    assert!(
        error.to_string().contains("no transaction returned"),
        "{error}"
    );
    query(&transaction, SECOND).await;
    assert_eq!(transactions(&fake), ["begin", "begin"]);
}

/// What a stream is sent again with, wherever it broke.
#[tokio::test]
async fn streams_that_break() {
    let (fake, client) = server().await;
    let broken = || Step::Fail(Failure::unavailable("later"));
    let rest = || Step::Message(Message::new().value(2_i64));
    let whole = || {
        let message = Message::new().columns([("n", TypeCode::Int64)]);
        Step::Message(message.value(1_i64).value(2_i64))
    };
    // Before the id: it begins again, and whatever it began before is forgotten.
    fake.on_query(
        FIRST,
        Answer::scripts([vec![broken()], vec![Step::Message(first_message()), rest()]]),
    );
    let transaction = start(&client);
    assert_eq!(query(&transaction, FIRST).await, [1, 2]);
    assert_eq!(transactions(&fake), ["begin", "begin"]);

    // Behind the id, with nothing released: the same transaction from the start.
    fake.on_query(
        FIRST,
        Answer::scripts([
            vec![Step::Message(first_message()), broken()],
            vec![whole()],
        ]),
    );
    let transaction = start(&client);
    assert_eq!(query(&transaction, FIRST).await, [1, 2]);
    assert_eq!(transactions(&fake), ["begin", "t 1"]);

    // Behind a token.
    fake.on_query(
        FIRST,
        Answer::scripts([
            vec![
                Step::Message(first_message().resume_token("token")),
                broken(),
            ],
            vec![rest()],
        ]),
    );
    let transaction = start(&client);
    assert_eq!(query(&transaction, FIRST).await, [1, 2]);
    assert_eq!(fake.requests().last().unwrap().resume_token(), b"token");
    assert_eq!(transactions(&fake), ["begin", "t 1"]);

    // In a transaction that another statement began.
    fake.on_query(FIRST, Answer::scripts([vec![broken()], vec![whole()]]));
    let transaction = start(&client);
    query(&transaction, SECOND).await;
    assert_eq!(query(&transaction, FIRST).await, [1, 2]);
    let id = transactions(&fake)[1].clone();
    assert!(id.starts_with("fake-transaction-"), "{id}");
}

/// One statement broke before its id, and another one has begun meanwhile.
#[tokio::test]
async fn a_statement_that_broke_joins_the_one_that_began_meanwhile() {
    let (fake, client) = server().await;
    let again = Gate::new();
    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64);
    let later = Failure::unavailable("later").retry_after(Duration::from_millis(300));
    fake.on_query(
        FIRST,
        Answer::scripts([
            vec![Step::Wait(again.clone()), Step::Fail(later)],
            vec![Step::Message(message)],
        ]),
    );
    let transaction = start(&client);
    let first = {
        let transaction = transaction.clone();
        tokio::spawn(async move { query(&transaction, FIRST).await })
    };
    again.reached().await;
    again.open();
    assert_eq!(query(&transaction, SECOND).await, [1, 2]);
    assert_eq!(first.await.unwrap(), [1]);
    assert_eq!(
        transactions(&fake),
        ["begin", "begin", "fake-transaction-1"]
    );
}

#[tokio::test]
async fn a_session_lost_before_the_transaction_began_is_replaced() {
    let (fake, client) = server().await;
    let transaction = start(&client);
    fake.forget_sessions();
    fake.take_requests();
    assert_eq!(query(&transaction, FIRST).await, [1, 2]);
    assert_eq!(query(&transaction, SECOND).await, [1, 2]);
    let requests = fake.requests();
    let sessions: Vec<_> = requests
        .iter()
        .filter(|request| request.method() != "CreateSession")
        .map(session)
        .collect();
    assert_eq!(sessions, ["fake-1", "fake-2", "fake-2"]);
    assert_eq!(
        transactions(&fake),
        ["begin", "begin", "fake-transaction-1"]
    );
}

#[tokio::test]
async fn a_session_lost_under_a_transaction_is_an_error_that_says_so() {
    let (fake, client) = server().await;
    let transaction = start(&client);
    query(&transaction, FIRST).await;
    let time = transaction.read_timestamp();
    fake.forget_sessions();
    fake.take_requests();
    for _ in 0..3 {
        let error = transaction
            .query(SECOND)
            .rows::<(i64,)>()
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::NotFound);
        let text = error.to_string();
        assert!(text.contains("the transaction with it"), "{text}");
        let ErrorKind::Status { status, .. } = error.kind() else {
            panic!("{error:?}")
        };
        assert!(status.is_session_not_found());
        assert!(status.request_id().is_some());
    }
    // It was never begun anew, and nothing else was asked for on another session.
    assert_eq!(transactions(&fake), ["fake-transaction-1"; 3]);
    assert_eq!(transaction.read_timestamp(), time);

    // Others go on, on a new session.
    assert_eq!(query(&start(&client), SECOND).await, [1, 2]);
    let rows = client.query(SECOND).rows::<(i64,)>().await.unwrap();
    assert_eq!(all(rows).await, [1, 2]);
}

/// The same in the middle of a stream, of the one that began and of another one.
#[tokio::test]
async fn a_session_lost_under_a_stream() {
    let (fake, client) = server().await;
    let gone = || Step::Fail(Failure::session_not_found("projects/p/sessions/s"));
    fake.on_query(FIRST, [Step::Message(first_message()), gone()]);
    let transaction = start(&client);
    let mut rows = transaction.query(FIRST).rows::<(i64,)>().await.unwrap();
    let error = rows.next().await.unwrap_err().to_string();
    assert!(error.contains("the transaction with it"), "{error}");
    assert_eq!(transactions(&fake), ["begin"]);

    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64);
    fake.on_query(FIRST, [Step::Message(message), gone()]);
    let transaction = start(&client);
    query(&transaction, SECOND).await;
    let mut rows = transaction.query(FIRST).rows::<(i64,)>().await.unwrap();
    let error = rows.next().await.unwrap_err().to_string();
    assert!(error.contains("the transaction with it"), "{error}");
    assert_eq!(transactions(&fake).len(), 2);
}

/// Waiting for somebody else's beginning counts as time of the request.
#[tokio::test]
async fn whoever_waits_keeps_the_own_time_limit() {
    let (fake, client) = server().await;
    fake.on_query(FIRST, [Step::Hang]);
    let transaction = start(&client);
    let mut hangs = Box::pin(transaction.query(FIRST).rows::<(i64,)>());
    assert!(poll_once(hangs.as_mut()).is_pending());
    let query = transaction.query(SECOND).timeout(Duration::from_millis(50));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    // The one that began gives up, too: the next one begins.
    drop(hangs);
    tokio::task::yield_now().await;
    let query = transaction.query(FIRST).timeout(Duration::from_millis(50));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    fake.on_query(FIRST, numbers());
    let query = transaction.query(FIRST).rows::<(i64,)>().await.unwrap();
    assert_eq!(all(query).await, [1, 2]);
}

#[test]
fn transactions_can_be_sent_and_shared() {
    fn both<T: Send + Sync + 'static>() {}
    both::<ReadOnlyTransaction>();
    both::<spanner_rows::ReadOnlyBuilder>();
}
