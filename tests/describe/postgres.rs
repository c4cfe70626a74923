//! Tables and statements of the PostgreSQL dialect.

use spanner_rows::Client;
use spanner_rows::testing::{Database, Dialect, Emulator};

use crate::generated;

generated!(postgres_table, Everything);
generated!(postgres_table_owned, Everything);
generated!(postgres_view, Named);
generated!(postgres_tables, Table);
generated!(postgres_statement, ResultRow);

const DDL: [&str; 3] = [
    "CREATE TABLE everything (
        second_id bigint,
        first_id varchar(36),
        flag boolean NOT NULL,
        double float8,
        single float4,
        name varchar NOT NULL,
        blob bytea,
        instant timestamptz NOT NULL,
        day date,
        price numeric NOT NULL,
        doc jsonb,
        tags varchar[] NOT NULL,
        prices numeric[],
        \"Type\" bigint,
        PRIMARY KEY (first_id, second_id)
    )",
    "CREATE VIEW named SQL SECURITY INVOKER AS SELECT e.second_id, e.name FROM everything AS e",
    "CREATE TABLE \"Everything\" (id bigint PRIMARY KEY)",
];

const INSERT: [&str; 1] = [
    "INSERT INTO everything
        (second_id, first_id, flag, double, single, name, blob, instant, day, price, doc, tags, prices, \"Type\") VALUES
        (1, 'a', true, 1.5, 2.5, 'Zoë', '\\xff', '2024-02-29T12:00:00Z', '2024-02-29', 'NaN',
            '[1]', ARRAY['x', NULL], ARRAY[3.25, NULL]::numeric[], 7),
        (2, 'b', false, NULL, NULL, '', NULL, '2024-02-29T12:00:00Z', NULL, 0, NULL, ARRAY['y'], NULL, NULL)",
];

async fn database() -> Option<(Database, Client)> {
    let emulator = Emulator::start_or_skip().await?;
    let new = emulator.new_database().dialect(Dialect::PostgreSql);
    // Names that differ in case only are not for every emulator.
    let database = new.ddl(&DDL[..2]).create().await.expect("valid DDL");
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
    postgres_table::is(&description);
    let query = client.query("SELECT * FROM everything ORDER BY second_id");
    let rows = postgres_table::read(query.clone()).await;
    assert!(
        rows[0].contains("price: PgNumeric(NaN)")
            && rows[0].contains("prices: Some([Some(PgNumeric(3.25)), None])"),
        "{rows:?}"
    );
    assert!(
        rows[1].contains("doc: None, tags: [Some(\"y\")], prices: None, type: None"),
        "{rows:?}"
    );

    postgres_table_owned::is(&description.clone().owned());
    assert_eq!(postgres_table_owned::read(query).await, rows);
    let same = client.describe_table("public.Everything").await.unwrap();
    assert_eq!(same.to_string(), description.to_string());
}

#[tokio::test]
async fn a_view_and_a_system_table() {
    let Some((_database, client)) = database().await else {
        return;
    };
    postgres_view::is(&client.describe_table("named").await.unwrap());
    let rows = postgres_view::read(client.query("SELECT * FROM named")).await;
    assert_eq!(rows.len(), 2);
    postgres_tables::is(
        &client
            .describe_table("information_schema.tables")
            .await
            .unwrap(),
    );
    let rows = postgres_tables::read(client.query("SELECT * FROM information_schema.tables")).await;
    assert!(
        rows.iter().any(|row| row.contains("\"everything\"")),
        "{rows:?}"
    );
}

#[tokio::test]
async fn a_statement() {
    let Some((_database, client)) = database().await else {
        return;
    };
    let sql = "SELECT name, count(*), max(price) AS \"Most\", 1 AS \"a b\"
        FROM everything WHERE second_id >= $1 GROUP BY name ORDER BY name DESC LIMIT 1";
    postgres_statement::is(
        &client
            .query(sql)
            .describe()
            .await
            .unwrap()
            .not_null(["name"]),
    );
    let rows = postgres_statement::read(client.query(sql).param("p1", 1_i64)).await;
    let shown =
        "ResultRow { name: \"Zoë\", count: Some(1), most: Some(PgNumeric(NaN)), a_b: Some(1) }";
    assert_eq!(rows, [shown]);
}
