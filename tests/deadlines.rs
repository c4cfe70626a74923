//! A request whose time is over says so, always: DEADLINE_EXCEEDED, with what had failed before
//! as the cause. Every kind of request against everything that can use the time up.

use std::time::{Duration, Instant};

use spanner_rows::testing::{Failure, FakeSpanner, Gate, Rows, Step};
use spanner_rows::{Client, Code, Error, Mutation, PartitionOptions, RetrySettings};
use tokio::task::JoinSet;

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = 1 WHERE TRUE";
const LIMIT: Duration = Duration::from_millis(250);
const HOUR: Duration = Duration::from_secs(3600);

/// The request, and the method whose calls are spoiled.
const REQUESTS: [(&str, &str); 15] = [
    ("query", "ExecuteStreamingSql"),
    ("read", "StreamingRead"),
    ("snapshot", "ExecuteStreamingSql"),
    ("begin", "BeginTransaction"),
    ("split, begin", "BeginTransaction"),
    ("split", "PartitionQuery"),
    ("part", "ExecuteStreamingSql"),
    ("write, begin", "BeginTransaction"),
    ("write", "Commit"),
    ("statement", "ExecuteStreamingSql"),
    ("batch", "ExecuteBatchDml"),
    ("commit", "Commit"),
    ("batch write", "BatchWrite"),
    ("partitioned dml, begin", "BeginTransaction"),
    ("partitioned dml", "ExecuteStreamingSql"),
];

async fn server() -> FakeSpanner {
    let fake = FakeSpanner::start().await;
    fake.on_query(SELECT, Rows::new(["n"], [(1_i64,), (2,)]));
    fake.on_query(UPDATE, Rows::changed(3));
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,), (2,)]));
    fake
}

async fn connected(fake: &FakeSpanner) -> Client {
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    client.connect().await.unwrap()
}

fn one() -> [Mutation; 1] {
    [Mutation::delete("Numbers").all()]
}

/// Does the request with its limit.
async fn request(fake: &FakeSpanner, client: &Client, what: &str) -> Result<(), Error> {
    match what {
        "query" => {
            let mut rows = client.query(SELECT).timeout(LIMIT).rows::<(i64,)>().await?;
            rows.for_each(|_| {}).await
        }
        "read" => {
            let read = client.read::<(i64,)>("Numbers").columns(["n"]).all();
            read.timeout(LIMIT).rows().await?.for_each(|_| {}).await
        }
        "snapshot" => {
            let snapshot = client.read_only().start()?;
            let query = snapshot.query(SELECT).timeout(LIMIT);
            query.rows::<(i64,)>().await?.for_each(|_| {}).await
        }
        "begin" => {
            let limited = Client::builder(fake.database())
                .endpoint(fake.endpoint())
                .retry(RetrySettings::new().timeout(LIMIT));
            let limited = limited.connect().await?;
            limited.read_only().begin().await.map(drop)
        }
        "split" | "split, begin" => {
            let query = client.query(SELECT).timeout(LIMIT);
            query
                .partitions(PartitionOptions::default())
                .await
                .map(drop)
        }
        "part" => {
            let query = client.query(SELECT);
            let parts = query.partitions(PartitionOptions::default()).await?;
            let part = client.read_partition(&parts[0]).timeout(LIMIT);
            part.rows::<(i64,)>().await?.for_each(|_| {}).await
        }
        "write" | "write, begin" => client.write(one()).timeout(LIMIT).await.map(drop),
        "statement" => {
            let run = client.transaction().timeout(LIMIT);
            run.run(async |tx| tx.dml(UPDATE).execute().await)
                .await
                .map(drop)
        }
        "batch" => {
            let run = client.transaction().timeout(LIMIT);
            run.run(async |tx| {
                tx.batch_dml([tx.dml(UPDATE)]).await?;
                Ok::<_, Error>(())
            })
            .await
        }
        "commit" => {
            let run = client.transaction().timeout(LIMIT);
            run.run(async |tx| tx.dml(UPDATE).execute().await)
                .await
                .map(drop)
        }
        "batch write" => {
            let settings = RetrySettings::new().timeout(LIMIT);
            let mut results = client.batch_write([one()]).retry(settings).start()?;
            while results.next().await?.is_some() {}
            Ok(())
        }
        _ => {
            let dml = client.partitioned_dml(UPDATE).timeout(LIMIT);
            dml.execute().await.map(drop)
        }
    }
}

