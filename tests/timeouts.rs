//! The time a request may take as a whole, and settings of single requests.

use std::time::{Duration, Instant};

use spanner_rows::testing::{Answer, Failure, FakeSpanner, Message, Step};
use spanner_rows::{Client, Code, Error, ErrorKind, RetrySettings, TypeCode};

const SQL: &str = "SELECT n FROM Numbers";

async fn server(settings: RetrySettings, script: Vec<Step>) -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SQL, Answer::script(script.clone()));
    fake.on_read("Numbers", Answer::script(script));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client
        .retry(settings)
        .connect()
        .await
        .expect("every client is taken");
    (fake, client)
}

fn message(n: i64) -> Step {
    let message = Message::new().value(n).resume_token(n.to_string());
    Step::Message(match n {
        0 => message.columns([("n", TypeCode::Int64)]),
        _ => message,
    })
}

fn status(error: &Error) -> (Code, u32, String) {
    match error.kind() {
        ErrorKind::Status { status, attempts } => (status.code(), *attempts, error.to_string()),
        other => panic!("{other:?}"),
    }
}

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn rows_before_the_end_of_the_time_are_handed_out() {
    let (_fake, client) = server(
        RetrySettings::new(),
        vec![message(0), message(1), Step::Hang],
    )
    .await;
    let mut rows = client
        .query(SQL)
        .timeout(SHORT)
        .rows::<(i64,)>()
        .await
        .unwrap();
    let started = Instant::now();
    for n in 0..2 {
        assert_eq!(rows.next().await.unwrap(), Some((n,)));
    }
    let error = rows.next().await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(20));
    let (code, attempts, text) = status(&error);
    assert_eq!((code, attempts), (Code::DeadlineExceeded, 1));
    assert!(text.contains("longer than 300ms"), "{text}");
    assert!(rows.next().await.unwrap().is_none());
}

