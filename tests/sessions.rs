//! Sessions that the server does not know any more.

use std::time::Duration;

use spanner_rows::testing::{Answer, Failure, FakeSpanner, Message, Request, Rows, Step};
use spanner_rows::{Client, Code, ErrorKind, RetrySettings, TypeCode};

const SQL: &str = "SELECT n FROM Numbers";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client)
}

fn numbers(count: i64) -> Rows {
    Rows::new(["n"], (0..count).map(|n| (n,)))
}

async fn all(client: &Client) -> Vec<(i64,)> {
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    rows.try_collect().await.unwrap()
}

/// Which sessions were made and used, in short.
fn calls(fake: &FakeSpanner) -> Vec<String> {
    let name = |session: &str| session.rsplit('/').next().unwrap_or("").to_owned();
    let text = |request: &Request| match request.method() {
        "CreateSession" => "made".to_owned(),
        _ => format!("{} by {}", name(request.session()), attempt(request)),
    };
    fake.take_requests().iter().map(text).collect()
}

fn attempt(request: &Request) -> &str {
    let id = request.header("x-goog-spanner-request-id").unwrap();
    id.rsplit_once('.').unwrap().1
}

#[tokio::test]
async fn a_read_that_has_not_begun_is_sent_again_on_a_new_session() {
    let (fake, client) = server().await;
    fake.on_query(SQL, numbers(3));
    let before = all(&client).await;
    let first = calls(&fake);
    assert_eq!(first.len(), 2);

    fake.forget_sessions();
    let after = all(&client).await;
    assert_eq!(before, after);
    let second = calls(&fake);
    assert_eq!(second.len(), 3, "{second:?}");
    assert_eq!(second[0], first[1], "the lost session");
    assert_eq!(second[1], "made");
    assert!(second[2].ends_with("by 2"), "{second:?}");
    assert_ne!(second[2].split(' ').next(), second[0].split(' ').next());

    // The next read goes to the new one at once.
    assert_eq!(all(&client).await, before);
    let third = calls(&fake);
    assert_eq!(third, [second[2].replace("by 2", "by 1")]);
}

/// However the server says it: by its words, in the details, in a trailer.
#[tokio::test]
async fn each_way_to_say_that_a_session_is_gone() {
    const KIND: &str = "type.googleapis.com/google.spanner.v1.Session";
    for failure in [
        Failure::not_found("Session not found: s"),
        Failure::not_found("gone").resource(KIND, "s"),
        Failure::not_found("gone").resource_trailer(KIND, "s"),
    ] {
        let (fake, client) = server().await;
        fake.on_query(SQL, numbers(2));
        fake.before_next("ExecuteStreamingSql", [Step::Fail(failure)]);
        calls(&fake);
        let rows = all(&client).await;
        assert_eq!(rows, [(0,), (1,)]);
        assert_eq!(calls(&fake)[1], "made");
    }
    for failure in [
        Failure::not_found("Table not found: T"),
        Failure::not_found("gone").resource("type.googleapis.com/google.spanner.v1.Database", "d"),
        Failure::failed_precondition("Session not found: s"),
    ] {
        let (fake, client) = server().await;
        fake.before_next("ExecuteStreamingSql", [Step::Fail(failure)]);
        calls(&fake);
        client.query(SQL).rows::<(i64,)>().await.unwrap_err();
        assert_eq!(calls(&fake).len(), 1);
    }
}

#[tokio::test]
async fn a_second_loss_is_told() {
    let (fake, client) = server().await;
    let gone = || [Step::Fail(Failure::session_not_found("s"))];
    fake.before_next("ExecuteStreamingSql", gone());
    fake.before_next("ExecuteStreamingSql", gone());
    let error = client.query(SQL).rows::<(i64,)>().await.unwrap_err();
    let ErrorKind::Status { status, attempts } = error.kind() else {
        panic!("{error:?}");
    };
    assert!(status.is_session_not_found());
    assert_eq!(*attempts, 2);
    // For the next read there is a third session.
    fake.on_query(SQL, numbers(1));
    client.query(SQL).one::<(i64,)>().await.unwrap();
}

