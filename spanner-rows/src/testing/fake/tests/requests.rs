//! What the server tells about requests, and what it does before it answers.

use super::*;
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    BeginTransactionRequest, CommitRequest, KeyRange, KeySet, RollbackRequest, TransactionSelector,
    key_range,
};
use crate::{Type, TypeCode};

fn list(values: &[&str]) -> Bytes {
    let values = values.iter().map(|value| (*value).into()).collect();
    prost_types::ListValue { values }.encode_to_vec().into()
}

#[tokio::test]
async fn statements_are_taken_down() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT @p", four_messages());
    let mut client = Client::connect(&fake).await;
    let mut request = client.sql("SELECT @p");
    let params = prost_types::Struct {
        fields: [("p".to_owned(), "7".into())].into(),
    };
    request.params = params.encode_to_vec().into();
    let int64 = crate::proto::spanner::Type {
        code: 2,
        ..Default::default()
    };
    request.param_types.insert("p".to_owned(), int64);
    request.query_mode = 2;
    request.partition_token = Bytes::from_static(b"part");
    request.transaction = Some(TransactionSelector {
        selector: Some(Selector::Id(Bytes::from_static(b"txn"))),
    });
    let body = request.encode_to_vec();
    let mut with_header = tonic::Request::new(request);
    with_header
        .metadata_mut()
        .insert("x-goog-request-params", "session=s".parse().unwrap());
    let response = client.spanner.execute_streaming_sql(with_header).await;
    collect(response).await;

    let requests = fake.take_requests();
    let methods: Vec<_> = requests.iter().map(Request::method).collect();
    assert_eq!(methods, ["CreateSession", "ExecuteStreamingSql"]);
    assert_eq!(requests[0].database(), fake.database());
    assert!(requests[0].multiplexed());
    let request = &requests[1];
    assert_eq!(request.sql(), "SELECT @p");
    assert_eq!(request.session(), client.session);
    assert_eq!(request.param("p"), Some(text("7")));
    assert_eq!(request.param_type("p"), Some(Type::new(TypeCode::Int64)));
    assert_eq!(request.param("q"), None);
    assert_eq!(request.query_mode(), crate::QueryMode::Profile);
    assert_eq!(request.partition_token(), b"part");
    assert_eq!(request.header("x-goog-request-params"), Some("session=s"));
    assert_eq!(
        request.transaction(),
        RequestTransaction::Id(Bytes::from_static(b"txn"))
    );
    assert_eq!(request.body(), &body);
    assert_eq!(request.call(), 1);
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn reads_are_taken_down() {
    let fake = FakeSpanner::start().await;
    fake.on_read("T", four_messages());
    let mut client = Client::connect(&fake).await;
    let mut request = client.read("T", &["n"]);
    request.index = "I".to_owned();
    request.limit = 3;
    request.key_set = Some(KeySet {
        keys: vec![list(&["a", "b"]), list(&[])],
        ranges: vec![KeyRange {
            start_key_type: Some(key_range::StartKeyType::StartClosed(list(&["c"]))),
            end_key_type: Some(key_range::EndKeyType::EndOpen(list(&["d"]))),
        }],
        all: false,
    });
    client.run_read(request).await;

    let request = &fake.requests()[1];
    assert_eq!(request.method(), "StreamingRead");
    assert_eq!((request.table(), request.index()), ("T", "I"));
    assert_eq!(request.columns(), ["n"]);
    assert_eq!(request.limit(), 3);
    assert_eq!(request.keys(), [vec![text("a"), text("b")], vec![]]);
    let ranges = request.key_ranges();
    assert_eq!(ranges.len(), 1);
    assert_eq!(ranges[0].start, [text("c")]);
    assert_eq!(ranges[0].end, [text("d")]);
    assert!(ranges[0].start_closed && !ranges[0].end_closed);
    assert!(!request.all_keys());
    assert_eq!(request.transaction(), RequestTransaction::Unspecified);
}

#[tokio::test]
async fn steps_before_the_next_call_of_a_method() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    let mut client = Client::connect(&fake).await;
    let method = "ExecuteStreamingSql";
    fake.before_next(method, [Step::Fail(Failure::unavailable("first"))]);
    fake.before_next(method, [Step::Delay(Duration::from_millis(1))]);
    let instead = Step::Message(Message::new().value("instead"));
    fake.before_next(method, [instead]);

    let (_, end) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(end.unwrap().message(), "first");
    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), four_values());
    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), [text("instead")]);

    fake.before_next("Commit", [Step::Fail(Failure::aborted("again"))]);
    let commit = CommitRequest {
        session: client.session.clone(),
        ..CommitRequest::default()
    };
    let end = client.spanner.commit(commit.clone()).await.unwrap_err();
    assert_eq!(end.code(), Code::Aborted);
    assert!(client.spanner.commit(commit).await.is_ok());
}

#[tokio::test]
async fn sessions_can_be_forgotten() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    let mut client = Client::connect(&fake).await;
    fake.forget_sessions();

    let (_, end) = client.run(client.sql("SELECT 1")).await;
    let end = end.unwrap();
    assert_eq!(end.code(), Code::NotFound);
    assert_eq!(
        end.message(),
        format!("Session not found: {}", client.session)
    );
    let status = crate::proto::rpc::Status::decode(end.details()).unwrap();
    let resource = &status.details[0];
    assert!(resource.type_url.ends_with("google.rpc.ResourceInfo"));

    let new = Client::connect(&fake).await;
    assert_ne!(new.session, client.session);
}

#[tokio::test]
async fn a_session_of_another_database_is_refused() {
    let fake = FakeSpanner::start().await;
    let mut client = Client::connect(&fake).await;
    let request = CreateSessionRequest {
        database: "projects/p/instances/i/databases/other".to_owned(),
        session: None,
    };
    let end = client.spanner.create_session(request).await.unwrap_err();
    assert_eq!(end.code(), Code::NotFound);
}

#[tokio::test]
async fn transactions_begin_and_end() {
    let fake = FakeSpanner::start().await;
    let mut client = Client::connect(&fake).await;
    let begin = BeginTransactionRequest {
        session: client.session.clone(),
        ..BeginTransactionRequest::default()
    };
    let first = client
        .spanner
        .begin_transaction(begin.clone())
        .await
        .unwrap();
    let second = client.spanner.begin_transaction(begin).await.unwrap();
    let first = first.into_inner();
    assert_ne!(first.id, second.into_inner().id);
    let rollback = RollbackRequest {
        session: client.session.clone(),
        transaction_id: first.id,
    };
    client.spanner.rollback(rollback).await.unwrap();
}
