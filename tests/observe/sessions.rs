//! Sessions, headers of the program, and columns that are not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use spanner_rows::testing::{Failure, Rows, Step};
use spanner_rows::{Client, Code, ErrorKind, Mutation, Row, SpannerRow};

use super::{Observed, observed, observed_with};

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

/// Counts the requests, and gives each of them its number.
fn numbered(client: spanner_rows::ClientBuilder) -> spanner_rows::ClientBuilder {
    let requests = Arc::new(AtomicUsize::new(0));
    client.call_headers(move |headers| {
        let number = requests.fetch_add(1, Ordering::Relaxed);
        let span = tracing::Span::current();
        let id = span.id().map_or(0, |id| id.into_u64());
        headers.insert("traceparent", &format!("{number}-{id}"));
    })
}

#[test]
fn headers_of_the_program_go_with_every_attempt() {
    observed_with(numbered, async |it: &Observed| {
        it.fake.on_query(SQL, rows());
        let later = Step::Fail(Failure::unavailable("later"));
        it.fake.before_next("ExecuteStreamingSql", [later]);
        let mut stream = it.client.query(SQL).rows::<Row>().await.unwrap();
        stream.for_each(|_| {}).await.unwrap();
        let write = [Mutation::delete("Numbers").all()];
        it.client.write(write).await.unwrap();
        let sent: Vec<_> = it
            .fake
            .take_requests()
            .iter()
            .map(|request| {
                let header = request.header("traceparent").expect("it is sent");
                let (number, _) = header.split_once('-').unwrap();
                format!("{} {number}", request.method())
            })
            .collect();
        // The closure was called for `connect` and for the session before.
        assert_eq!(
            sent,
            [
                "ExecuteStreamingSql 2",
                "ExecuteStreamingSql 2",
                "BeginTransaction 3",
                "Commit 4",
            ]
        );
        for name in ["spanner.query", "spanner.begin", "spanner.commit"] {
            assert_eq!(it.log.span(name).entered, 1, "for the closure");
        }
    });
}

#[test]
fn a_header_that_cannot_be_sent_is_told() {
    observed_with(
        |client| client,
        async |it: &Observed| {
            let client = || Client::builder(it.fake.database()).endpoint(it.fake.endpoint());
            let reserved = client().call_headers(|headers| headers.insert("Authorization", "x"));
            let error = reserved.connect().await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Config(_)));
            assert_eq!(
                error.to_string(),
                "the header `authorization` is one that the client or the connection sets: `call_headers` cannot"
            );

            let calls = AtomicUsize::new(0);
            let later = client().call_headers(move |headers| {
                if calls.fetch_add(1, Ordering::Relaxed) > 1 {
                    headers.insert("x-mine", "ü");
                }
            });
            let client = later.connect().await.unwrap();
            it.fake.take_requests();
            let error = client.query(SQL).rows::<Row>().await.unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.to_string().contains("`x-mine`"), "{error}");
            assert!(it.fake.take_requests().is_empty(), "nothing is sent");
        },
    );
}
