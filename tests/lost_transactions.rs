//! Transactions that the server does not know any more, though it knows their session: the
//! closure is run again, but never after a commit that may have succeeded.

use std::sync::atomic::{AtomicUsize, Ordering};

use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
use spanner_rows::{Client, Code, Error, Mutation, Transaction};

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = 1 WHERE TRUE";

/// As the emulator says it: of one that it has cleared away, and of one whose session has a
/// newer one.
fn lost() -> [Failure; 2] {
    [
        Failure::not_found("Transaction not found: 7"),
        Failure::failed_precondition("Invalid transaction ID. Transaction ID must be >= 3"),
    ]
}

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SELECT, Rows::new(["n"], [(1_i64,), (2,)]));
    fake.on_query(UPDATE, Rows::changed(3));
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,), (2,)]));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.unwrap();
    fake.take_requests();
    (fake, client)
}

async fn statement(tx: &Transaction, kind: &str) -> Result<(), Error> {
    match kind {
        "query" => {
            let mut rows = tx.query(SELECT).rows::<(i64,)>().await?;
            rows.for_each(|_| {}).await
        }
        "read" => {
            let read = tx.read::<(i64,)>("Numbers").columns(["n"]).all();
            read.rows().await?.for_each(|_| {}).await
        }
        "dml" => tx.dml(UPDATE).execute().await.map(drop),
        _ => Ok(tx.batch_dml([tx.dml(UPDATE)]).await.map(drop)?),
    }
}

fn method(kind: &str) -> &'static str {
    match kind {
        "query" | "dml" => "ExecuteStreamingSql",
        "read" => "StreamingRead",
        "batch" => "ExecuteBatchDml",
        _ => "Commit",
    }
}

fn count(fake: &FakeSpanner, method: &str) -> usize {
    let requests = fake.requests();
    requests.iter().filter(|it| it.method() == method).count()
}

/// Whatever the closure makes of the failure.
#[tokio::test]
async fn found_out_by_any_request_it_is_run_again() {
    for kind in ["query", "read", "dml", "batch", "commit"] {
        for failure in lost() {
            for handed_on in [false, true] {
                let (fake, client) = server().await;
                let (fake, failure) = (&fake, &failure);
                let runs = &AtomicUsize::new(0);
                let run = client.transaction().run(move |tx| async move {
                    let run = runs.fetch_add(1, Ordering::Relaxed);
                    statement(&tx, "query").await?;
                    if run == 0 {
                        fake.before_next(method(kind), [Step::Fail(failure.clone())]);
                    }
                    if kind == "commit" {
                        return Ok(());
                    }
                    match statement(&tx, kind).await {
                        Err(error) if handed_on => Err(error),
                        _ => Ok(()),
                    }
                });
                run.await.unwrap();
                assert_eq!(runs.load(Ordering::Relaxed), 2, "{kind} {failure:?}");
                let commits = if kind == "commit" { 2 } else { 1 };
                assert_eq!(count(fake, "Commit"), commits, "{kind} {failure:?}");
                // There is nothing to roll back, and no place to keep.
                assert_eq!(count(fake, "Rollback"), 0, "{kind} {failure:?}");
                let requests = fake.requests();
                let previous = requests.iter().map(|it| it.previous_transaction_id());
                assert!(previous.into_iter().all(<[u8]>::is_empty), "{kind}");
            }
        }
    }
}

/// The answer to the first commit was lost, and the second one does not find the transaction:
/// perhaps because it is committed.
#[tokio::test]
async fn not_behind_a_commit_whose_answer_is_lost() {
    for failure in lost() {
        let (fake, client) = server().await;
        let runs = &AtomicUsize::new(0);
        fake.before_next("Commit", [Step::Disconnect]);
        fake.before_next("Commit", [Step::Fail(failure.clone())]);
        let run = client.transaction().run(|tx| async move {
            runs.fetch_add(1, Ordering::Relaxed);
            statement(&tx, "dml").await
        });
        let error = run.await.unwrap_err();
        assert!(
            matches!(error.code(), Code::NotFound | Code::FailedPrecondition),
            "{error}"
        );
        assert_eq!(runs.load(Ordering::Relaxed), 1, "{failure:?}");
        assert_eq!(count(&fake, "Commit"), 2);

        // Mutations alone are no different.
        fake.take_requests();
        fake.before_next("Commit", [Step::Disconnect]);
        fake.before_next("Commit", [Step::Fail(failure.clone())]);
        let write = client.write([Mutation::delete("T").all()]);
        write.await.unwrap_err();
        assert_eq!(count(&fake, "BeginTransaction"), 1, "{failure:?}");

        fake.take_requests();
        fake.before_next("Commit", [Step::Fail(failure)]);
        let write = client.write([Mutation::delete("T").all()]);
        write.await.unwrap();
        assert_eq!(count(&fake, "BeginTransaction"), 2);
    }
}

/// Other failures with these codes are those of the statement.
#[tokio::test]
async fn other_failures_are_told() {
    for failure in [
        Failure::not_found("Table not found: Numbers"),
        Failure::failed_precondition("Foreign key `F` constraint violation"),
        Failure::invalid_argument("Invalid transaction ID"),
    ] {
        for kind in ["query", "read", "dml", "batch", "commit"] {
            let (fake, client) = server().await;
            let runs = &AtomicUsize::new(0);
            let (fake, failure) = (&fake, &failure);
            let run = client.transaction().run(move |tx| async move {
                runs.fetch_add(1, Ordering::Relaxed);
                statement(&tx, "query").await?;
                fake.before_next(method(kind), [Step::Fail(failure.clone())]);
                match kind {
                    "commit" => Ok(()),
                    kind => statement(&tx, kind).await,
                }
            });
            run.await.expect_err(kind);
            assert_eq!(runs.load(Ordering::Relaxed), 1, "{kind} {failure:?}");
        }
    }
}

/// A read-only transaction cannot be run again by the client: the words say what to do.
#[tokio::test]
async fn a_read_only_one_is_told_of() {
    for failure in lost() {
        let (fake, client) = server().await;
        let snapshot = client.read_only().start().unwrap();
        snapshot.query(SELECT).rows::<(i64,)>().await.unwrap();
        fake.before_next("ExecuteStreamingSql", [Step::Fail(failure)]);
        let error = snapshot.query(SELECT).rows::<(i64,)>().await.unwrap_err();
        assert!(error.to_string().contains("begin a new one"), "{error}");
    }
}
