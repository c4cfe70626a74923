//! Which table a name stands for, and what is asked of the database.

use std::sync::Arc;

use spanner_rows::testing::{FakeSpanner, Request, Rows};
use spanner_rows::{Client, ErrorKind, OwnedValue, TypeCode};

/// Schema, table, column.
type Column = (&'static str, &'static str, &'static str);

/// A fake server whose database has these columns, each an INT64, and keys of them.
async fn database(dialect: &'static str, columns: &'static [Column]) -> (Arc<FakeSpanner>, Client) {
    let fake = Arc::new(FakeSpanner::start().await);
    fake.on_any(move |request| Some(answer(request, dialect, columns)?.into()));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    (fake, client.connect().await.expect("every client is taken"))
}

fn answer(request: &Request, dialect: &'static str, columns: &'static [Column]) -> Option<Rows> {
    let (sql, table) = (request.sql(), request.param("p1"));
    if sql.contains("information_schema.database_options") {
        return Some(Rows::new(["option_value"], [(dialect,)]));
    }
    let parameter = if dialect == "POSTGRESQL" { "$1" } else { "@p1" };
    if sql.contains("information_schema.columns") {
        assert!(sql.contains(&format!("LOWER({parameter})")), "{sql}");
        let Some(OwnedValue::String(table)) = table else {
            return None;
        };
        let rows = columns
            .iter()
            .filter(|(_, name, _)| name.eq_ignore_ascii_case(&table));
        let rows = rows.map(|&(schema, table, column)| (schema, table, column, "NO"));
        return Some(Rows::new(
            ["table_schema", "table_name", "column_name", "is_nullable"],
            rows,
        ));
    }
    if sql.contains("information_schema.index_columns") {
        assert!(sql.contains(parameter), "{sql}");
        let Some(OwnedValue::String(table)) = table else {
            return None;
        };
        // The server compares names as they are; of schemas the statement says nothing.
        let rows = columns.iter().filter(|(_, name, _)| *name == table);
        let rows = rows.map(|&(schema, table, column)| (schema, table, column, "DESC"));
        return Some(Rows::new(
            [
                "table_schema",
                "table_name",
                "column_name",
                "column_ordering",
            ],
            rows,
        ));
    }
    // The plan: whose columns these are, the test sees in the statement.
    Some(Rows::of_values(
        [("Id", TypeCode::Int64)],
        [[OwnedValue::String("1".to_owned())]],
    ))
}

/// What the struct is said to be of, and the statement that was planned.
async fn described(
    fake: &FakeSpanner,
    client: &Client,
    table: &str,
) -> Result<(String, String), String> {
    let description = client.describe_table(table).await.map_err(|error| {
        assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error}");
        error.to_string()
    })?;
    let text = description.to_string();
    let about = text.lines().find_map(|line| line.strip_prefix("/// "));
    let requests = fake.take_requests();
    let planned = requests.last().map(|request| request.sql().to_owned());
    Ok((
        about.expect("it is documented").to_owned(),
        planned.expect("it was planned"),
    ))
}

const COLUMNS: &[Column] = &[
    ("", "Both", "Id"),
    ("INFORMATION_SCHEMA", "Both", "Other"),
    ("a", "Many", "Id"),
    ("b", "Many", "Id"),
    ("shop", "Only", "Id"),
    ("shop", "Only", "od`d\\"),
    ("", "case", "Id"),
    ("", "Case", "Id"),
];

#[tokio::test]
async fn which_table_is_meant() {
    let (fake, client) = database("GOOGLE_STANDARD_SQL", COLUMNS).await;
    for (name, about, planned) in [
        // The schema of tables without one goes first.
        (
            "Both",
            "A row of `Both`; its primary key is `Id` DESC.",
            "SELECT `Id` FROM `Both`",
        ),
        (
            "information_schema.both",
            "A row of `INFORMATION_SCHEMA.Both`; its primary key is `Other` DESC.",
            "SELECT `Other` FROM `INFORMATION_SCHEMA`.`Both`",
        ),
        (
            "Only",
            "A row of `shop.Only`; its primary key is `Id` DESC, `od`d\\` DESC.",
            "SELECT `Id`, `od\\`d\\\\` FROM `shop`.`Only`",
        ),
        (
            "b.many",
            "A row of `b.Many`; its primary key is `Id` DESC.",
            "SELECT `Id` FROM `b`.`Many`",
        ),
        // As it is spelled, where several differ in nothing else.
        (
            "Case",
            "A row of `Case`; its primary key is `Id` DESC.",
            "SELECT `Id` FROM `Case`",
        ),
        (
            "case",
            "A row of `case`; its primary key is `Id` DESC.",
            "SELECT `Id` FROM `case`",
        ),
    ] {
        let found = described(&fake, &client, name).await;
        assert_eq!(found, Ok((about.to_owned(), planned.to_owned())), "{name}");
    }
    let several = described(&fake, &client, "many").await.unwrap_err();
    assert_eq!(
        several,
        "the table name `many` stands for `b.Many` and for `a.Many`: write one of them"
    );
    let none = described(&fake, &client, "shop.Both").await.unwrap_err();
    assert!(none.contains("no table or view `shop.Both`"), "{none}");
}

const POSTGRES: &[Column] = &[
    ("information_schema", "both", "other"),
    ("public", "both", "id"),
    ("public", "odd\"", "a\"b"),
];

#[tokio::test]
async fn in_the_other_dialect() {
    let (fake, client) = database("POSTGRESQL", POSTGRES).await;
    for (name, about, planned) in [
        (
            "both",
            "A row of `public.both`; its primary key is `id` DESC.",
            r#"SELECT "id" FROM "public"."both""#,
        ),
        (
            "odd\"",
            "A row of `public.odd\"`; its primary key is `a\"b` DESC.",
            r#"SELECT "a""b" FROM "public"."odd""""#,
        ),
    ] {
        let found = described(&fake, &client, name).await;
        assert_eq!(found, Ok((about.to_owned(), planned.to_owned())), "{name}");
    }
}
