//! Scripts, failures, and what is said about things unknown.

use super::*;
use crate::TypeCode;

#[tokio::test]
async fn messages_are_sent_as_written() {
    let fake = FakeSpanner::start().await;
    let first = Message::new()
        .columns([("s", TypeCode::String)])
        .transaction_id("txn")
        .value("one")
        .chunked()
        .resume_token("t1");
    let second = Message::new()
        .values([text("two"), OwnedValue::Null])
        .precommit_token("p", 4)
        .row_count_lower_bound(9)
        .last();
    let raw = second.encode();
    fake.on_query("SELECT 1", [Step::Message(first), Step::Raw(raw.clone())]);
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert!(end.is_none());
    assert_eq!(column_names(&messages[0]), ["s"]);
    let transaction = messages[0].metadata.as_ref().unwrap().transaction.clone();
    assert_eq!(transaction.unwrap().id, "txn");
    assert!(messages[0].chunked_value);
    assert_eq!(messages[0].resume_token, "t1");
    assert_eq!(messages[1].encode_to_vec(), raw);
    assert!(messages[1].last);
    assert_eq!(messages[1].precommit_token.as_ref().unwrap().seq_num, 4);
    assert_eq!(
        values(&messages),
        [text("one"), text("two"), OwnedValue::Null]
    );
}

#[tokio::test]
async fn malformed_messages_reach_the_client() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", [Step::Raw(Bytes::from_static(b"\xff\xff"))]);
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert!(messages.is_empty());
    let end = end.unwrap();
    assert_eq!(end.code(), Code::Internal);
    assert!(end.message().contains("decode"), "{end:?}");
}

#[tokio::test]
async fn calls_get_scripts_in_turn() {
    let fake = FakeSpanner::start().await;
    let message = |value| Step::Message(Message::new().value(value));
    fake.on_query(
        "SELECT 1",
        Answer::scripts([vec![message("a")], vec![message("b"), message("c")]]),
    );
    let mut client = Client::connect(&fake).await;

    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), [text("a")]);
    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), [text("b"), text("c")]);
    let (_, end) = client.run(client.sql("SELECT 1")).await;
    let end = end.unwrap();
    assert_eq!(end.code(), Code::FailedPrecondition);
    assert!(end.message().contains("2 scripts"), "{end:?}");

    // A new answer begins anew.
    fake.on_query("SELECT 1", Answer::scripts([vec![message("d")]]));
    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), [text("d")]);
}

#[tokio::test]
async fn failures_come_with_text_and_details() {
    let fake = FakeSpanner::start().await;
    let failure = Failure::aborted("ünlucky 100 %")
        .retry_after(Duration::from_millis(20))
        .retry_after_trailer(Duration::from_secs(3))
        .trailer("x-more", "yes");
    fake.on_query("SELECT 1", failure.clone());
    fake.on_query(
        "SELECT 2",
        [
            Step::Message(Message::new().value("a")),
            Step::Fail(failure),
        ],
    );
    let mut client = Client::connect(&fake).await;

    for (sql, count) in [("SELECT 1", 0), ("SELECT 2", 1)] {
        let (messages, end) = client.run(client.sql(sql)).await;
        assert_eq!(messages.len(), count);
        let end = end.unwrap();
        assert_eq!(end.code(), Code::Aborted);
        assert_eq!(end.message(), "ünlucky 100 %");
        let status = crate::proto::rpc::Status::decode(end.details()).unwrap();
        assert!(status.details[0].type_url.ends_with("google.rpc.RetryInfo"));
        assert_eq!(end.metadata().get("x-more").unwrap(), "yes");
        let trailer = end.metadata().get_bin("google.rpc.retryinfo-bin").unwrap();
        let trailer = trailer.to_bytes().unwrap();
        let retry = crate::proto::rpc::RetryInfo::decode(trailer).unwrap();
        assert_eq!(retry.retry_delay.unwrap().seconds, 3);
    }
}

#[tokio::test]
async fn what_is_unknown_is_said_with_what_is_known() {
    let fake = FakeSpanner::start().await;
    let mut client = Client::connect(&fake).await;
    let (_, end) = client.run(client.sql("SELECT 'x'")).await;
    let end = end.unwrap();
    assert_eq!(end.code(), Code::InvalidArgument);
    assert_eq!(
        end.message(),
        "the fake server has no answer for the statement \"SELECT 'x'\"; it has answers for nothing"
    );

    fake.on_query("SELECT 2", four_messages());
    fake.on_read("T", four_messages());
    let (_, end) = client.run_read(client.read("U", &["a"])).await;
    assert_eq!(
        end.unwrap().message(),
        "the fake server has no answer for reads of table \"U\"; it has answers for the statement \"SELECT 2\"; reads of table \"T\""
    );
}

#[tokio::test]
async fn a_handler_answers_the_rest() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    fake.on_any(|request| match request.sql() {
        "SELECT 2" => {
            let row = (request.sql().to_owned(), request.call().to_string());
            Some(Rows::new(["sql", "call"], [row]).into())
        }
        _ => None,
    });
    let mut client = Client::connect(&fake).await;

    let (messages, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(values(&messages), four_values());
    for call in ["1", "2"] {
        let (messages, _) = client.run(client.sql("SELECT 2")).await;
        assert_eq!(values(&messages), [text("SELECT 2"), text(call)]);
    }
    let (_, end) = client.run(client.sql("SELECT 3")).await;
    assert_eq!(end.unwrap().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn methods_without_an_answer_are_unimplemented() {
    let fake = FakeSpanner::start().await;
    let endpoint = Endpoint::from_shared(fake.endpoint()).unwrap();
    let mut any = tonic::client::Grpc::new(endpoint.connect().await.unwrap());
    any.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/google.spanner.v1.Spanner/ListSessions");
    let codec = tonic_prost::ProstCodec::<(), ()>::default();
    let end = any.unary(tonic::Request::new(()), path, codec).await;
    assert_eq!(end.unwrap_err().code(), Code::Unimplemented);
}
