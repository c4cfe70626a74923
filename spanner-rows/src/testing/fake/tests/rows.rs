//! Answers made of rows.

use super::*;
use crate::proto::spanner::result_set_stats::RowCount;
use crate::proto::spanner::transaction_options::{Mode, ReadOnly};
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{TransactionOptions, TransactionSelector};
use crate::{Type, TypeCode};

#[tokio::test]
async fn rust_rows_arrive_with_their_columns() {
    let fake = FakeSpanner::start().await;
    let singers = [(1_i64, "Marc", Some(2.5)), (2, "Catalina", None)];
    fake.on_query("SELECT 1", Rows::new(["Id", "Name", "Score"], singers));
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql(" SELECT 1\n")).await;

    assert!(end.is_none(), "{end:?}");
    assert_eq!(messages.len(), 1);
    assert_eq!(column_names(&messages[0]), ["Id", "Name", "Score"]);
    let fields = &messages[0].metadata.as_ref().unwrap().row_type;
    let codes = fields.as_ref().unwrap().fields.iter();
    let codes: Vec<_> = codes.map(|f| f.r#type.as_ref().unwrap().code).collect();
    assert_eq!(codes, [2, 6, 3]);
    assert_eq!(
        values(&messages),
        [
            text("1"),
            text("Marc"),
            OwnedValue::Number(2.5),
            text("2"),
            text("Catalina"),
            OwnedValue::Null,
        ]
    );
}

#[tokio::test]
async fn no_rows_are_one_message_with_metadata() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", Rows::new(["Id"], Vec::<(i64,)>::new()));
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;

    assert!(end.is_none());
    assert_eq!(messages.len(), 1);
    assert_eq!(column_names(&messages[0]), ["Id"]);
    assert!(messages[0].resume_token.is_empty());
}

#[tokio::test]
async fn a_token_brings_exactly_what_follows() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    let mut client = Client::connect(&fake).await;
    let (all, _) = client.run(client.sql("SELECT 1")).await;
    assert_eq!(all.len(), 4);
    assert!(all[3].resume_token.is_empty(), "the last has no token");

    for (i, message) in all[..3].iter().enumerate() {
        let mut request = client.sql("SELECT 1");
        request.resume_token = message.resume_token.clone();
        assert_eq!(request.resume_token.len(), 40);
        let (rest, end) = client.run(request).await;
        assert!(end.is_none());
        assert_eq!(values(&rest), four_values()[i + 1..]);
        assert!(rest[0].metadata.is_none());
    }
}

#[tokio::test]
async fn tokens_are_where_they_were_asked_for() {
    let fake = FakeSpanner::start().await;
    let mut client = Client::connect(&fake).await;
    let mut tokens_of = async |rows: Rows| {
        fake.on_query("SELECT 1", rows);
        let (messages, _) = client.run(client.sql("SELECT 1")).await;
        let tokens = messages.iter().map(|m| m.resume_token.len());
        tokens.collect::<Vec<_>>()
    };

    assert_eq!(
        tokens_of(four_messages().token_every(2)).await,
        [0, 40, 0, 0]
    );
    assert_eq!(
        tokens_of(four_messages().token_every(usize::MAX)).await,
        [0; 4]
    );
    let chosen = four_messages().tokens_in([0, 3]).token_len(16);
    assert_eq!(tokens_of(chosen).await, [16, 0, 0, 16]);
}

#[tokio::test]
async fn a_token_of_another_result_is_refused() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    let other = Rows::new(["m"], [("a",), ("b",), ("c",)]);
    fake.on_query("SELECT 2", other.cut(Cut::BetweenRows).message_size(1));
    let mut client = Client::connect(&fake).await;
    let (messages, _) = client.run(client.sql("SELECT 1")).await;

    let mut request = client.sql("SELECT 2");
    request.resume_token = messages[0].resume_token.clone();
    let (_, end) = client.run(request).await;
    assert_eq!(end.unwrap().code(), Code::InvalidArgument);
    let mut request = client.sql("SELECT 1");
    request.resume_token = Bytes::from_static(b"nonsense");
    let (_, end) = client.run(request).await;
    assert_eq!(end.unwrap().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn metadata_last_and_stats_as_asked_for() {
    let fake = FakeSpanner::start().await;
    let rows = four_messages()
        .metadata_on_resume(true)
        .mark_last(true)
        .row_count(7)
        .query_stats([("rows_returned", "4")]);
    fake.on_query("SELECT 1", rows);
    let mut client = Client::connect(&fake).await;

    let (all, _) = client.run(client.sql("SELECT 1")).await;
    let last: Vec<_> = all.iter().map(|message| message.last).collect();
    assert_eq!(last, [false, false, false, true]);
    assert!(all[2].stats.is_none());
    let stats = all[3].stats.as_ref().unwrap();
    assert_eq!(stats.row_count, Some(RowCount::RowCountExact(7)));
    let query_stats = prost_types::Struct::decode(stats.query_stats.clone()).unwrap();
    assert_eq!(query_stats.fields["rows_returned"], "4".into());

    let mut request = client.sql("SELECT 1");
    request.resume_token = all[1].resume_token.clone();
    let (rest, _) = client.run(request).await;
    assert_eq!(column_names(&rest[0]), ["n"]);
    assert_eq!(values(&rest), four_values()[2..]);
}

#[tokio::test]
async fn a_transaction_that_begins_has_an_id_and_a_time() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    let mut client = Client::connect(&fake).await;
    let options = TransactionOptions {
        mode: Some(Mode::ReadOnly(ReadOnly {
            return_read_timestamp: true,
            ..ReadOnly::default()
        })),
        ..TransactionOptions::default()
    };
    let mut transaction_of = async |selector: Selector| {
        let mut request = client.sql("SELECT 1");
        request.transaction = Some(TransactionSelector {
            selector: Some(selector),
        });
        let (messages, _) = client.run(request).await;
        messages[0].metadata.as_ref().unwrap().transaction.clone()
    };

    let begun = transaction_of(Selector::Begin(options.clone()))
        .await
        .unwrap();
    assert!(!begun.id.is_empty());
    assert!(begun.read_timestamp.is_some());
    let single = transaction_of(Selector::SingleUse(options)).await.unwrap();
    assert!(single.id.is_empty());
    assert!(single.read_timestamp.is_some());
    assert_eq!(transaction_of(Selector::Id(begun.id)).await, None);
}

