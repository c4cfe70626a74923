//! Sessions, and columns that are not read.

use spanner_rows::testing::Rows;
use spanner_rows::{Row, SpannerRow};

use super::{Observed, observed};

const SQL: &str = "SELECT n, text, extra FROM Numbers";

fn rows() -> Rows {
    Rows::new(
        ["n", "text", "extra"],
        [(1_i64, "one", true), (2, "two", false)],
    )
}

#[derive(SpannerRow)]
#[allow(dead_code, reason = "only its columns count")]
struct Two {
    extra: bool,
    n: i64,
}

#[test]
fn making_the_session_is_a_request() {
    observed(async |it: &Observed| {
        let span = it.log.span("spanner.create_session");
        assert_eq!(span.get("spanner.outcome"), "end");
        assert_eq!(span.get("rpc.method"), "CreateSession");
        assert_eq!(span.get("db.namespace"), it.fake.database());
        assert_eq!(it.log.events_outside(), ["DEBUG session made"]);
        let counted = it
            .counts
            .get("requests{operation=create_session,outcome=end}");
        assert_eq!(counted, 1);
    });
}

#[test]
fn a_lost_session_is_told_and_replaced() {
    observed(async |it: &Observed| {
        it.fake.on_query(SQL, rows());
        it.fake.forget_sessions();
        it.log.clear();
        let mut stream = it.client.query(SQL).rows::<Row>().await.unwrap();
        stream.for_each(|_| {}).await.unwrap();
        let outside = it.log.events_outside();
        assert_eq!(
            outside,
            [
                "INFO session lost, another one is made",
                "DEBUG session made"
            ]
        );
        let events = it.log.events_in("spanner.query");
        let again = "DEBUG attempt failed, another one follows attempt=1 cause=session_lost code=NOT_FOUND resumed=false";
        assert_eq!(events[1], again);
        let retries = it.counts.all("retries");
        assert_eq!(retries, [("retries{cause=session_lost}".to_owned(), 1)]);
        let sessions = it
            .counts
            .get("requests{operation=create_session,outcome=end}");
        assert_eq!(sessions, 2);
    });
}

#[test]
fn columns_that_no_field_reads_are_named_once() {
    observed(async |it: &Observed| {
        it.fake.on_query(SQL, rows().message_size(8));
        it.log.clear();
        let mut stream = it.client.query(SQL).rows::<Two>().await.unwrap();
        stream.for_each(|_| {}).await.unwrap();
        let told: Vec<_> = it.log.events_outside();
        let row = std::any::type_name::<Two>();
        let text = "DEBUG columns are sent that the row does not read";
        assert_eq!(told, [format!("{text} columns=text row={row}")]);

        // A row that reads all of them.
        it.log.clear();
        let mut stream = it.client.query(SQL).rows::<Row>().await.unwrap();
        stream.for_each(|_| {}).await.unwrap();
        assert!(it.log.events_outside().is_empty());
    });
}
