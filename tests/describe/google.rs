//! Statements, tables, views and functions of the GoogleSQL dialect.

use jiff::Timestamp;
use spanner_rows::testing::{Database, Emulator};
use spanner_rows::{Client, Description, Error, ErrorKind, Query, Row};

use crate::generated;

generated!(google_table, Everything);
generated!(google_table_owned, Everything);
generated!(google_view, Named);
generated!(google_schema, Order);
generated!(google_tables, Table);
generated!(google_statement, ResultRow);
generated!(google_changes, Change);

const DDL: [&str; 6] = [
    "CREATE TABLE Everything (
        SecondId INT64 NOT NULL,
        FirstId STRING(36),
        Bool BOOL NOT NULL,
        Double FLOAT64,
        Single FLOAT32,
        Text STRING(MAX) NOT NULL,
        Blob BYTES(MAX),
        Instant TIMESTAMP NOT NULL,
        Day DATE,
        Price NUMERIC NOT NULL,
        Document JSON,
        Tags ARRAY<STRING(MAX)> NOT NULL,
        Days ARRAY<DATE>,
        type INT64,
    ) PRIMARY KEY (FirstId, SecondId DESC)",
    "CREATE VIEW Named SQL SECURITY INVOKER AS SELECT e.SecondId, e.Text FROM Everything AS e",
    "CREATE TABLE Singers (Id INT64 NOT NULL, Name STRING(MAX)) PRIMARY KEY (Id)",
    // Of `Everything`, whose key can be NULL, it stops the emulator.
    "CREATE CHANGE STREAM Changes FOR Singers",
    "CREATE SCHEMA shop",
    "CREATE TABLE shop.Orders (Id INT64 NOT NULL, Everything STRING(MAX)) PRIMARY KEY (Id)",
];

const INSERT: [&str; 4] = [
    "INSERT INTO Everything
        (SecondId, FirstId, Bool, Double, Single, Text, Blob, Instant, Day, Price, Document, Tags, Days, type) VALUES
        (1, 'a', true, 1.5, 2.5, 'Zoë', b'\\xff', TIMESTAMP '2024-02-29T12:00:00Z', DATE '2024-02-29', 3.25,
            JSON '[1]', ['x', NULL], [DATE '2024-02-29'], 7)",
    "INSERT INTO Everything (SecondId, FirstId, Bool, Text, Instant, Price, Tags) VALUES
        (2, NULL, false, '', TIMESTAMP '2024-02-29T12:00:00Z', 0, [])",
    "INSERT INTO shop.Orders (Id, Everything) VALUES (1, NULL)",
    "INSERT INTO Singers (Id, Name) VALUES (1, 'Zoë')",
];

const NULLS: &str = "first_id: None, bool: false, double: None, single: None, text: \"\", blob: None, \
    instant: 2024-02-29T12:00:00Z, day: None, price: Numeric { scaled: 0 }, document: None, tags: [], days: None, r#type: None";

async fn database() -> Option<(Database, Client)> {
    let emulator = Emulator::start_or_skip().await?;
    let database = emulator.create_database(&DDL).await.expect("valid DDL");
    database.execute_all(&INSERT).await.expect("valid DML");
    let client = Client::builder(database.name()).endpoint(database.endpoint());
    Some((
        database,
        client.connect().await.expect("the database exists"),
    ))
}

#[tokio::test]
async fn a_table() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let description = client.describe_table("everything").await.unwrap();
    google_table::is(&description);
    let query = client.query("SELECT * FROM Everything ORDER BY SecondId DESC");
    let rows = google_table::read(query.clone()).await;
    assert!(rows[0].contains(&NULLS.replace("r#", "")), "{rows:?}");
    assert!(
        rows[1].contains("text: \"Zoë\"") && rows[1].contains("tags: [Some(\"x\"), None]"),
        "{rows:?}"
    );

    google_table_owned::is(&description.clone().owned());
    assert_eq!(google_table_owned::read(query).await, rows);
    // By its full name, which has an empty schema.
    let same = client.describe_table(".Everything").await.unwrap();
    assert_eq!(same.to_string(), description.to_string());
}