#[tokio::test]
async fn reads_get_the_columns_and_the_number_of_rows_they_ask_for() {
    let fake = FakeSpanner::start().await;
    let rows = [("1", "a", true), ("2", "b", false)];
    fake.on_read("T", Rows::new(["x", "y", "z"], rows));
    let of_index = Rows::new(["x"], [("indexed",)]);
    fake.on_index_read("T", "ByX", of_index);
    let mut client = Client::connect(&fake).await;

    let (messages, _) = client.run_read(client.read("T", &["z", "x"])).await;
    assert_eq!(column_names(&messages[0]), ["z", "x"]);
    let expected = [
        OwnedValue::Bool(true),
        text("1"),
        OwnedValue::Bool(false),
        text("2"),
    ];
    assert_eq!(values(&messages), expected);

    let mut request = client.read("T", &["y"]);
    request.limit = 1;
    request.index = "ByY".to_owned();
    let (messages, _) = client.run_read(request).await;
    assert_eq!(values(&messages), [text("a")]);

    let mut request = client.read("T", &["x"]);
    request.index = "ByX".to_owned();
    let (messages, _) = client.run_read(request).await;
    assert_eq!(values(&messages), [text("indexed")]);

    let (_, end) = client.run_read(client.read("T", &["x", "w"])).await;
    let end = end.unwrap();
    assert_eq!(end.code(), Code::NotFound);
    assert_eq!(end.message(), "Column not found in table T: w");
}

#[tokio::test]
async fn execute_sql_answers_with_the_whole_result() {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT 1", four_messages());
    fake.on_query("DELETE", Rows::changed(3));
    let mut client = Client::connect(&fake).await;

    let request = client.sql("SELECT 1");
    let result = client
        .spanner
        .execute_sql(request)
        .await
        .unwrap()
        .into_inner();
    let rows = result.rows.iter().map(|row| {
        let list = prost_types::ListValue::decode(row.clone()).unwrap();
        convert::from_list(list).unwrap()
    });
    assert_eq!(rows.flatten().collect::<Vec<_>>(), four_values());

    let request = client.sql("DELETE");
    let result = client
        .spanner
        .execute_sql(request)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        result.stats.unwrap().row_count,
        Some(RowCount::RowCountExact(3))
    );
    assert!(result.metadata.unwrap().row_type.unwrap().fields.is_empty());
}

#[tokio::test]
async fn cells_of_ten_mebibytes_in_one_message() {
    let fake = FakeSpanner::start().await;
    let cell = "x".repeat(10 << 20);
    let rows = Rows::new(["a", "b"], [(cell.as_str(), cell.as_str())]);
    fake.on_query("SELECT 1", rows.message_size(usize::MAX));
    let mut client = Client::connect(&fake).await;

    let (messages, end) = client.run(client.sql("SELECT 1")).await;
    assert!(end.is_none(), "{end:?}");
    assert_eq!(messages.len(), 1);
    assert!(values(&messages) == [text(&cell), text(&cell)]);
}

#[test]
#[should_panic(expected = "another number of columns")]
fn names_have_to_be_as_many_as_columns() {
    let _ = Rows::new(["a"], [(1_i64, 2_i64)]);
}

#[test]
#[should_panic(expected = "a row has 1 values, but there are 2 columns")]
fn rows_have_to_be_as_wide_as_there_are_columns() {
    let columns = [
        ("a", Type::new(TypeCode::Int64)),
        ("b", Type::new(TypeCode::Int64)),
    ];
    let _ = Rows::of_values(columns, [[OwnedValue::Null]]);
}
