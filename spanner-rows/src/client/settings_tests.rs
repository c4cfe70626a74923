//! What the settings of queries and reads become, field by field, read with messages
//! that others generated.

use std::time::Duration;

use googleapis_tonic_google_spanner_v1::google::spanner::v1 as theirs;
use prost::Message as _;
use theirs::directed_read_options::Replicas;
use theirs::transaction_options::read_only::TimestampBound as Sent;
use theirs::transaction_options::{Mode, ReadOnly};
use theirs::transaction_selector::Selector;

use super::request_tests::{Named, sent, sent_read};
use super::test_transport::{DATABASE, Recorder, SESSION};
use crate::error::ErrorKind;
use crate::{
    Client, DirectedReads, LockHint, OrderBy, Priority, QueryMode, ReplicaType, Timestamp,
    TimestampBound,
};

fn single_use(bound: Sent) -> Option<theirs::TransactionSelector> {
    let read_only = ReadOnly {
        timestamp_bound: Some(bound),
        return_read_timestamp: true,
    };
    let options = theirs::TransactionOptions {
        mode: Some(Mode::ReadOnly(read_only)),
        ..Default::default()
    };
    Some(theirs::TransactionSelector {
        selector: Some(Selector::SingleUse(options)),
    })
}

/// Every bound, and what it is on the wire.
fn bounds() -> [(TimestampBound, Sent); 5] {
    let time = Timestamp::new(-5, 7).unwrap();
    let sent_time = prost_types::Timestamp {
        seconds: -5,
        nanos: 7,
    };
    let staleness = Duration::new(300, 9);
    let sent_staleness = prost_types::Duration {
        seconds: 300,
        nanos: 9,
    };
    [
        (TimestampBound::Strong, Sent::Strong(true)),
        (
            TimestampBound::ReadTimestamp(time),
            Sent::ReadTimestamp(sent_time),
        ),
        (
            TimestampBound::ExactStaleness(staleness),
            Sent::ExactStaleness(sent_staleness),
        ),
        (
            TimestampBound::MinReadTimestamp(time),
            Sent::MinReadTimestamp(sent_time),
        ),
        (
            TimestampBound::MaxStaleness(staleness),
            Sent::MaxStaleness(sent_staleness),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_bound_of_queries_and_reads() {
    for (bound, expected) in bounds() {
        let query = |client: &Client| client.query("SELECT 1").timestamp_bound(bound);
        let (call, request) = sent(query).await;
        assert_eq!(request.transaction, single_use(expected), "{bound}");
        assert_eq!(request.sql, "SELECT 1");
        assert!(call.headers.get("x-goog-spanner-route-to-leader").is_none());

        let read = |client: &Client| {
            let read = client.read::<Named>("T").all();
            read.timestamp_bound(bound)
        };
        let (call, request) = sent_read(read).await;
        assert_eq!(request.transaction, single_use(expected), "{bound}");
        assert_eq!(request.table, "T");
        assert!(call.headers.get("x-goog-spanner-route-to-leader").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_staleness_beyond_all_time_is_told_without_sending() {
    let recorder = Recorder::sessions_only();
    let query = recorder.client().query("SELECT 1");
    let query = query.timestamp_bound(TimestampBound::MaxStaleness(Duration::MAX));
    let error = query.rows::<(i64,)>().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    assert_eq!(recorder.calls().len(), 0);
}

fn directed(replicas: Replicas) -> Option<theirs::DirectedReadOptions> {
    Some(theirs::DirectedReadOptions {
        replicas: Some(replicas),
    })
}

fn selection(location: &str, kind: i32) -> theirs::directed_read_options::ReplicaSelection {
    theirs::directed_read_options::ReplicaSelection {
        location: location.to_owned(),
        r#type: kind,
    }
}

#[tokio::test(start_paused = true)]
async fn every_option_of_a_query() {
    let replicas = DirectedReads::include([
        crate::Replicas::at("us-east1"),
        crate::Replicas::at("us-east4").of_type(ReplicaType::ReadOnly),
        crate::Replicas::any().of_type(ReplicaType::ReadWrite),
    ]);
    let (_, request) = sent(|client| {
        client
            .query("SELECT 1")
            .mode(QueryMode::WithPlanAndStats)
            .optimizer_version("latest")
            .optimizer_statistics_package("auto_2026")
            .priority(Priority::Low)
            .request_tag("export")
            .directed_reads(replicas.without_failover())
            .data_boost(true)
    })
    .await;
    let expected = theirs::ExecuteSqlRequest {
        session: SESSION.to_owned(),
        transaction: single_use(Sent::Strong(true)),
        sql: "SELECT 1".to_owned(),
        query_mode: 4,
        query_options: Some(theirs::execute_sql_request::QueryOptions {
            optimizer_version: "latest".to_owned(),
            optimizer_statistics_package: "auto_2026".to_owned(),
        }),
        request_options: Some(theirs::RequestOptions {
            priority: 1,
            request_tag: "export".to_owned(),
            ..Default::default()
        }),
        directed_read_options: directed(Replicas::IncludeReplicas(
            theirs::directed_read_options::IncludeReplicas {
                replica_selections: vec![
                    selection("us-east1", 0),
                    selection("us-east4", 2),
                    selection("", 1),
                ],
                auto_failover_disabled: true,
            },
        )),
        data_boost_enabled: true,
        ..Default::default()
    };
    assert_eq!(request, expected);
}

#[tokio::test(start_paused = true)]
async fn every_option_of_a_read() {
    let (_, request) = sent_read(|client| {
        client
            .read::<Named>("T")
            .all()
            .limit(5)
            .order_by(OrderBy::NoOrder)
            .lock_hint(LockHint::Exclusive)
            .priority(Priority::Medium)
            .request_tag("point")
            .directed_reads(DirectedReads::exclude([crate::Replicas::at("x")]))
            .data_boost(true)
    })
    .await;
    let expected = theirs::ReadRequest {
        session: SESSION.to_owned(),
        transaction: single_use(Sent::Strong(true)),
        table: "T".to_owned(),
        columns: vec!["Id".to_owned(), "HomeCity".to_owned()],
        key_set: Some(theirs::KeySet {
            all: true,
            ..Default::default()
        }),
        limit: 5,
        request_options: Some(theirs::RequestOptions {
            priority: 2,
            request_tag: "point".to_owned(),
            ..Default::default()
        }),
        directed_read_options: directed(Replicas::ExcludeReplicas(
            theirs::directed_read_options::ExcludeReplicas {
                replica_selections: vec![selection("x", 0)],
            },
        )),
        data_boost_enabled: true,
        order_by: 2,
        lock_hint: 2,
        ..Default::default()
    };
    assert_eq!(request, expected);
}

#[tokio::test(start_paused = true)]
async fn every_value_of_an_enum() {
    let modes = [
        (QueryMode::Normal, 0),
        (QueryMode::Plan, 1),
        (QueryMode::Profile, 2),
        (QueryMode::WithStats, 3),
        (QueryMode::WithPlanAndStats, 4),
    ];
    for (mode, number) in modes {
        let (_, request) = sent(|client| client.query("SELECT 1").mode(mode)).await;
        assert_eq!(request.query_mode, number);
    }
    for (priority, number) in [
        (Priority::Low, 1),
        (Priority::Medium, 2),
        (Priority::High, 3),
    ] {
        let (_, request) = sent(|client| client.query("SELECT 1").priority(priority)).await;
        assert_eq!(request.request_options.unwrap().priority, number);
    }
    for (order, number) in [(OrderBy::PrimaryKey, 1), (OrderBy::NoOrder, 2)] {
        let read = |client: &Client| client.read::<Named>("T").all().order_by(order);
        assert_eq!(sent_read(read).await.1.order_by, number);
    }
    for (hint, number) in [(LockHint::Shared, 1), (LockHint::Exclusive, 2)] {
        let read = |client: &Client| client.read::<Named>("T").all().lock_hint(hint);
        assert_eq!(sent_read(read).await.1.lock_hint, number);
    }
}

/// The client's settings are those of requests that have none of their own.
#[tokio::test(start_paused = true)]
async fn settings_of_the_client() {
    let recorder = Recorder::sessions_only();
    let builder = Client::builder(DATABASE)
        .priority(Priority::Low)
        .directed_reads(DirectedReads::include([crate::Replicas::at("here")]))
        .optimizer_version("7")
        .optimizer_statistics_package("package")
        .end_to_end_tracing(true);
    let client = builder
        .build(recorder.clone(), "nowhere".to_owned())
        .unwrap();
    client.session().await.unwrap();
    let traced = |headers: &http::HeaderMap| headers["x-goog-spanner-end-to-end-tracing"] == "true";
    assert!(traced(&recorder.last().headers));

    let query = client.query("SELECT 1");
    query.clone().rows::<(i64,)>().await.unwrap_err();
    let call = recorder.last();
    assert!(traced(&call.headers));
    let request = theirs::ExecuteSqlRequest::decode(call.body).unwrap();
    assert_eq!(request.request_options.unwrap().priority, 1);
    assert!(request.directed_read_options.is_some());
    let options = request.query_options.unwrap();
    assert_eq!(options.optimizer_version, "7");
    assert_eq!(options.optimizer_statistics_package, "package");

    let query = query.priority(Priority::High).optimizer_version("8");
    let query = query.directed_reads(DirectedReads::exclude([crate::Replicas::at("there")]));
    query.rows::<(i64,)>().await.unwrap_err();
    let request = theirs::ExecuteSqlRequest::decode(recorder.last().body).unwrap();
    assert_eq!(request.request_options.unwrap().priority, 3);
    let options = request.query_options.unwrap();
    assert_eq!(options.optimizer_version, "8");
    assert_eq!(options.optimizer_statistics_package, "package");
    let replicas = request.directed_read_options.unwrap().replicas;
    assert!(matches!(replicas, Some(Replicas::ExcludeReplicas(_))));

    let read = client.read::<Named>("T").all();
    read.rows().await.unwrap_err();
    let request = theirs::ReadRequest::decode(recorder.last().body).unwrap();
    assert_eq!(request.request_options.unwrap().priority, 1);
    assert!(request.directed_read_options.is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_traced_unless_asked_for() {
    let (call, _) = sent(|client| client.query("SELECT 1")).await;
    assert!(
        !call
            .headers
            .contains_key("x-goog-spanner-end-to-end-tracing")
    );
}

/// Each part of the optimizer's options, request options included, stands alone.
#[tokio::test(start_paused = true)]
async fn one_option_of_several() {
    let options = |version: &str, package: &str| {
        Some(theirs::execute_sql_request::QueryOptions {
            optimizer_version: version.to_owned(),
            optimizer_statistics_package: package.to_owned(),
        })
    };
    let (_, request) = sent(|client| client.query("SELECT 1").optimizer_version("5")).await;
    assert_eq!(request.query_options, options("5", ""));
    let package = |client: &Client| client.query("SELECT 1").optimizer_statistics_package("p");
    let (_, request) = sent(package).await;
    assert_eq!(request.query_options, options("", "p"));
    let (_, request) = sent(|client| client.query("SELECT 1").request_tag("tag")).await;
    let request = request.request_options.unwrap();
    assert_eq!((&*request.request_tag, request.priority), ("tag", 0));
}