#[tokio::test]
async fn a_view_and_tables_in_schemas() {
    let Some((_database, client)) = database().await else {
        return;
    };
    google_view::is(&client.describe_table("Named").await.unwrap());
    let rows = google_view::read(client.query("SELECT * FROM Named")).await;
    assert_eq!(rows.len(), 2);

    for name in ["Orders", "shop.Orders", "SHOP.orders"] {
        google_schema::is(&client.describe_table(name).await.unwrap());
    }
    let rows = google_schema::read(client.query("SELECT * FROM shop.Orders")).await;
    assert_eq!(rows, ["Order { id: 1, everything: None }"]);

    google_tables::is(
        &client
            .describe_table("INFORMATION_SCHEMA.TABLES")
            .await
            .unwrap(),
    );
    let rows = google_tables::read(client.query("SELECT * FROM INFORMATION_SCHEMA.TABLES")).await;
    assert!(
        rows.iter().any(|row| row.contains("\"Everything\"")),
        "{rows:?}"
    );
}

#[tokio::test]
async fn a_table_that_is_not_there() {
    let Some((_database, client)) = database().await else {
        return;
    };
    for name in ["Nothing", "shop.Everything", "", "Every`thing"] {
        let error: Error = client.describe_table(name).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error}");
        assert!(
            error
                .to_string()
                .contains(&format!("no table or view `{name}`")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_statement() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let sql = "SELECT e.FirstId, e.Text AS `a b`, COUNT(*), e.Text AS type, 1 AS `Self`, 2 AS `1st`, 3 AS `ünï`,
            ARRAY(SELECT AS STRUCT 1 AS Id, [DATE '2024-02-29'] AS days) AS Parts
        FROM Everything AS e WHERE e.SecondId >= @least AND e.Text IN UNNEST(@texts) GROUP BY e.FirstId, e.Text";
    let description = client.query(sql).describe().await.unwrap();
    google_statement::is(&description.not_null(["a b", "Parts", "Parts[].Id"]));
    let query = client
        .query(sql)
        .param("least", 0_i64)
        .param("texts", vec!["Zoë"]);
    let rows = google_statement::read(query).await;
    let shown = "ResultRow { first_id: Some(\"a\"), a_b: \"Zoë\", column_2: Some(1), type: Some(\"Zoë\"), \
        self_: Some(1), _1st: Some(2), ünï: Some(3), parts: [Part { id: 1, days: Some([Some(2024-02-29)]) }] }";
    assert_eq!(rows, [shown]);
}

/// The deepest result that Spanner has.
#[tokio::test]
async fn a_change_stream() {
    let Some((database, client)) = database().await else {
        return;
    };
    let changes = |token: Option<String>, start: Timestamp, end: Timestamp| -> Query {
        let sql = "SELECT ChangeRecord FROM READ_Changes(start_timestamp => @start, end_timestamp => @end,
            partition_token => @token, heartbeat_milliseconds => 10000)";
        let query = client.query(sql).param("start", start).param("end", end);
        query.param("token", token)
    };
    let now = || async {
        let (now,): (Timestamp,) = client
            .query("SELECT CURRENT_TIMESTAMP()")
            .one()
            .await
            .unwrap();
        now
    };
    let start = now().await;
    database
        .execute("UPDATE Singers SET Name = 'Zoe' WHERE Id = 1")
        .await
        .unwrap();
    let end = now().await;

    // The emulator does not plan this function; what came with rows will do.
    let mut rows = changes(None, start, end).rows::<Row>().await.unwrap();
    rows.next_batch().await.unwrap();
    let metadata = rows.metadata().expect("a batch came");
    google_changes::is(&Description::from(metadata).name("Change"));
    let partitions = google_changes::read(changes(None, start, end)).await;
    let partitions = partitions.concat();
    let mut tokens = partitions.split("token: Some(\"").skip(1);
    let token = tokens
        .next()
        .and_then(|rest| rest.split('"').next())
        .expect("a partition");
    let rows = google_changes::read(changes(Some(token.to_owned()), start, end)).await;
    assert!(
        rows.concat().contains("table_name: Some(\"Singers\")"),
        "{rows:?}"
    );
}
