//! Transactions, commits, batch write and partitioned DML.

use std::time::Duration;

use spanner_rows::testing::{Answer, Failure, Rows, Step};
use spanner_rows::{Code, Error, Mutation};

use super::{Observed, SECRET, observed};

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = @n WHERE TRUE";

fn mutation() -> Mutation {
    Mutation::insert("Numbers").set("text", SECRET)
}

fn aborted() -> Step {
    Step::Fail(Failure::aborted(SECRET).retry_after(Duration::from_millis(1)))
}

/// The spans in the order in which they began: `name in parent: outcome`.
fn spans(it: &Observed) -> Vec<String> {
    let spans = it.log.spans().into_iter();
    let spans = spans.filter(|span| span.name != "spanner.create_session");
    spans
        .map(|span| {
            assert!(span.is_closed(), "{span:?}");
            let name = span.name.trim_start_matches("spanner.");
            let parent = span
                .parent
                .map_or("", |it| it.trim_start_matches("spanner."));
            format!("{name} in {parent:?}: {}", span.get("spanner.outcome"))
        })
        .collect()
}

async fn select_and_update(it: &Observed) -> Result<i64, Error> {
    let transaction = it.client.transaction().transaction_tag("billing");
    transaction
        .run(async |tx| {
            let mut rows = tx.query(SELECT).rows::<(i64,)>().await?;
            rows.for_each(|_| {}).await?;
            tx.dml(UPDATE).param("n", SECRET).execute().await
        })
        .await
}

fn answers(it: &Observed) {
    it.fake.on_query(SELECT, Rows::new(["n"], [(1_i64,), (2,)]));
    it.fake.on_query(UPDATE, Rows::changed(3));
}

#[test]
fn a_transaction_is_a_span_with_those_of_its_requests() {
    observed(async |it: &Observed| {
        answers(it);
        assert_eq!(select_and_update(it).await.unwrap(), 3);
        assert_eq!(
            spans(it),
            [
                "transaction in \"\": end",
                "query in \"transaction\": end",
                "query in \"transaction\": end",
                "commit in \"transaction\": end",
            ]
        );
        for span in it.log.spans() {
            let tag = match span.name {
                "spanner.transaction" | "spanner.query" => "billing",
                _ => "",
            };
            assert_eq!(span.get("spanner.transaction_tag"), tag, "{}", span.name);
        }
        assert_eq!(
            it.log.span("spanner.transaction").get("spanner.attempts"),
            "1"
        );
        assert_eq!(
            it.counts.get("requests{operation=transaction,outcome=end}"),
            1
        );
        assert_eq!(it.counts.get("requests{operation=commit,outcome=end}"), 1);
        assert_eq!(it.counts.get("requests{operation=query,outcome=end}"), 2);
    });
}

#[test]
fn a_transaction_that_is_aborted_is_told_once_for_each_run() {
    observed(async |it: &Observed| {
        answers(it);
        it.fake.before_next("Commit", [aborted()]);
        select_and_update(it).await.unwrap();
        assert_eq!(
            it.log.events_in("spanner.transaction"),
            [
                "DEBUG request sent attempt=1 resumed=false",
                "DEBUG attempt failed, another one follows attempt=1 cause=aborted code=ABORTED resumed=false",
                "DEBUG request sent attempt=2 resumed=false",
                "DEBUG request over outcome=end",
            ]
        );
        assert_eq!(
            it.log.span("spanner.transaction").get("spanner.attempts"),
            "2"
        );
        let retries = it.counts.all("retries");
        assert_eq!(retries, [("retries{cause=aborted}".to_owned(), 1)]);
        assert_eq!(
            it.counts.get("requests{operation=transaction,outcome=end}"),
            1
        );
        assert_eq!(it.counts.get("requests{operation=commit,outcome=error}"), 1);
        assert_eq!(it.counts.get("requests{operation=commit,outcome=end}"), 1);
        let loud = it.log.events().into_iter();
        let loud: Vec<_> = loud.filter(|it| it.level <= tracing::Level::INFO).collect();
        assert!(loud.is_empty(), "it was made good: {loud:?}");
    });
}

#[test]
fn a_transaction_that_is_given_up_was_rolled_back() {
    observed(async |it: &Observed| {
        answers(it);
        let run = it.client.transaction().run(async |tx| {
            tx.dml(UPDATE).param("n", SECRET).execute().await?;
            Err::<(), _>(Error::from(spanner_rows::Status::new(
                Code::Unknown,
                SECRET,
            )))
        });
        run.await.unwrap_err();
        assert_eq!(
            spans(it),
            [
                "transaction in \"\": rolled_back",
                "query in \"transaction\": end",
                "rollback in \"transaction\": end",
            ]
        );
        let counted = it
            .counts
            .get("requests{operation=transaction,outcome=rolled_back}");
        assert_eq!(counted, 1);
    });
}