/// All requests at the same time, each with servers of its own.
async fn with_each<F>(case: impl Fn(&'static str, &'static str) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for (what, method) in REQUESTS {
        tasks.spawn(case(what, method));
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

/// Spoils all calls of the method from now on.
fn spoil(fake: &FakeSpanner, method: &str, steps: &[Step]) {
    for _ in 0..500 {
        fake.before_next(method, steps.iter().cloned());
    }
}

fn check(result: Result<(), Error>, started: Instant, of: &str) -> Error {
    let error = result.expect_err(of);
    assert_eq!(error.code(), Code::DeadlineExceeded, "{of}: {error}");
    assert!(started.elapsed() < LIMIT * 20, "{of}: {error}");
    error
}

fn cause(error: &Error) -> Option<Code> {
    Some(error.grpc_status()?.cause()?.code())
}

/// The server does not answer, or not in time.
#[tokio::test]
async fn a_server_that_is_silent_or_late() {
    with_each(|what, method| async move {
        for steps in [vec![Step::Hang], vec![Step::Delay(LIMIT * 3)]] {
            let fake = server().await;
            let client = connected(&fake).await;
            spoil(&fake, method, &steps);
            let started = Instant::now();
            let result = request(&fake, &client, what).await;
            let error = check(result, started, &format!("{what} {steps:?}"));
            assert_eq!(cause(&error), None, "{what}: {error}");
        }
    })
    .await;
}

/// Each attempt fails, at once, and the last one before the end of the time, or the wait
/// before the next one that the server asks for, goes beyond it.
#[tokio::test]
async fn failures_until_the_end() {
    let busy = || Failure::unavailable("busy");
    with_each(|what, method| async move {
        for (kind, step) in [
            ("busy", Step::Fail(busy())),
            ("busy for an hour", Step::Fail(busy().retry_after(HOUR))),
            ("breaks", Step::Disconnect),
        ] {
            let fake = server().await;
            let client = connected(&fake).await;
            spoil(&fake, method, &[step]);
            let started = Instant::now();
            let result = request(&fake, &client, what).await;
            let of = format!("{what} {kind}");
            let error = check(result, started, &of);
            assert_eq!(cause(&error), Some(Code::Unavailable), "{of}: {error}");
            let text = if kind == "breaks" { "" } else { "busy" };
            assert!(error.to_string().contains(text), "{of}: {error}");
            if kind == "busy for an hour" && what != "statement" {
                assert!(started.elapsed() < LIMIT, "{of}: waited for nothing");
            }
        }
    })
    .await;
}

/// One attempt fails, and the next one hangs.
#[tokio::test]
async fn the_failure_before_the_attempt_that_hangs() {
    with_each(|what, method| async move {
        let fake = server().await;
        let client = connected(&fake).await;
        fake.before_next(method, [Step::Fail(Failure::unavailable("busy"))]);
        spoil(&fake, method, &[Step::Hang]);
        let started = Instant::now();
        let error = check(request(&fake, &client, what).await, started, what);
        assert_eq!(cause(&error), Some(Code::Unavailable), "{what}: {error}");
    })
    .await;
}

/// What is run again as a whole when it is aborted.
#[tokio::test]
async fn aborted_until_the_end() {
    let aborted = || Failure::aborted("conflict");
    with_each(|what, method| async move {
        let runs_again = !["query", "read", "snapshot", "begin", "part", "batch write"]
            .contains(&what)
            && !what.starts_with("split");
        if !runs_again {
            return;
        }
        for failure in [
            aborted(),
            aborted().retry_after(LIMIT / 3),
            aborted().retry_after(HOUR),
        ] {
            let fake = server().await;
            let client = connected(&fake).await;
            spoil(&fake, method, &[Step::Fail(failure)]);
            let started = Instant::now();
            let error = check(request(&fake, &client, what).await, started, what);
            assert_eq!(cause(&error), Some(Code::Aborted), "{what}: {error}");
        }
    })
    .await;
}

/// The server knows how much time there is, and ends the call at the end of it, in its own way.
#[tokio::test]
async fn a_server_that_ends_the_call_in_time() {
    with_each(|what, method| async move {
        for step in [
            Step::Fail(Failure::cancelled("the client does not wait any more")),
            Step::Fail(Failure::deadline_exceeded("too late")),
            Step::Reset(8),
            Step::Disconnect,
        ] {
            let fake = server().await;
            let client = connected(&fake).await;
            // It is told the time in whole milliseconds, so its clock may be ahead.
            let told = LIMIT - Duration::from_millis(1);
            spoil(&fake, method, &[Step::Delay(told), step.clone()]);
            let started = Instant::now();
            let result = request(&fake, &client, what).await;
            check(result, started, &format!("{what} {step:?}"));
        }
    })
    .await;
}

/// In the middle of a result.
#[tokio::test]
async fn inside_a_stream() {
    for (step, expected) in [
        (Step::Hang, None),
        (Step::Disconnect, Some(Code::Unavailable)),
        (
            Step::Fail(Failure::unavailable("busy").retry_after(HOUR)),
            Some(Code::Unavailable),
        ),
    ] {
        let fake = server().await;
        let client = connected(&fake).await;
        let rows = Rows::new(["n"], (0..4_i64).map(|n| (n,))).message_size(1);
        // Each attempt gets no further than the first message.
        fake.on_query(SELECT, rows.interrupt_every(1, step.clone()));
        let query = client.query(SELECT).timeout(LIMIT);
        let started = Instant::now();
        let mut rows = query.rows::<(i64,)>().await.unwrap();
        spoil(&fake, "ExecuteStreamingSql", std::slice::from_ref(&step));
        let result = rows.for_each(|_| {}).await;
        let error = check(result, started, &format!("{step:?}"));
        assert_eq!(cause(&error), expected, "{step:?}: {error}");
    }
}

/// A closure that does nothing any more, and one whose statement waits for another attempt.
#[tokio::test]
async fn while_the_closure_runs() {
    let fake = server().await;
    let client = connected(&fake).await;
    let run = client.transaction().timeout(LIMIT);
    let started = Instant::now();
    let result = run.run(async |_| std::future::pending::<Result<(), Error>>().await);
    let error = check(result.await, started, "pending");
    assert_eq!(cause(&error), None);

    // The statement has its whole limit yet, the transaction has not.
    let wait = Failure::unavailable("busy").retry_after(LIMIT * 9 / 10);
    let run = client.transaction().timeout(LIMIT);
    fake.before_next("ExecuteStreamingSql", [Step::Fail(wait)]);
    let started = Instant::now();
    let result = run.run(async |tx| {
        tokio::time::sleep(LIMIT / 2).await;
        tx.dml(UPDATE).execute().await.map(drop)
    });
    let error = check(result.await, started, "waiting");
    assert_eq!(cause(&error), Some(Code::Unavailable), "{error}");
}

/// Waiting for the session counts.
#[tokio::test]
async fn while_there_is_no_session() {
    with_each(|what, _| async move {
        if ["begin", "part"].contains(&what) {
            return;
        }
        let fake = server().await;
        let client = connected(&fake).await;
        fake.forget_sessions();
        // The request finds out that the session is gone.
        let gate = Gate::new();
        fake.before_next("CreateSession", [Step::Wait(gate.clone())]);
        let started = Instant::now();
        let result = request(&fake, &client, what).await;
        check(result, started, what);
        gate.open();
    })
    .await;
}
