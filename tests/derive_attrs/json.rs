//! `json`.

use std::collections::BTreeMap;

use serde_json::Value;
use spanner_rows::{ColumnType, Plain, SpannerRow, Type, TypeCode};

use crate::support::{contains, int, misfit, reader, row, string};

#[derive(Debug, SpannerRow)]
struct Song<'a> {
    title: &'a str,
    #[spanner(json)]
    plays: BTreeMap<String, i64>,
    #[spanner(json, default)]
    credits: Option<Vec<(String, u8)>>,
    #[spanner(json, null_default)]
    tags: Vec<String>,
    #[spanner(json, rename = "Any")]
    any: Value,
}

fn columns() -> Vec<(&'static str, Type)> {
    let json = Type::new(TypeCode::Json);
    vec![
        ("Any", json.clone()),
        ("tags", string()),
        ("plays", json.clone()),
        ("title", string()),
        ("credits", json),
    ]
}

#[test]
fn documents_become_values() {
    let all = [
        row(["[1]", r#"["a"]"#, r#"{"CH":5}"#, "t", r#"[["x",1]]"#]),
        row(["-", "-", "{}", "t", "-"]),
        row(["null", "[]", "{}", "t", "null"]),
    ];
    let mut rows = reader::<Song>(&columns(), all);
    let first = rows.next().unwrap().unwrap();
    assert_eq!(first.title, "t");
    assert_eq!(first.plays, BTreeMap::from([("CH".to_owned(), 5)]));
    assert_eq!(first.credits, Some(vec![("x".to_owned(), 1)]));
    assert_eq!(
        (first.tags, first.any),
        (vec!["a".to_owned()], Value::from(vec![1]))
    );
    for _ in 0..2 {
        let song = rows.next().unwrap().unwrap();
        assert_eq!((song.credits, song.any), (None, Value::Null));
        assert!(song.tags.is_empty());
    }
    let mut rows = reader::<Song>(&columns()[..4], [row(["1", "[]", "{}", "t"])]);
    assert_eq!(rows.next().unwrap().unwrap().credits, None);
}

#[test]
fn what_is_no_document_of_the_type_is_an_error_of_its_row() {
    let all = [
        row(["1", "[]", "-", "t", "-"]),
        row(["1", "[]", r#"{"CH":"x"}"#, "t", "-"]),
        row(["1", "[]", "{}", "t", "[[]]"]),
        row(["1", "[]", "{}", "t", "-"]),
    ];
    let mut rows = reader::<Song>(&columns(), all);
    contains(
        &rows.next().unwrap_err().to_string(),
        &["NULL", "`Song.plays`"],
    );
    contains(
        &rows.next().unwrap_err().to_string(),
        &["row 1, column 2 `plays`", "`Song.plays`"],
    );
    contains(
        &rows.next().unwrap_err().to_string(),
        &["row 2, column 4 `credits`"],
    );
    assert!(rows.next().unwrap().is_some());
}

#[test]
fn the_type_of_the_column_has_to_fit() {
    fn is<T: ColumnType<Mode = M>, M>() {}
    is::<Song, Plain>();
    let mut columns = columns();
    columns[2].1 = int();
    contains(
        &misfit::<Song>(&columns),
        &["`Song.plays`", "column 2 `plays` is INT64"],
    );
}

#[derive(SpannerRow)]
struct Generic<T> {
    id: i64,
    #[spanner(json)]
    document: T,
}

#[test]
fn type_parameters_are_documents() {
    let columns = [("id", int()), ("document", string())];
    let mut rows = reader::<Generic<Vec<u8>>>(&columns, [row(["1", "[1,2]"])]);
    let read = rows.next().unwrap().unwrap();
    assert_eq!((read.id, &*read.document), (1, &[1, 2][..]));
}
