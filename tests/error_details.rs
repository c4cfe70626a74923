//! What a server says of a failure beside its code and its words, from every kind of call.

use std::time::Duration;

use spanner_rows::testing::{Failure, FakeSpanner, Rows, Step};
use spanner_rows::{Client, Code, Error, ErrorDetails, Mutation, RetrySettings};

const SQL: &str = "UPDATE T SET N = 1 WHERE TRUE";

async fn client(fake: &FakeSpanner) -> Client {
    Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .connect()
        .await
        .unwrap()
}

fn failure() -> Failure {
    Failure::failed_precondition("Foreign key constraint `OfParent` is violated")
        .error_info("REASON", "spanner.googleapis.com", [("table", "T")])
        .resource("spanner.googleapis.com/Table", "T")
        .quota_violation("project:p", "too much")
        .field_violation("sql", "wrong")
        .precondition_violation("KIND", "T", "no")
        .localized_message("de-CH", "so nicht")
        .help("more", "https://example.com/more")
        .detail("google.rpc.DebugInfo", b"x".to_vec())
}

fn check(error: &Error, of: &str) {
    assert_eq!(error.code(), Code::FailedPrecondition, "{of}: {error}");
    let ErrorDetails {
        retry_delay,
        errors,
        resources,
        quota_violations,
        field_violations,
        precondition_violations,
        localized_messages,
        help_links,
        others,
        ..
    } = error.details();
    assert_eq!(retry_delay, None, "{of}");
    assert_eq!(errors[0].reason, "REASON", "{of}");
    assert_eq!(errors[0].domain, "spanner.googleapis.com");
    assert_eq!(errors[0].metadata["table"], "T");
    assert_eq!(resources[0].resource_type, "spanner.googleapis.com/Table");
    assert_eq!(resources[0].name, "T");
    assert_eq!(quota_violations[0].subject, "project:p");
    assert_eq!(quota_violations[0].description, "too much");
    assert_eq!(field_violations[0].field, "sql");
    assert_eq!(field_violations[0].description, "wrong");
    assert_eq!(precondition_violations[0].kind, "KIND");
    assert_eq!(precondition_violations[0].subject, "T");
    assert_eq!(precondition_violations[0].description, "no");
    assert_eq!(localized_messages[0].locale, "de-CH");
    assert_eq!(localized_messages[0].message, "so nicht");
    assert_eq!(help_links[0].description, "more");
    assert_eq!(help_links[0].url, "https://example.com/more");
    assert_eq!(
        others[0].type_url,
        "type.googleapis.com/google.rpc.DebugInfo"
    );
    assert_eq!(&others[0].value[..], b"x");
}

#[tokio::test]
async fn of_every_kind_of_call() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    fake.on_query("Q", failure());
    let error = client.query("Q").rows::<(i64,)>().await.unwrap_err();
    check(&error, "at the start of a query");

    let rows = Rows::new(["N"], (1..=6_i64).map(|n| (n,)));
    fake.on_query(
        "R",
        rows.message_size(8)
            .interrupt_every(2, Step::Fail(failure())),
    );
    let mut rows = client.query("R").rows::<(i64,)>().await.unwrap();
    let error = loop {
        match rows.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the failure is not told"),
            Err(error) => break error,
        }
    };
    check(&error, "inside a result");

    fake.before_next("Commit", [Step::Fail(failure())]);
    let error = client.write([Mutation::delete("T").all()]).await;
    check(&error.unwrap_err(), "of a commit");

    fake.on_query(SQL, failure());
    let run = client.transaction().run(|tx| async move {
        let batch = tx.batch_dml([tx.dml(SQL)]).await;
        check(batch.unwrap_err().error(), "of a statement of a batch");
        let executed = tx.dml(SQL).execute().await;
        executed.map(drop)
    });
    check(&run.await.unwrap_err(), "of DML");

    fake.on_batch_write([Step::not_committed([0], failure())]);
    let groups = [[Mutation::delete("T").all()]];
    let mut results = client.batch_write(groups).start().unwrap();
    let result = results.next().await.unwrap().unwrap();
    check(&result.outcome.unwrap_err(), "of a group of a batch write");
}

#[tokio::test]
async fn the_delay_of_an_aborted_transaction() {
    let fake = FakeSpanner::start().await;
    let client = client(&fake).await;
    let delay = Duration::from_secs(3600);
    let aborted = || Failure::aborted("conflict").retry_after(delay);
    fake.before_next("Commit", [Step::Fail(aborted())]);
    let run = client.transaction().retry(RetrySettings::never());
    let run = run.run(|_| async { Ok::<_, Error>(()) });
    let error = run.await.unwrap_err();
    assert_eq!(error.retry_delay(), Some(delay));
    assert_eq!(error.details().retry_delay, Some(delay));
    assert!(error.is_retryable());
}
