//! Columns that the fake server says: every type, and names that Rust does not take.

use spanner_rows::testing::{FakeSpanner, Message, Rows};
use spanner_rows::{
    Client, Field, Library, OwnedValue, Query, RowType, Type, TypeAnnotation, TypeCode,
};

use crate::generated;

generated!(every_type_borrowed, ResultRow);
generated!(every_type_owned, ResultRow);
generated!(every_type_with_chrono, ResultRow);
generated!(every_type_with_time, ResultRow);
generated!(awkward_names, SelfRow);
generated!(by_position, ResultRow);
generated!(nested, Customer);

async fn server(rows: Rows) -> (FakeSpanner, Query) {
    let fake = FakeSpanner::start().await;
    fake.on_query("SELECT", rows);
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client.query("SELECT"))
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

/// Every type with a value and how `Debug` shows it in an owned struct.
fn types() -> Vec<(&'static str, Type, OwnedValue, &'static str)> {
    let pg = TypeAnnotation::PgNumeric;
    let day = "2024-02-29";
    let instant = "2024-02-29T12:00:00.000000001Z";
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    vec![
        (
            "Bool",
            TypeCode::Bool.into(),
            OwnedValue::Bool(true),
            "true",
        ),
        ("Int64", TypeCode::Int64.into(), text("-7"), "-7"),
        (
            "Float64",
            TypeCode::Float64.into(),
            OwnedValue::Number(1.5),
            "1.5",
        ),
        (
            "Float32",
            TypeCode::Float32.into(),
            OwnedValue::Number(2.5),
            "2.5",
        ),
        ("String", TypeCode::String.into(), text("Zoë"), "\"Zoë\""),
        ("Bytes", TypeCode::Bytes.into(), text("AP8="), "[0, 255]"),
        (
            "Timestamp",
            TypeCode::Timestamp.into(),
            text(instant),
            instant,
        ),
        ("Date", TypeCode::Date.into(), text(day), day),
        (
            "Numeric",
            TypeCode::Numeric.into(),
            text("3.25"),
            "Numeric { scaled: 3250000000 }",
        ),
        (
            "PgNumeric",
            Type::new(TypeCode::Numeric).with_annotation(pg),
            text("NaN"),
            "PgNumeric(NaN)",
        ),
        ("Json", TypeCode::Json.into(), text("[1]"), "\"[1]\""),
        (
            "PgJsonb",
            Type::new(TypeCode::Json).with_annotation(TypeAnnotation::PgJsonb),
            text("{}"),
            "\"{}\"",
        ),
        (
            "PgOid",
            Type::new(TypeCode::Int64).with_annotation(TypeAnnotation::PgOid),
            text("5"),
            "5",
        ),
        (
            "Proto",
            Type::new(TypeCode::Proto).with_proto_type("music.Track"),
            text("CgA="),
            "[10, 0]",
        ),
        (
            "Enum",
            Type::new(TypeCode::Enum).with_proto_type("music.Genre"),
            text("3"),
            "3",
        ),
        (
            "Interval",
            TypeCode::Interval.into(),
            text("P1Y"),
            "Interval { months: 12, days: 0, nanoseconds: 0 }",
        ),
        ("Uuid", TypeCode::Uuid.into(), text(uuid), uuid),
        (
            "New",
            TypeCode::from_number(99).into(),
            text("new"),
            "(\"new\")",
        ),
        (
            "Strange",
            TypeCode::Unspecified.into(),
            OwnedValue::Bool(false),
            "(false)",
        ),
    ]
}

/// Each type, and an array of it: a row of values and one of NULL.
fn every_type() -> Rows {
    let mut columns = Vec::new();
    let mut values = Vec::new();
    for (name, ty, value, _) in types() {
        columns.push((name.to_owned(), ty.clone()));
        values.push(value.clone());
        columns.push((format!("{name}s"), Type::array(ty)));
        values.push(OwnedValue::List(vec![value, OwnedValue::Null]));
    }
    let nulls = vec![OwnedValue::Null; columns.len()];
    Rows::of_values(columns, [values, nulls])
}

fn is_what_was_sent(rows: &[String]) {
    let [values, nulls] = rows else {
        panic!("{rows:?}");
    };
    for (name, _, _, shown) in types() {
        assert!(values.contains(shown), "{name} {shown}: {values}");
    }
    assert_eq!(nulls.matches("None").count(), 2 * types().len(), "{nulls}");
}

#[tokio::test]
async fn every_type_is_written_and_read() {
    let (_fake, query) = server(every_type()).await;
    let description = query.clone().describe().await.unwrap();
    every_type_borrowed::is(&description);
    is_what_was_sent(&every_type_borrowed::read(query.clone()).await);
    every_type_owned::is(&description.clone().owned());
    is_what_was_sent(&every_type_owned::read(query.clone()).await);

    // Their `Debug` shows other text.
    every_type_with_chrono::is(&description.clone().using(Library::Chrono));
    assert_eq!(every_type_with_chrono::read(query.clone()).await.len(), 2);
    every_type_with_time::is(&description.using(Library::Time));
    assert_eq!(every_type_with_time::read(query).await.len(), 2);
}