#[test]
fn a_transaction_whose_future_is_dropped_says_so() {
    observed(async |it: &Observed| {
        it.fake.on_query(SELECT, [Step::Hang]);
        let run = tokio::time::timeout(Duration::from_millis(20), select_and_update(it));
        run.await.unwrap_err();
        let span = it.log.span("spanner.transaction");
        assert_eq!(span.get("spanner.outcome"), "dropped");
        let counted = it
            .counts
            .get("requests{operation=transaction,outcome=dropped}");
        assert_eq!(counted, 1);
    });
}

#[test]
fn a_refused_commit_is_an_error_of_both() {
    observed(async |it: &Observed| {
        answers(it);
        let refused = Step::Fail(Failure::already_exists(SECRET));
        it.fake.before_next("Commit", [refused]);
        let error = select_and_update(it).await.unwrap_err();
        assert_eq!(error.code(), Code::AlreadyExists);
        for name in ["spanner.commit", "spanner.transaction"] {
            let span = it.log.span(name);
            assert_eq!(span.get("spanner.outcome"), "error", "{name}");
            assert_eq!(span.get("db.response.status_code"), "ALREADY_EXISTS");
        }
    });
}

#[test]
fn a_batch_of_dml_is_a_request() {
    observed(async |it: &Observed| {
        answers(it);
        it.fake.before_next(
            "ExecuteBatchDml",
            [Step::Fail(Failure::unavailable("later"))],
        );
        let run = it.client.transaction().run(async |tx| {
            let statements = [tx.dml(UPDATE).param("n", SECRET)];
            tx.batch_dml(statements).await.map_err(Error::from)
        });
        assert_eq!(run.await.unwrap(), [3]);
        let span = it.log.span("spanner.batch_dml");
        assert_eq!(span.parent, Some("spanner.transaction"));
        assert_eq!(span.get("rpc.method"), "ExecuteBatchDml");
        assert_eq!(span.get("spanner.attempts"), "2");
        assert_eq!(span.get("spanner.outcome"), "end");
        assert_eq!(it.counts.get("retries{cause=unavailable}"), 1);
    });
}

#[test]
fn a_write_has_its_calls_in_it() {
    observed(async |it: &Observed| {
        it.fake
            .before_next("Commit", [Step::Fail(Failure::unavailable("later"))]);
        it.client.write([mutation()]).await.unwrap();
        assert_eq!(
            spans(it),
            [
                "write in \"\": end",
                "begin in \"write\": end",
                "commit in \"write\": end",
            ]
        );
        assert_eq!(it.log.span("spanner.commit").get("spanner.attempts"), "2");
        assert_eq!(it.log.span("spanner.write").get("spanner.attempts"), "1");
        assert_eq!(it.counts.get("retries{cause=unavailable}"), 1);
    });
}

#[test]
fn a_batch_write_is_one_request_over_its_attempts() {
    observed(async |it: &Observed| {
        let scripts = [
            vec![
                Step::committed([0]),
                Step::Fail(Failure::unavailable("later")),
            ],
            vec![Step::committed([0])],
        ];
        it.fake.on_batch_write(Answer::scripts(scripts));
        let groups = [[mutation()], [mutation()]];
        let mut results = it.client.batch_write(groups).start().unwrap();
        while results.next().await.unwrap().is_some() {}
        let span = it.log.span("spanner.batch_write");
        assert_eq!(span.get("spanner.outcome"), "end");
        assert_eq!(span.get("spanner.attempts"), "2");
        assert_eq!(
            it.counts.get("requests{operation=batch_write,outcome=end}"),
            1
        );
        assert_eq!(it.counts.get("retries{cause=unavailable}"), 1);
    });
}

#[test]
fn partitioned_dml_is_one_request_over_its_runs() {
    observed(async |it: &Observed| {
        it.fake.on_query(UPDATE, Rows::changed_at_least(7));
        it.fake.before_next("ExecuteStreamingSql", [aborted()]);
        let dml = it.client.partitioned_dml(UPDATE).param("n", SECRET);
        assert_eq!(dml.execute().await.unwrap(), 7);
        assert_eq!(
            spans(it),
            [
                "partitioned_dml in \"\": end",
                "query in \"partitioned_dml\": error",
                "query in \"partitioned_dml\": end",
            ]
        );
        let span = it.log.span("spanner.partitioned_dml");
        assert_eq!(span.get("spanner.attempts"), "2");
        assert_eq!(it.counts.get("retries{cause=aborted}"), 1);
    });
}
