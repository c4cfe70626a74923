//! Read-write transactions: what is sent, what is run again, and how they end.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spanner_rows::testing::{
    Answer, Failure, FakeSpanner, Gate, Message, Request, RequestTransaction, Rows, Step,
};
use spanner_rows::{
    Client, Code, DirectedReads, Error, ErrorKind, IsolationLevel, Mutation, OwnedValue, Priority,
    Replicas, RowStream, Transaction, TypeCode,
};

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = @n WHERE TRUE";
const RETURNING: &str = "DELETE FROM Numbers WHERE TRUE THEN RETURN n";
const BAD: &str = "SELECT nonsense";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    fake.on_query(SELECT, Rows::new(["n"], [(1_i64,), (2,)]));
    fake.on_query(UPDATE, Rows::changed(3));
    fake.on_query(RETURNING, Rows::new(["n"], [(7_i64,), (8,)]).row_count(2));
    fake.on_query(BAD, Failure::invalid_argument("no such thing"));
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,), (2,)]));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    fake.take_requests();
    (fake, client)
}

async fn all(mut rows: RowStream<(i64,)>) -> Result<Vec<i64>, Error> {
    let rows: Vec<(i64,)> = rows.try_collect().await?;
    Ok(rows.into_iter().map(|row| row.0).collect())
}

async fn select(tx: &Transaction) -> Result<Vec<i64>, Error> {
    all(tx.query(SELECT).rows().await?).await
}

async fn update(tx: &Transaction) -> Result<i64, Error> {
    tx.dml(UPDATE).param("n", 5_i64).execute().await
}

/// The requests in short: what, in which transaction, with which token.
fn calls(requests: &[Request]) -> Vec<String> {
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.replace("fake-transaction-", "")
    };
    let calls = requests.iter().map(|request| match request.method() {
        "Commit" => {
            let (token, _) = request.precommit_token().unwrap_or_default();
            format!(
                "Commit {} ({})",
                text(request.transaction_id()),
                text(token)
            )
        }
        "Rollback" => format!("Rollback {}", text(request.transaction_id())),
        "BeginTransaction" => format!("Begin after {:?}", text(request.previous_transaction_id())),
        "ExecuteStreamingSql" | "StreamingRead" | "ExecuteBatchDml" => {
            let what = match (request.method(), request.sql().split(' ').next()) {
                ("ExecuteStreamingSql", Some(word)) => word.to_owned(),
                (method, _) => method.to_owned(),
            };
            match request.transaction() {
                RequestTransaction::Begin => {
                    let previous = text(request.previous_transaction_id());
                    format!("{what} begin after {previous:?}")
                }
                RequestTransaction::Id(id) => format!("{what} in {}", text(&id)),
                other => format!("{what} {other:?}"),
            }
        }
        method => method.to_owned(),
    });
    calls.collect()
}