#[tokio::test]
async fn awkward_names_are_written_and_read() {
    let names = [
        "type",
        "Self",
        "self",
        "crate",
        "1st",
        "a b",
        "a_b",
        "A B",
        "ünï",
        "U\u{308}n",
        "",
        "twice",
        "twice",
        "__private",
        "private",
        "'row",
        "\"\\",
        "x\ny",
        "spanner_rows",
        "Option",
        "gen",
        "_",
        "HTTPServer2",
        "r#type",
        "core",
        "Some",
    ];
    let columns = names.map(|name| (name, TypeCode::Int64));
    let values = (0..names.len()).map(|i| text(&i.to_string()));
    let (_fake, query) = server(Rows::of_values(columns, [values])).await;
    let description = query.clone().describe().await.unwrap();
    awkward_names::is(&description.name("Self").not_null(names));
    let rows = awkward_names::read(query).await;
    // The columns in order, each with its own value.
    let shown = rows[0]
        .split(", ")
        .map(|field| field.trim_end_matches(" }"));
    let values = shown.map(|field| field.rsplit(": ").next().unwrap_or_default());
    let values = values.map(|value| value.trim_start_matches("Some(").trim_end_matches(')'));
    let expected = (0..names.len()).map(|i| i.to_string());
    assert_eq!(
        values.collect::<Vec<_>>(),
        expected.collect::<Vec<_>>(),
        "{rows:?}"
    );
}

#[tokio::test]
async fn columns_without_names_are_read_by_position() {
    let columns = [
        ("", TypeCode::Int64),
        ("n", TypeCode::String),
        ("n", TypeCode::Bool),
    ];
    let values = [text("1"), text("one"), OwnedValue::Bool(true)];
    let (_fake, query) = server(Rows::of_values(columns, [values])).await;
    by_position::is(&query.clone().describe().await.unwrap());
    let shown = "ResultRow { column_0: Some(1), n: Some(\"one\"), n_2: Some(true) }";
    assert_eq!(by_position::read(query).await, [shown]);
}

fn structure(fields: impl IntoIterator<Item = (&'static str, Type)>) -> Type {
    let fields = fields.into_iter();
    Type::structure(RowType::new(fields.map(|(name, ty)| Field::new(name, ty))))
}

#[tokio::test]
async fn structs_in_structs_are_written_and_read() {
    let line = structure([
        ("product", TypeCode::String.into()),
        ("", TypeCode::Int64.into()),
        ("Option", structure([("String", TypeCode::Int64.into())])),
    ]);
    let order = structure([
        ("id", TypeCode::Int64.into()),
        ("lines", Type::array(line.clone())),
    ]);
    let columns = [
        ("Orders", Type::array(order)),
        // By the same name as one that is there, and without anything in it.
        ("order", Type::array(line)),
        ("Nothing", Type::array(structure([]))),
        ("Lists", Type::array(Type::array(TypeCode::Int64.into()))),
    ];
    let sent = || {
        let inner = OwnedValue::List(vec![text("3")]);
        OwnedValue::List(vec![text("p"), text("2"), inner])
    };
    let lines = OwnedValue::List(vec![sent()]);
    let orders = OwnedValue::List(vec![OwnedValue::List(vec![text("1"), lines.clone()])]);
    let nothing = OwnedValue::List(vec![OwnedValue::List(vec![])]);
    let lists = OwnedValue::List(vec![
        OwnedValue::List(vec![text("1"), OwnedValue::Null]),
        OwnedValue::Null,
    ]);
    let (_fake, query) = server(Rows::of_values(columns, [[orders, lines, nothing, lists]])).await;
    let description = query.clone().describe().await.unwrap().name("customer");
    nested::is(&description.not_null(["Orders", "Orders[].id", "Lists", "order[].product"]));
    let read = nested::read(query).await.join("");
    for part in [
        "id: 1",
        "product: Some(\"p\")",
        "product: \"p\"",
        "column_1: Some(2)",
        "string: Some(3)",
        "[Some([Some(1), None]), None]",
    ] {
        assert!(read.contains(part), "{part}: {read}");
    }
}

#[tokio::test]
async fn parameters_are_listed() {
    let fake = FakeSpanner::start().await;
    let id = structure([("id", TypeCode::Int64.into())]);
    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .undeclared_parameters([
            ("least", Type::from(TypeCode::Int64)),
            ("Names", Type::array(TypeCode::String.into())),
            ("type", TypeCode::Date.into()),
            ("ids", Type::array(id)),
        ]);
    fake.on_query("SELECT", message);
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.unwrap();
    let text = client.query("SELECT").describe().await.unwrap().to_string();
    let comments = text.lines().take_while(|line| line.starts_with("//"));
    assert_eq!(
        comments.collect::<Vec<_>>(),
        [
            "// Parameters that the statement names, with types that fit:",
            "//     .param(\"least\", least) // INT64: i64",
            "//     .param(\"Names\", names) // ARRAY<STRING>: Vec<String>",
            "//     .param(\"type\", r#type) // DATE: jiff::civil::Date",
            "//     .param(\"ids\", ids) // ARRAY<STRUCT<id INT64>>: Vec<a struct that derives `SpannerEncode`>",
            "// A result does not tell which columns can be NULL: take `Option` off those that cannot.",
        ]
    );
}
