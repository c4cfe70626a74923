//! What is written for which columns. That it compiles and reads is tested in `tests/describe`.

use super::*;
use crate::wire::{Field, ResultMetadata, Type, TypeCode};

fn row(fields: impl IntoIterator<Item = (&'static str, Type)>) -> RowType {
    RowType::new(fields.into_iter().map(|(name, ty)| Field::new(name, ty)))
}

fn int(name: &'static str) -> (&'static str, Type) {
    (name, TypeCode::Int64.into())
}

/// The struct without what stands before it.
fn body(description: &Description) -> String {
    let text = description.to_string();
    let start = text.find("#[derive").expect("a struct");
    text[start..].to_owned()
}

#[test]
fn columns_without_names_of_their_own() {
    let one = Description::new(row([int("a"), int(""), int("B"), int("B")]));
    assert_eq!(
        body(&one.not_null(["a"])),
        "\
#[derive(Debug, spanner_rows::SpannerRow)]
struct ResultRow {
    a: i64,
    #[spanner(index = 1)]
    column_1: Option<i64>,
    #[spanner(index = 2)]
    b: Option<i64>,
    #[spanner(index = 3)]
    b_2: Option<i64>,
}
"
    );
    let none = Description::new(row([int(""), int("")]));
    assert_eq!(
        body(&none),
        "\
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(match_by = \"index\")]
struct ResultRow {
    column_0: Option<i64>,
    column_1: Option<i64>,
}
"
    );
    let alone = Description::new(row([int("")]));
    assert!(body(&alone).contains("#[spanner(index = 0)]"));
}

#[test]
fn structs_in_structs() {
    let song = Type::structure(row([int("Length"), ("Title", TypeCode::String.into())]));
    let albums = Type::array(Type::structure(row([
        int("Id"),
        ("Songs", Type::array(song.clone())),
        ("Song", song),
    ])));
    let tags = Type::array(TypeCode::String.into());
    let description = Description::new(row([("Albums", albums), ("Tags", tags)]));
    let description =
        description.not_null(["Albums", "Albums[].Id", "Albums[].Songs[].Length", "Album"]);
    let description = description.name("self");
    let text = description.clone().owned().to_string();
    assert_eq!(
        text,
        "\
// A result does not tell which columns can be NULL: take `Option` off those that cannot.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
// `Album` was said to be not NULL, but is not there.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = \"PascalCase\")]
struct SelfRow {
    albums: Vec<Album>,
    tags: Option<Vec<Option<String>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = \"PascalCase\")]
struct Album {
    id: i64,
    songs: Option<Vec<Song>>,
    song: Option<Song2>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = \"PascalCase\")]
struct Song {
    length: i64,
    title: Option<String>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = \"PascalCase\")]
struct Song2 {
    length: Option<i64>,
    title: Option<String>,
}
"
    );
    assert!(text.lines().all(|line| !line.contains("'row")));
    let borrowed = description.borrowed().to_string();
    for line in [
        "struct SelfRow<'row> {",
        "albums: Vec<Album<'row>>",
        "struct Song<'row> {",
    ] {
        assert!(borrowed.contains(line), "{borrowed}");
    }
}

#[test]
fn what_a_table_says() {
    let columns = row([int("Id"), int("Count")]);
    let about = "A row of `Counts`.".to_owned();
    let description = Description::of_table("Counts", about, columns, ["Id".to_owned()]);
    assert_eq!(
        description.to_string(),
        "\
/// A row of `Counts`.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = \"PascalCase\")]
struct Count {
    id: i64,
    count: Option<i64>,
}
"
    );
    assert!(
        !description
            .not_null(["Count"])
            .to_string()
            .contains("Option")
    );
}

#[test]
fn a_statement_without_columns() {
    let text = Description::from(&ResultMetadata::default()).to_string();
    assert_eq!(
        text,
        "// There are no columns, and so there is nothing to read.\n"
    );
}

/// Names are somebody else's text.
#[test]
fn names_stay_in_their_place() {
    let proto = Type::new(TypeCode::Proto).with_proto_type("a\nstruct Evil;\u{202e}");
    let description = Description::new(row([("x\"]\nstruct Evil;", proto)]));
    let text = description
        .name("A {}\nstruct Evil;")
        .not_null(["\nstruct Evil;"])
        .to_string();
    assert!(
        !text
            .lines()
            .any(|line| line.trim().starts_with("struct Evil")),
        "{text}"
    );
    assert!(
        text.contains("rename = \"x\\\"]\\nstruct Evil;\""),
        "{text}"
    );
    assert!(text.contains("struct AStructEvil"), "{text}");
    assert!(!text.contains('\u{202e}'), "{text}");
}