/// A server that always sends something keeps no request alive for longer.
#[tokio::test]
async fn signs_of_life_do_not_prolong_it() {
    let mut script = Vec::new();
    for n in 0..200 {
        script.extend([message(n), Step::Delay(Duration::from_millis(20))]);
    }
    let (_fake, client) = server(RetrySettings::new().timeout(SHORT), script).await;
    for read in [false, true] {
        let mut rows = match read {
            false => client.query(SQL).rows::<(i64,)>().await.unwrap(),
            true => {
                let read = client.read::<(i64,)>("Numbers").columns(["n"]).all();
                read.rows().await.unwrap()
            }
        };
        let mut seen = 0;
        let error = loop {
            match rows.next().await {
                Ok(Some((n,))) => {
                    assert_eq!(n, seen);
                    seen += 1;
                }
                Ok(None) => panic!("the result is longer than the time for it"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert!(seen > 0 && seen < 200, "{seen}");
    }
}

#[tokio::test]
async fn the_last_cause_is_kept() {
    let failures = vec![Step::Fail(Failure::unavailable("try another day"))];
    let settings = RetrySettings::new()
        .initial_delay(Duration::from_millis(1))
        .max_delay(Duration::from_millis(10))
        .timeout(SHORT);
    let (fake, client) = server(settings, failures).await;
    fake.take_requests();
    let error = client.query(SQL).rows::<(i64,)>().await.unwrap_err();
    let (_, attempts, text) = status(&error);
    // Either there was no time for another attempt, or it ended the last one.
    assert!(text.contains("try another day"), "{text}");
    assert!(attempts > 3, "{attempts}");
    assert!(
        text.contains(&format!("after {attempts} attempts")),
        "{text}"
    );
    // The last attempt may have ended before its request arrived.
    let arrived = fake.requests().len() as u32;
    assert!(
        (attempts - 1..=attempts).contains(&arrived),
        "{arrived} of {attempts}"
    );
}

/// A wait that the server asks for and that goes beyond the time is not begun.
#[tokio::test]
async fn no_wait_goes_beyond_the_time() {
    let busy = Failure::unavailable("busy").retry_after(Duration::from_secs(3600));
    let (_fake, client) = server(
        RetrySettings::new().give_up_after(Duration::MAX),
        vec![Step::Fail(busy)],
    )
    .await;
    let started = Instant::now();
    let query = client.query(SQL).timeout(Duration::from_secs(600));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(60));
    let (code, attempts, text) = status(&error);
    assert_eq!((code, attempts), (Code::DeadlineExceeded, 1));
    assert!(text.contains("busy"), "{text}");

    // Where the patience ends before the time does, the failure itself is told.
    let settings = RetrySettings::new().give_up_after(Duration::from_secs(60));
    let query = client.query(SQL).retry(settings);
    let query = query.timeout(Duration::from_secs(600));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable, "{error}");
}

#[tokio::test]
async fn an_attempt_that_hangs_names_the_failure_before_it() {
    let (fake, client) = server(RetrySettings::new(), vec![message(0), Step::End]).await;
    fake.before_next(
        "ExecuteStreamingSql",
        [Step::Fail(Failure::unavailable("first"))],
    );
    fake.before_next("ExecuteStreamingSql", [Step::Hang]);
    let query = client.query(SQL).timeout(Duration::from_millis(600));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    let ErrorKind::Status { status, attempts } = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!((status.code(), *attempts), (Code::DeadlineExceeded, 2));
    let cause = status.cause().expect("an attempt had failed");
    assert_eq!(
        (cause.code(), cause.message()),
        (Code::Unavailable, "first")
    );
    let source = std::error::Error::source(status).expect("the cause is the source");
    assert_eq!(source.to_string(), "UNAVAILABLE: first");
    assert!(error.to_string().contains("UNAVAILABLE: first"), "{error}");
}

#[tokio::test]
async fn the_server_is_told_how_much_time_is_left() {
    let (fake, client) = server(RetrySettings::new(), vec![message(0), Step::End]).await;
    fake.take_requests();
    client.query(SQL).one::<(i64,)>().await.unwrap();
    fake.before_next(
        "ExecuteStreamingSql",
        [
            Step::Delay(Duration::from_millis(200)),
            Step::Fail(Failure::unavailable("later")),
        ],
    );
    let query = client.query(SQL).timeout(Duration::from_secs(100));
    query.one::<(i64,)>().await.unwrap();
    let left: Vec<_> = fake
        .requests()
        .iter()
        .map(|request| {
            let text = request.header("grpc-timeout")?;
            text.strip_suffix('m')?.parse::<u64>().ok()
        })
        .collect();
    assert_eq!(left[0], None, "without a limit there is nothing to tell");
    let (Some(first), Some(second)) = (left[1], left[2]) else {
        panic!("{left:?}");
    };
    assert!(first <= 100_000 && first > 50_000, "{first}");
    assert!(second <= first - 200, "{first} {second}");
}

/// Settings of a request take the place of the client's.
#[tokio::test]
async fn a_request_has_settings_of_its_own() {
    let (fake, client) = server(RetrySettings::never(), vec![message(0), Step::End]).await;
    let fail = || {
        fake.before_next(
            "ExecuteStreamingSql",
            [Step::Fail(Failure::unavailable("no"))],
        );
        fake.before_next("StreamingRead", [Step::Fail(Failure::unavailable("no"))]);
    };
    fail();
    let read = || client.read::<(i64,)>("Numbers").columns(["n"]).all();
    client.query(SQL).one::<(i64,)>().await.unwrap_err();
    read().one().await.unwrap_err();
    fail();
    let settings = RetrySettings::new();
    client
        .query(SQL)
        .retry(settings.clone())
        .one::<(i64,)>()
        .await
        .unwrap();
    read().retry(settings).one().await.unwrap();
    // The others are as before.
    fail();
    client.query(SQL).one::<(i64,)>().await.unwrap_err();
    read().one().await.unwrap_err();
}

/// Time that the reader takes counts: the limit is for the whole request.
#[tokio::test]
async fn a_reader_that_comes_late_finds_what_was_there() {
    let (_fake, client) = server(
        RetrySettings::new(),
        vec![message(0), Step::Delay(SHORT * 2), message(1), Step::End],
    )
    .await;
    let mut rows = client
        .query(SQL)
        .timeout(SHORT)
        .rows::<(i64,)>()
        .await
        .unwrap();
    tokio::time::sleep(SHORT * 3).await;
    assert_eq!(rows.next().await.unwrap(), Some((0,)));
    assert_eq!(
        rows.next().await.unwrap_err().code(),
        Code::DeadlineExceeded
    );
}

/// Not a failure of the connection, whoever looks at the clock first.
#[tokio::test]
async fn a_server_that_does_not_begin_to_answer() {
    let (fake, client) = server(RetrySettings::new().timeout(SHORT), vec![message(0)]).await;
    for _ in 0..3 {
        fake.before_next("ExecuteStreamingSql", [Step::Delay(SHORT * 4)]);
        let error = client.query(SQL).rows::<(i64,)>().await.unwrap_err();
        let (code, attempts, text) = status(&error);
        assert_eq!((code, attempts), (Code::DeadlineExceeded, 1), "{text}");
        assert!(text.contains("longer than 300ms"), "{text}");
    }
}
