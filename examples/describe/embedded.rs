//! What a database says of its schema, said by the fake server: it has no tables, only
//! answers.

use spanner_rows::OwnedValue;
use spanner_rows::testing::{FakeSpanner, Request, Rows};

use crate::server::{SINGERS, singer};

/// Name, and whether it can be NULL.
const COLUMNS: [(&str, &str); 5] = [
    ("SingerId", "NO"),
    ("FirstName", "NO"),
    ("LastName", "YES"),
    ("Rating", "NO"),
    ("BirthDate", "YES"),
];

pub(crate) fn tables(fake: &FakeSpanner) {
    fake.on_any(|request| {
        let answer = schema(request);
        if answer.is_none() {
            eprintln!(
                "The fake server knows the table Singers and this statement only:\n{SINGERS}"
            );
            eprintln!(
                "Name a database by SPANNER_DATABASE, or an emulator by SPANNER_EMULATOR_HOST.\n"
            );
        }
        answer.map(Into::into)
    });
}

fn schema(request: &Request) -> Option<Rows> {
    let sql = request.sql();
    let singers = match request.param("p1") {
        Some(OwnedValue::String(table)) => table.eq_ignore_ascii_case("Singers"),
        _ => false,
    };
    if sql.contains("information_schema.database_options") {
        Some(Rows::new(["option_value"], [("GOOGLE_STANDARD_SQL",)]))
    } else if sql.contains("information_schema.columns") {
        let names = ["table_schema", "table_name", "column_name", "is_nullable"];
        let columns = COLUMNS.map(|(column, nullable)| ("", "Singers", column, nullable));
        Some(Rows::new(names, columns.into_iter().filter(|_| singers)))
    } else if sql.contains("information_schema.index_columns") {
        let names = [
            "table_schema",
            "table_name",
            "column_name",
            "column_ordering",
        ];
        Some(Rows::new(names, [("", "Singers", "SingerId", "ASC")]))
    } else if sql.contains("FROM `Singers`") {
        Some(Rows::new(COLUMNS.map(|(column, _)| column), [singer(0)]))
    } else {
        None
    }
}
