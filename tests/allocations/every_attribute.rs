//! Every attribute of the derive at once, in a struct that borrows and in one
//! that owns: what an attribute does costs no memory.

use std::borrow::Cow;
use std::hint::black_box;

use spanner_rows::{Column, DecodeError, FromColumn, OwnedValue, SpannerRow, Type, TypeCode};

use super::{PERIOD, without_a_client};

/// A newtype as a column type.
#[derive(SpannerRow)]
#[spanner(transparent)]
struct Name<T>(T);

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Address<'row> {
    street: &'row str,
    #[spanner(null_default)]
    zip: Cow<'row, str>,
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OwnedAddress {
    street: String,
    #[spanner(null_default)]
    zip: String,
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Borrowed<'row> {
    #[spanner(rename = "id")]
    number: i64,
    #[spanner(alias = "Title", alias = "FirstName")]
    name: &'row str,
    #[spanner(index = 2)]
    third: &'row str,
    #[spanner(try_from = "i64")]
    small: u16,
    #[spanner(from = "&'row str")]
    converted: Length,
    #[spanner(with = "shout")]
    shouted: usize,
    #[spanner(flatten)]
    home: Address<'row>,
    #[spanner(flatten(prefix = "Work"))]
    work: Option<Address<'row>>,
    #[spanner(skip)]
    nothing: [u8; 4],
    #[spanner(default)]
    absent: i64,
    #[spanner(null_default = "unknown")]
    state: &'row str,
    #[spanner(json)]
    point: Point,
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase", deny_unknown_columns)]
struct Owned {
    #[spanner(rename = "id")]
    number: i64,
    #[spanner(alias = "Title", alias = "FirstName")]
    name: String,
    #[spanner(index = 2)]
    third: Name<String>,
    #[spanner(try_from = "i64")]
    small: u16,
    #[spanner(with = "shout")]
    converted: usize,
    #[spanner(with = "shout")]
    shouted: usize,
    #[spanner(flatten)]
    home: OwnedAddress,
    #[spanner(flatten(prefix = "Work"))]
    work: Option<OwnedAddress>,
    #[spanner(skip)]
    nothing: Vec<u8>,
    #[spanner(default)]
    absent: String,
    #[spanner(null_default)]
    state: String,
    #[spanner(json)]
    point: Point,
}

#[derive(serde::Deserialize)]
struct Point {
    x: f64,
    y: i64,
}

struct Length(usize);

impl From<&str> for Length {
    fn from(text: &str) -> Self {
        Self(text.len())
    }
}

fn shout(column: Column<'_, '_>) -> Result<usize, DecodeError> {
    <&str as FromColumn<'_>>::read(column, &mut ()).map(str::len)
}

fn unknown() -> &'static str {
    "unknown"
}

pub(super) fn no_allocation_per_row() {
    let columns = columns();
    without_a_client::<Borrowed>("every attribute, borrowed", &columns, row, |row| {
        let home = (row.home.street, &row.home.zip);
        let work = row.work.as_ref().map(|work| (work.street, &work.zip));
        black_box((row.number, row.name, row.third, row.small, home, work));
        black_box((row.converted.0, row.shouted, row.nothing, row.absent));
        black_box((row.state, row.point.x, row.point.y));
    });
    without_a_client::<Owned>("every attribute, owned", &columns, row, |row| {
        let home = (&row.home.street, &row.home.zip);
        let work = row.work.as_ref().map(|work| (&work.street, &work.zip));
        black_box((row.number, &row.name, &row.third.0, row.small, home, work));
        black_box((row.converted, row.shouted, &row.nothing, &row.absent));
        black_box((&row.state, row.point.x, row.point.y));
    });
}

fn columns() -> Vec<(&'static str, Type)> {
    let mut columns = vec![
        ("id", Type::new(TypeCode::Int64)),
        ("FirstName", Type::new(TypeCode::String)),
        ("Third", Type::new(TypeCode::String)),
        ("Small", Type::new(TypeCode::Int64)),
        ("Point", Type::new(TypeCode::Json)),
    ];
    let texts = [
        "Converted",
        "Shouted",
        "Street",
        "Zip",
        "WorkStreet",
        "WorkZip",
        "State",
    ];
    columns.extend(texts.map(|name| (name, Type::new(TypeCode::String))));
    columns
}

/// The values of row `i`: lengths go up and down, NULL and values take turns.
fn row(i: usize) -> Vec<OwnedValue> {
    let i = i % PERIOD;
    let text = |n: usize| OwnedValue::String("é".repeat(n * 7 % 20));
    let or_null = |null: bool, value| if null { OwnedValue::Null } else { value };
    let works = !i.is_multiple_of(3);
    vec![
        OwnedValue::String(i.to_string()),
        text(i),
        text(i + 1),
        OwnedValue::String((i * 1_000).to_string()),
        OwnedValue::String(r#"{"x":1.5,"y":-7}"#.to_owned()),
        text(i + 2),
        text(i + 3),
        text(i + 4),
        or_null(i.is_multiple_of(2), text(i + 5)),
        or_null(!works, text(i + 6)),
        or_null(!works || i.is_multiple_of(2), text(i + 7)),
        or_null(i % 4 == 1, text(i + 8)),
    ]
}
