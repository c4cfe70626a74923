//! On the emulator, where there is one.

use tonic::Code as GrpcCode;

use super::*;
use crate::Code;
use crate::proto::spanner::ExecuteSqlRequest;
use crate::proto::spanner::spanner_client::SpannerClient;

const TABLE: &str = "CREATE TABLE T (Id INT64 NOT NULL, Name STRING(MAX)) PRIMARY KEY (Id)";

/// The values of the result's messages; the emulator sends small results in one.
async fn query(database: &Database, sql: &str) -> Result<Vec<String>, tonic::Status> {
    let mut client = SpannerClient::new(database.emulator.channel.clone());
    let request = ExecuteSqlRequest {
        session: database.session.clone(),
        sql: sql.to_owned(),
        ..ExecuteSqlRequest::default()
    };
    let mut stream = client.execute_streaming_sql(request).await?.into_inner();
    let mut values = Vec::new();
    while let Some(message) = stream.message().await? {
        assert!(!message.chunked_value);
        for value in message.values {
            let value = prost::Message::decode(value).unwrap();
            let value: prost_types::Value = value;
            values.push(match value.kind {
                Some(prost_types::value::Kind::StringValue(text)) => text,
                other => format!("{other:?}"),
            });
        }
    }
    Ok(values)
}

#[tokio::test]
async fn what_dml_writes_a_query_reads() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let database = emulator.create_database(&[TABLE]).await.unwrap();
    assert_eq!(database.endpoint(), emulator.endpoint());

    let changed = database
        .execute("INSERT INTO T (Id, Name) VALUES (1, 'one'), (2, 'two')")
        .await;
    assert_eq!(changed.unwrap(), 2);
    let changed = database
        .execute_all(&[
            "UPDATE T SET Name = 'three' WHERE Id = 2",
            "DELETE FROM T WHERE TRUE",
            "INSERT INTO T (Id, Name) VALUES (3, 'last')",
        ])
        .await;
    assert_eq!(changed.unwrap(), [1, 2, 1]);

    let values = query(&database, "SELECT Id, Name FROM T").await.unwrap();
    assert_eq!(values, ["3", "last"]);
}

#[tokio::test]
async fn a_statement_that_fails_changes_nothing_and_is_told() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let database = emulator.create_database(&[TABLE]).await.unwrap();

    let result = database
        .execute_all(&[
            "INSERT INTO T (Id) VALUES (1)",
            "UPDATE U SET a = 1 WHERE TRUE",
        ])
        .await;
    let error = result.unwrap_err();
    let status = error.status().unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("Table not found: U"), "{status}");
    assert!(error.to_string().contains("Table not found: U"));
    assert!(!error.is_absent());

    // The first statement's transaction is gone, and so are its locks, also for
    // another session.
    let name = database.name().to_owned();
    let other = Database::open(emulator, name).await.unwrap();
    let changed = other.try_execute(&["INSERT INTO T (Id) VALUES (1)"]).await;
    assert_eq!(changed.unwrap(), [1]);
}

#[tokio::test]
async fn ddl_can_come_later() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let database = emulator.create_database(&[]).await.unwrap();
    database.update_ddl(&[TABLE]).await.unwrap();
    assert!(
        query(&database, "SELECT Id FROM T")
            .await
            .unwrap()
            .is_empty()
    );
    database
        .update_ddl(&["CREATE INDEX ByName ON T (Name)"])
        .await
        .unwrap();
    let error = database.update_ddl(&["CREATE TABLE"]).await.unwrap_err();
    assert!(error.status().is_some(), "{error}");
    let error = emulator.create_database(&["CREATE TABLE"]).await;
    assert!(error.is_err());
}

#[tokio::test]
async fn databases_are_apart_and_the_process_is_shared() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let other = Emulator::start().await.unwrap();
    assert_eq!(emulator.host(), other.host());
    let first = emulator.create_database(&[TABLE]).await.unwrap();
    let second = other.create_database(&[]).await.unwrap();
    assert_ne!(first.name(), second.name());
    let error = query(&second, "SELECT Id FROM T").await.unwrap_err();
    assert_eq!(error.code(), GrpcCode::InvalidArgument);

    // A database is enough to keep it running.
    drop((emulator, other, second));
    assert!(query(&first, "SELECT Id FROM T").await.unwrap().is_empty());
}

#[tokio::test]
async fn the_other_dialect() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let table = "CREATE TABLE \"T\" (id bigint PRIMARY KEY, price numeric)";
    let postgres = || emulator.new_database().dialect(Dialect::PostgreSql);
    let database = postgres()
        .ddl(&[table])
        .ddl(&["CREATE INDEX by_price ON \"T\" (id)"])
        .create()
        .await
        .unwrap();
    database
        .execute("INSERT INTO \"T\" (id, price) VALUES (1, 'NaN'), (2, NULL)")
        .await
        .unwrap();
    let sql = "SELECT price::text FROM \"T\" WHERE price = 'NaN'::numeric";
    assert_eq!(query(&database, sql).await.unwrap(), ["NaN"]);

    // DDL is not asked for, comes later, and is in the words of the dialect.
    let database = postgres().create().await.unwrap();
    database.update_ddl(&[table]).await.unwrap();
    assert!(database.update_ddl(&[TABLE]).await.is_err());
    let error = postgres().ddl(&[TABLE]).create().await.unwrap_err();
    assert!(error.status().is_some(), "{error}");
}