/// The session is the client's affair, not the read's: settings that retry nothing say nothing of it.
#[tokio::test]
async fn without_retries_a_lost_session_is_still_replaced() {
    let (fake, client) = server().await;
    fake.on_query(SQL, numbers(3));
    let query = || client.query(SQL).retry(RetrySettings::never());
    fake.before_next(
        "ExecuteStreamingSql",
        [Step::Fail(Failure::session_not_found("s"))],
    );
    let mut rows = query().rows::<(i64,)>().await.unwrap();
    let rows: Vec<(i64,)> = rows.try_collect().await.unwrap();
    assert_eq!(rows, [(0,), (1,), (2,)]);

    fake.before_next(
        "ExecuteStreamingSql",
        [Step::Fail(Failure::unavailable("later"))],
    );
    let error = query().rows::<(i64,)>().await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Status { attempts: 1, .. }),
        "{error:?}"
    );
}

/// Other failures on the way to the new session have their own budget.
#[tokio::test]
async fn breaks_before_and_after_the_change_are_repaired_on_the_new_session() {
    let (fake, client) = server().await;
    let later = || Step::Fail(Failure::unavailable("later"));
    let scripts = [
        vec![later()],
        vec![Step::Fail(Failure::session_not_found("s"))],
        vec![later()],
        vec![Step::Message(message(0).resume_token("a")), later()],
        vec![Step::Message(message(1)), Step::End],
    ];
    fake.on_query(SQL, Answer::scripts(scripts));
    fake.before_next("CreateSession", [Step::Fail(Failure::unavailable("later"))]);
    calls(&fake);
    let rows = all(&client).await;
    assert_eq!(rows, [(0,), (1,)]);
    let calls = calls(&fake);
    assert_eq!(calls.len(), 7, "{calls:?}");
    let session = |call: &String| call.split(' ').next().unwrap().to_owned();
    assert_eq!(session(&calls[0]), session(&calls[1]));
    assert_eq!(calls[2..4], ["made", "made"]);
    let new = session(&calls[4]);
    assert_ne!(new, session(&calls[0]));
    assert_eq!(
        calls[4..],
        [3, 4, 5].map(|attempt| format!("{new} by {attempt}"))
    );
}

fn message(n: i64) -> Message {
    let message = Message::new();
    match n {
        0 => message.columns([("n", TypeCode::Int64)]).value(n),
        _ => message.value(n),
    }
}

#[tokio::test]
async fn in_the_middle_of_a_result_the_loss_is_told_and_later_reads_are_well() {
    for (token, hold) in [(true, 1 << 20), (false, 0)] {
        let (fake, client) = server().await;
        let first = match token {
            true => message(0).resume_token("a"),
            false => message(0),
        };
        let gone = Step::Fail(Failure::session_not_found("s"));
        fake.on_query(SQL, Answer::script([Step::Message(first), gone]));
        let query = client
            .query(SQL)
            .retry(RetrySettings::new().hold_bytes(hold));
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        assert_eq!(rows.next().await.unwrap(), Some((0,)));
        let error = rows.next().await.unwrap_err();
        assert_eq!(error.code(), Code::NotFound);
        assert!(rows.next().await.unwrap().is_none());
        calls(&fake);
        fake.on_query("SELECT 1", numbers(1));
        client.query("SELECT 1").one::<(i64,)>().await.unwrap();
        assert_eq!(calls(&fake)[0], "made");
    }
}

/// A request with a time limit does not wait longer for its session.
#[tokio::test]
async fn the_timeout_of_a_request_counts_the_wait_for_a_session() {
    let (fake, client) = server().await;
    fake.forget_sessions();
    fake.before_next("CreateSession", [Step::Hang]);
    fake.on_query(SQL, numbers(1));
    let query = client.query(SQL).timeout(Duration::from_millis(300));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    let text = error.to_string();
    assert!(
        text.contains("300ms") && text.contains("Session not found"),
        "{text}"
    );
}
