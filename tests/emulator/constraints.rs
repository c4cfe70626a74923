//! Violated constraints: which code, which words, and what is in the details.

use spanner_rows::testing::Database;
use spanner_rows::{Client, Code, Error, Mutation};

use crate::support;

const DDL: [&str; 3] = [
    "CREATE TABLE Parents (Id INT64 NOT NULL, Code STRING(3), Amount INT64 NOT NULL, CONSTRAINT PositiveAmount CHECK (Amount > 0)) PRIMARY KEY (Id)",
    "CREATE UNIQUE INDEX ParentsByCode ON Parents (Code)",
    "CREATE TABLE Children (Id INT64 NOT NULL, Parent INT64, CONSTRAINT OfParent FOREIGN KEY (Parent) REFERENCES Parents (Id)) PRIMARY KEY (Id)",
];

async fn tables() -> Option<(Database, Client)> {
    let (database, client) = support::database(&DDL).await?;
    client.write([parent(1, "a", 1)]).await.unwrap();
    client.write([child(1, 1)]).await.unwrap();
    Some((database, client))
}

fn parent(id: i64, code: &str, amount: i64) -> Mutation {
    let insert = Mutation::insert("Parents").set("Id", id);
    insert.set("Code", code).set("Amount", amount)
}

fn child(id: i64, parent: i64) -> Mutation {
    Mutation::insert("Children")
        .set("Id", id)
        .set("Parent", parent)
}

async fn by_dml(client: &Client, sql: &str) -> Error {
    let run = client.transaction().run(|tx| async move {
        let executed = tx.dml(sql).execute().await;
        // Some constraints are checked at the commit.
        executed.map(drop)
    });
    run.await.expect_err(sql)
}

/// The emulator puts nothing into the details: not in these failures, and not in others that
/// are tested here. Names and keys are in the message only.
#[tokio::test]
async fn what_is_told_of_a_violated_constraint() {
    let Some((_database, client)) = tables().await else {
        return;
    };
    let cases = [
        (
            parent(1, "b", 1),
            "INSERT INTO Parents (Id, Code, Amount) VALUES (1, 'b', 1)",
            Code::AlreadyExists,
            // Of a key that is there twice, DML names the column and not the table.
            ["Parents", "pk#Id:1"],
        ),
        (
            parent(2, "a", 1),
            "INSERT INTO Parents (Id, Code, Amount) VALUES (2, 'a', 1)",
            Code::AlreadyExists,
            ["ParentsByCode", "ParentsByCode"],
        ),
        (
            parent(2, "b", 0),
            "INSERT INTO Parents (Id, Code, Amount) VALUES (2, 'b', 0)",
            Code::OutOfRange,
            ["PositiveAmount", "PositiveAmount"],
        ),
        (
            child(2, 7),
            "INSERT INTO Children (Id, Parent) VALUES (2, 7)",
            Code::FailedPrecondition,
            ["OfParent", "OfParent"],
        ),
        (
            Mutation::delete("Parents").key(1_i64),
            "DELETE FROM Parents WHERE Id = 1",
            Code::FailedPrecondition,
            ["OfParent", "OfParent"],
        ),
    ];
    for (mutation, sql, code, names) in cases {
        let written = client.write([mutation]).await.expect_err(sql);
        let executed = by_dml(&client, sql).await;
        for (error, name) in [written, executed].into_iter().zip(names) {
            assert_eq!(error.code(), code, "{sql}: {error}");
            assert!(error.to_string().contains(name), "{sql}: {error}");
            assert!(!error.is_retryable(), "{sql}: {error}");
            assert!(error.details().is_empty(), "{sql}: {:?}", error.details());
        }
    }
}