/// Waits for what happens in the background.
async fn until(fake: &FakeSpanner, method: &str) -> Vec<String> {
    for _ in 0..500 {
        let requests = fake.requests();
        if requests.iter().any(|it| it.method() == method) {
            return calls(&requests);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no {method}: {:?}", calls(&fake.requests()));
}

#[tokio::test]
async fn the_first_statement_begins_and_the_commit_ends() {
    let (fake, client) = server().await;
    let run = client.transaction().run_with_commit(|tx| async move {
        let rows = tx.query(SELECT).rows().await?;
        // A row may be alive while something else runs.
        let changed = update(&tx).await?;
        let read = tx.read("Numbers").columns(["n"]).all().rows().await?;
        let mut returned = tx.dml(RETURNING).rows::<(i64,)>().await?;
        let mut gone = Vec::new();
        returned.extend(&mut gone).await?;
        assert!(returned.stats().unwrap().row_count().is_some());
        tx.buffer([Mutation::insert("T").set("Id", 1_i64)])?;
        Ok::<_, Error>((all(rows).await?, changed, all(read).await?, gone))
    });
    let (answer, committed) = run.await.unwrap();
    assert_eq!(answer, (vec![1, 2], 3, vec![1, 2], vec![(7,), (8,)]));
    assert!(committed.timestamp.seconds() > 0);
    let requests = fake.take_requests();
    assert_eq!(
        calls(&requests),
        [
            "SELECT begin after \"\"",
            "UPDATE in 1",
            "StreamingRead in 1",
            "DELETE in 1",
            "Commit 1 (1 token 1)"
        ]
    );
    let numbers: Vec<_> = requests.iter().map(Request::seqno).collect();
    assert_eq!(numbers, [1, 2, 0, 3, 0]);
    assert_eq!(requests[4].mutations()[0].table, "T");
    assert!(requests[0].begins_read_write());
    for request in &requests {
        let header = |name| request.header(name).unwrap_or("").to_owned();
        assert_eq!(
            header("x-goog-spanner-route-to-leader"),
            "true",
            "{request:?}"
        );
        assert_eq!(header("google-cloud-resource-prefix"), fake.database());
        assert_eq!(request.session(), requests[0].session());
        assert_eq!((request.transaction_tag(), request.priority()), ("", None));
    }
}

#[tokio::test]
async fn options() {
    let (fake, _) = server().await;
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .directed_reads(DirectedReads::include([Replicas::at("us-east1")]));
    let client = client.connect().await.unwrap();
    fake.take_requests();
    let builder = client
        .transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .transaction_tag("move")
        .priority(Priority::Low)
        .exclude_from_change_streams(true)
        .return_commit_stats(true)
        .max_commit_delay(Duration::from_millis(7));
    let run = builder.run_with_commit(|tx| async move {
        select(&tx).await?;
        let query = tx
            .query(SELECT)
            .request_tag("mine")
            .priority(Priority::High);
        all(query.rows().await?).await?;
        tx.read::<(i64,)>("Numbers")
            .columns(["n"])
            .all()
            .rows()
            .await?;
        tx.batch_dml([tx.dml(UPDATE).param("n", 1_i64)]).await?;
        Ok::<_, Error>(())
    });
    let ((), committed) = run.await.unwrap();
    assert_eq!(committed.stats.unwrap().mutation_count, 0);
    let requests = fake.take_requests();
    assert_eq!(requests.len(), 5);
    for request in &requests {
        assert_eq!(request.transaction_tag(), "move", "{request:?}");
        assert_eq!(request.directed_reads(), None);
    }
    assert_eq!(
        requests[0].isolation_level(),
        Some(IsolationLevel::RepeatableRead)
    );
    assert!(requests[0].excluded_from_change_streams());
    assert_eq!(requests[1].request_tag(), "mine");
    let priorities: Vec<_> = requests.iter().map(Request::priority).collect();
    let low = Some(Priority::Low);
    assert_eq!(priorities[..3], [low, Some(Priority::High), low]);
    assert_eq!(priorities[4], low);
    assert!(requests[4].return_commit_stats());
    assert_eq!(
        requests[4].max_commit_delay(),
        Some(Duration::from_millis(7))
    );
}

#[tokio::test]
async fn a_transaction_of_mutations_or_of_nothing() {
    let (fake, client) = server().await;
    let run = client.transaction().run(|tx| async move {
        tx.buffer([Mutation::insert("T").set("Id", 1_i64)])?;
        let wrong = tx.buffer([Mutation::delete("T")]).unwrap_err();
        assert!(matches!(wrong.kind(), ErrorKind::Config(_)), "{wrong}");
        Ok::<_, Error>(())
    });
    run.await.unwrap();
    client
        .transaction()
        .run(|_| async { Ok::<_, Error>(()) })
        .await
        .unwrap();
    let requests = fake.take_requests();
    let (begin, again) = ("Begin after \"\"", "Begin after \"\"");
    let commits = ["Commit 1 (1 token 1)", "Commit 2 (2 token 1)"];
    assert_eq!(calls(&requests), [begin, commits[0], again, commits[1]]);
    assert_eq!(requests[0].mutation_key().unwrap().table, "T");
    assert_eq!(requests[1].mutations().len(), 1);
    assert_eq!(requests[2].mutation_key(), None);
}

#[tokio::test]
async fn others_wait_for_the_first_and_the_next_begins_when_it_fails() {
    let (fake, client) = server().await;
    let run = client.transaction().run(|tx| async move {
        let others: Vec<_> = (0..4)
            .map(|_| {
                let tx = tx.clone();
                tokio::spawn(async move { select(&tx).await.unwrap() })
            })
            .collect();
        for other in others {
            assert_eq!(other.await.unwrap(), [1, 2]);
        }
        Ok::<_, Error>(())
    });
    run.await.unwrap();
    let begun = calls(&fake.take_requests());
    let begins = begun.iter().filter(|it| it.contains("begin")).count();
    assert_eq!((begins, begun.len()), (1, 5), "{begun:?}");

    let run = client.transaction().run(|tx| async move {
        let error = tx.query(BAD).rows::<(i64,)>().await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        select(&tx).await
    });
    run.await.unwrap();
    assert_eq!(
        calls(&fake.take_requests()),
        [
            "SELECT begin after \"\"",
            "SELECT begin after \"\"",
            "Commit 2 (2 token 1)"
        ]
    );
}

#[tokio::test]
async fn the_token_with_the_highest_number_is_committed_with() {
    let (fake, client) = server().await;
    let first = Message::new()
        .columns([("n", TypeCode::Int64)])
        .transaction_id("t")
        .precommit_token("five", 5)
        .value(1_i64);
    let second = Message::new().value(2_i64).precommit_token("nine", 9);
    let third = Message::new().value(3_i64).precommit_token("seven", 7);
    let script = [first, second, third].map(Step::Message);
    fake.on_query(SELECT, Answer::script(script));
    client
        .transaction()
        .run(|tx| async move { select(&tx).await })
        .await
        .unwrap();
    assert_eq!(calls(&fake.take_requests())[1], "Commit t (nine)");
}

#[tokio::test]
async fn batches() {
    let (fake, client) = server().await;
    let run = client.transaction().run(|tx| async move {
        assert!(tx.batch_dml([]).await?.is_empty());
        let statement = |n: i64| tx.dml(UPDATE).param("n", n);
        assert_eq!(tx.batch_dml([statement(1), statement(2)]).await?, [3, 3]);
        let bad = tx.dml(BAD);
        let error = tx
            .batch_dml([statement(3), bad, statement(4)])
            .await
            .unwrap_err();
        assert_eq!(error.counts(), [3]);
        assert_eq!(error.error().code(), Code::InvalidArgument);
        assert!(
            error.to_string().starts_with("statement 2 of the batch"),
            "{error}"
        );
        update(&tx).await
    });
    run.await.unwrap();
    let requests = fake.take_requests();
    assert_eq!(
        calls(&requests),
        [
            "ExecuteBatchDml begin after \"\"",
            "ExecuteBatchDml in 1",
            "UPDATE in 1",
            "Commit 1 (1 token 2)"
        ]
    );
    assert_eq!(requests[0].statements(), [UPDATE, UPDATE]);
    let two = OwnedValue::String("2".to_owned());
    assert_eq!(requests[0].statement_param(1, "n"), Some(two));
    let numbers: Vec<_> = requests.iter().map(Request::seqno).collect();
    assert_eq!(numbers, [1, 2, 3, 0]);

    // One of its statements is aborted.
    let runs = AtomicUsize::new(0);
    let run = client.transaction().run(|tx| {
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let fake = &fake;
        async move {
            update(&tx).await?;
            if run == 0 {
                fake.on_query("DELETE", Failure::aborted("busy"));
                let error = tx.batch_dml([tx.dml("DELETE")]).await.unwrap_err();
                assert_eq!(error.error().code(), Code::Aborted);
            }
            Ok::<_, Error>(())
        }
    });
    run.await.unwrap();
    assert_eq!(calls(&fake.take_requests())[2], "UPDATE begin after \"2\"");
    assert_eq!(runs.into_inner(), 2);

    // A batch whose first statement fails begins nothing; one that is lost is sent again.
    fake.before_next("ExecuteBatchDml", []);
    fake.before_next(
        "ExecuteBatchDml",
        [Step::Fail(Failure::unavailable("away"))],
    );
    let run = client.transaction().run(|tx| async move {
        tx.batch_dml([tx.dml(BAD)]).await.unwrap_err();
        tx.batch_dml([tx.dml(UPDATE)]).await?;
        Ok::<_, Error>(())
    });
    run.await.unwrap();
    let begin = "ExecuteBatchDml begin after \"\"";
    assert_eq!(
        calls(&fake.take_requests()),
        [begin, begin, begin, "Commit 4 (4 token 1)"]
    );
}

/// ABORTED where a statement begins, in a statement, in a batch, in the middle of a stream,
/// and at the commit.
#[tokio::test]
async fn aborted_anywhere_is_run_again() {
    let wait = Duration::from_millis(60);
    let aborted = || Failure::aborted("busy").retry_after(wait);
    for place in ["begin", "statement", "batch", "stream", "commit"] {
        let (fake, client) = server().await;
        match place {
            "begin" => fake.before_next("ExecuteStreamingSql", [Step::Fail(aborted())]),
            "statement" => {
                fake.before_next("ExecuteStreamingSql", []);
                fake.before_next("ExecuteStreamingSql", [Step::Fail(aborted())]);
            }
            "batch" => fake.before_next("ExecuteBatchDml", [Step::Fail(aborted())]),
            "stream" => fake.on_query(
                SELECT,
                Rows::new(["n"], [(1_i64,), (2,)])
                    .message_size(1)
                    .interrupt(1, 1, Step::Fail(aborted())),
            ),
            _ => fake.before_next("Commit", [Step::Fail(aborted())]),
        }
        let runs = AtomicUsize::new(0);
        let started = Instant::now();
        let answer = client.transaction().run(|tx| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            async move {
                tx.buffer([Mutation::insert("T").set("Id", run as i64)])?;
                // Whatever the closure makes of an error.
                let numbers = select(&tx).await;
                let changed = update(&tx).await;
                tx.batch_dml([tx.dml(UPDATE)])
                    .await
                    .map_err(Error::from)
                    .ok();
                Ok::<_, Error>((numbers.unwrap_or_default(), changed.unwrap_or_default()))
            }
        });
        assert_eq!(answer.await.unwrap(), (vec![1, 2], 3), "{place}");
        assert_eq!(runs.into_inner(), 2, "{place}");
        assert!(started.elapsed() >= wait, "{place}");
        let requests = fake.take_requests();
        let last = requests.last().unwrap();
        assert_eq!(last.method(), "Commit");
        let buffered = last.mutations();
        assert_eq!(
            buffered.len(),
            1,
            "{place}: those of the run before are gone"
        );
        let calls = calls(&requests);
        let begins: Vec<_> = calls.iter().filter(|it| it.contains("begin")).collect();
        let previous = if place == "begin" { "" } else { "1" };
        assert_eq!(
            *begins[1],
            format!("SELECT begin after {previous:?}"),
            "{place}"
        );
        if place != "commit" {
            assert_eq!(calls.iter().filter(|it| it.contains("Commit")).count(), 1);
        }
    }
}

#[tokio::test]
async fn it_is_not_run_again_for_ever() {
    let (fake, client) = server().await;
    for _ in 0..100 {
        let failure = Failure::aborted("busy").retry_after(Duration::from_millis(300));
        fake.before_next("Commit", [Step::Fail(failure)]);
    }
    let builder = client.transaction().timeout(Duration::from_millis(1500));
    let error = builder
        .run(|tx| async move { select(&tx).await })
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    let cause = error.grpc_status().unwrap().cause().unwrap();
    assert_eq!(cause.code(), Code::Aborted, "{error}");
    let runs = fake.take_requests().len() / 2;
    assert!((2..=5).contains(&runs), "{runs}");

    let builder = client.transaction().timeout(Duration::from_millis(100));
    let run = builder.run(|tx| async move {
        select(&tx).await?;
        pending::<Result<(), Error>>().await
    });
    assert_eq!(run.await.unwrap_err().code(), Code::DeadlineExceeded);
    until(&fake, "Rollback").await;
}

#[tokio::test]
async fn an_error_of_the_closure_rolls_back() {
    #[derive(Debug)]
    enum Mine {
        Wrong,
        Spanner(#[expect(dead_code, reason = "for people to read")] Error),
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Self {
            Self::Spanner(error)
        }
    }

    let (fake, client) = server().await;
    let run = client.transaction().run(|tx| async move {
        select(&tx).await?;
        Err::<(), _>(Mine::Wrong)
    });
    assert!(matches!(run.await, Err(Mine::Wrong)));
    let (begin, rollback) = ("SELECT begin after \"\"", "Rollback 1");
    assert_eq!(calls(&fake.take_requests()), [begin, rollback]);
    // What has not begun need not be rolled back.
    let run = client
        .transaction()
        .run(|_| async { Err::<(), _>(Mine::Wrong) });
    assert!(matches!(run.await, Err(Mine::Wrong)));
    assert!(fake.take_requests().is_empty());
    // What is refused still holds its locks.
    let refused = Failure::failed_precondition("no");
    fake.before_next("Commit", [Step::Fail(refused)]);
    let run = client
        .transaction()
        .run(|tx| async move { select(&tx).await });
    assert_eq!(run.await.unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(until(&fake, "Rollback").await.last().unwrap(), "Rollback 2");
}

#[tokio::test]
async fn a_dropped_future_rolls_back() {
    let (fake, client) = server().await;
    let run = client.transaction().run(|tx| async move {
        select(&tx).await?;
        pending::<Result<(), Error>>().await
    });
    tokio::time::timeout(Duration::from_millis(200), run)
        .await
        .unwrap_err();
    let sent = until(&fake, "Rollback").await;
    assert_eq!(sent, ["SELECT begin after \"\"", "Rollback 1"]);

    // While the call is under way that begins.
    let (fake, client) = server().await;
    let gate = Gate::new();
    fake.before_next("ExecuteStreamingSql", [Step::Wait(gate.clone())]);
    let run = client
        .transaction()
        .run(|tx| async move { select(&tx).await });
    let run = tokio::spawn(run);
    gate.reached().await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    gate.open();
    let sent = until(&fake, "Rollback").await;
    assert_eq!(sent, ["SELECT begin after \"\"", "Rollback 1"]);
}

#[tokio::test]
async fn a_first_statement_that_is_dropped_has_begun() {
    let (fake, client) = server().await;
    let gate = Gate::new();
    fake.before_next("ExecuteStreamingSql", [Step::Wait(gate.clone())]);
    let run = client.transaction().run(|tx| {
        let gate = gate.clone();
        async move {
            let first = tx.query(SELECT).rows::<(i64,)>();
            let first = tokio::time::timeout(Duration::from_millis(50), first).await;
            first.unwrap_err();
            gate.open();
            select(&tx).await
        }
    });
    run.await.unwrap();
    let sent = calls(&fake.take_requests());
    assert_eq!(
        sent,
        [
            "SELECT begin after \"\"",
            "SELECT in 1",
            "Commit 1 (1 token 1)"
        ]
    );
}

#[tokio::test]
async fn a_handle_that_is_kept_does_nothing() {
    let (fake, client) = server().await;
    fake.on_query(
        SELECT,
        Rows::new(["n"], (0..50_i64).map(|n| (n,)))
            .message_size(1)
            .interrupt(1, 10, Step::Delay(Duration::from_millis(200))),
    );
    let run = client.transaction().run(|tx| async move {
        let rows = tx.query(SELECT).rows::<(i64,)>().await?;
        Ok::<_, Error>((tx, rows))
    });
    let (tx, mut rows) = run.await.unwrap();
    fake.take_requests();
    let over = |error: Error| {
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert!(error.to_string().contains("is over"), "{error}");
    };
    over(rows.try_collect::<Vec<_>>().await.unwrap_err());
    over(select(&tx).await.unwrap_err());
    over(update(&tx).await.unwrap_err());
    let read = tx.read::<(i64,)>("Numbers").columns(["n"]).all();
    over(read.rows().await.unwrap_err());
    over(tx.batch_dml([tx.dml(UPDATE)]).await.unwrap_err().into());
    over(tx.buffer([Mutation::delete("T").all()]).unwrap_err());
    assert_eq!(calls(&fake.take_requests()), [] as [&str; 0]);

    // Also of one that nothing has begun.
    let run = client.transaction().run(|tx| async { Ok::<_, Error>(tx) });
    let tx = run.await.unwrap();
    fake.take_requests();
    over(select(&tx).await.unwrap_err());
    assert!(fake.take_requests().is_empty());
}

#[tokio::test]
async fn a_stream_that_breaks_goes_on_in_its_transaction() {
    let (fake, client) = server().await;
    fake.on_query(
        SELECT,
        Rows::new(["n"], (0..9_i64).map(|n| (n,)))
            .message_size(1)
            .interrupt(1, 4, Step::Disconnect),
    );
    let run = client
        .transaction()
        .run(|tx| async move { select(&tx).await });
    assert_eq!(run.await.unwrap(), (0..9).collect::<Vec<_>>());
    let requests = fake.take_requests();
    assert_eq!(
        calls(&requests),
        [
            "SELECT begin after \"\"",
            "SELECT in 1",
            "Commit 1 (1 token 1)"
        ]
    );
    assert!(!requests[1].resume_token().is_empty());
    assert_eq!(requests[1].seqno(), requests[0].seqno());
}

#[tokio::test]
async fn a_lost_commit_answer_is_asked_for_again() {
    let (fake, client) = server().await;
    fake.before_next("Commit", [Step::Disconnect]);
    client
        .transaction()
        .run(|tx| async move { select(&tx).await })
        .await
        .unwrap();
    let commit = "Commit 1 (1 token 1)";
    assert_eq!(
        calls(&fake.take_requests()),
        ["SELECT begin after \"\"", commit, commit]
    );
}

#[tokio::test]
async fn a_lost_session_means_another_run() {
    let (fake, client) = server().await;
    let fake = Arc::new(fake);
    let runs = AtomicUsize::new(0);
    let run = client.transaction().run(|tx| {
        let (run, fake) = (runs.fetch_add(1, Ordering::Relaxed), fake.clone());
        async move {
            select(&tx).await?;
            if run == 0 {
                fake.forget_sessions();
            }
            update(&tx).await
        }
    });
    assert_eq!(run.await.unwrap(), 3);
    assert_eq!(
        calls(&fake.take_requests()),
        [
            "SELECT begin after \"\"",
            "UPDATE in 1",
            "CreateSession",
            "SELECT begin after \"\"",
            "UPDATE in 2",
            "Commit 2 (2 token 1)"
        ]
    );
    // Before it has begun, only the statement is sent again; at the commit, all of it.
    fake.forget_sessions();
    client
        .transaction()
        .run(|tx| async move { select(&tx).await })
        .await
        .unwrap();
    assert_eq!(
        calls(&fake.take_requests())[1..3],
        ["CreateSession", "SELECT begin after \"\""]
    );
    let runs = AtomicUsize::new(0);
    let run = client.transaction().run(|tx| {
        let (run, fake) = (runs.fetch_add(1, Ordering::Relaxed), fake.clone());
        async move {
            let rows = select(&tx).await;
            if run == 0 {
                fake.forget_sessions();
            }
            rows
        }
    });
    run.await.unwrap();
    assert_eq!(runs.into_inner(), 2);
}

/// The future of a transaction can be sent to another thread, also from generic code.
#[tokio::test]
async fn it_can_be_spawned() {
    async fn generic<T: Send + 'static>(
        client: Client,
        make: impl Fn(Vec<i64>) -> T + Send + Sync + 'static,
    ) -> T {
        let make = Arc::new(make);
        let run = async move {
            let run = client.transaction().run(|tx| {
                let make = make.clone();
                async move { Ok::<_, Error>(make(select(&tx).await?)) }
            });
            run.await
        };
        tokio::spawn(run).await.unwrap().unwrap()
    }
    let (_fake, client) = server().await;
    assert_eq!(generic(client, |rows| rows.len()).await, 2);
}
