//! `from`, `try_from`, `with`.

use std::fmt;
use std::time::Duration;

use spanner_rows::{
    Binder, Binding, Column, ColumnType, DecodeError, DecodeErrorKind, FromColumn, List,
    OwnedValue, Plain, SpannerRow, Type, TypeCode,
};

use crate::support::{
    bytes, collect, contains, int, list, misfit, reader, row, string, structure, text,
};

#[derive(Debug, PartialEq)]
struct Name(String);

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.to_uppercase())
    }
}

#[derive(Debug, PartialEq)]
struct Word<'a>(&'a str);

impl<'a> From<&'a str> for Word<'a> {
    fn from(text: &'a str) -> Self {
        Self(text)
    }
}

#[derive(Debug, PartialEq)]
struct Even(i64);

impl TryFrom<i64> for Even {
    type Error = Odd;

    fn try_from(n: i64) -> Result<Self, Odd> {
        if n % 2 == 0 { Ok(Self(n)) } else { Err(Odd) }
    }
}

struct Odd;

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is odd")
    }
}

#[derive(Debug, SpannerRow)]
struct Converted<'a> {
    #[spanner(from = "&'a str")]
    name: Name,
    #[spanner(from = "&'a str")]
    word: Word<'a>,
    #[spanner(try_from = "i64")]
    small: u16,
    #[spanner(try_from = "i64", rename = "maybe")]
    optional: Option<u8>,
    #[spanner(try_from = "i64", null_default = "zero")]
    even: Even,
    #[spanner(from = "Option<i64>", default = "both")]
    given: Given,
}

fn zero() -> Even {
    Even(0)
}

#[derive(Debug, PartialEq)]
enum Given {
    Yes(i64),
    No,
    Both,
}

fn both() -> Given {
    Given::Both
}

impl From<Option<i64>> for Given {
    fn from(n: Option<i64>) -> Self {
        n.map_or(Self::No, Self::Yes)
    }
}

fn columns() -> Vec<(&'static str, Type)> {
    vec![
        ("name", string()),
        ("word", string()),
        ("small", int()),
        ("maybe", int()),
        ("even", int()),
        ("given", int()),
    ]
}

#[test]
fn columns_are_converted() {
    let all = [
        row(["ann", "b", "65535", "255", "2", "1"]),
        row(["ann", "b", "0", "-", "-", "-"]),
    ];
    let mut rows = reader::<Converted>(&columns(), all);
    let first = rows.next().unwrap().unwrap();
    assert_eq!(first.name, Name("ANN".to_owned()));
    assert_eq!((first.word, first.small), (Word("b"), 65535));
    assert_eq!((first.optional, first.even), (Some(255), Even(2)));
    assert_eq!(first.given, Given::Yes(1));
    let second = rows.next().unwrap().unwrap();
    assert_eq!((second.optional, second.even), (None, Even(0)));
    assert_eq!(second.given, Given::No);
    let mut rows = reader::<Converted>(&columns()[..5], [row(["a", "b", "0", "-", "-"])]);
    assert_eq!(rows.next().unwrap().unwrap().given, Given::Both);
}

#[test]
fn the_error_of_a_conversion_names_value_column_and_field() {
    for (at, value, parts) in [
        (
            2,
            "65536",
            [
                "column 2 `small`",
                "`Converted.small`",
                "\"65536\" into u16: out of range",
            ],
        ),
        (
            3,
            "-1",
            ["column 3 `maybe`", "`Converted.optional`", "\"-1\" into u8"],
        ),
        (
            4,
            "3",
            ["column 4 `even`", "`Converted.even`", "Even: it is odd"],
        ),
        (2, "-", ["column 2 `small`", "`Converted.small`", "NULL"]),
        (0, "-", ["column 0 `name`", "`Converted.name`", "NULL"]),
    ] {
        let mut values = row(["a", "b", "0", "1", "2", "3"]);
        values[at] = row([value])[0].clone();
        let mut rows = reader::<Converted>(&columns(), [values]);
        let error = rows.next().unwrap_err();
        assert!(error.is_row_error());
        contains(&error.to_string(), &["row 0, "]);
        contains(&error.to_string(), &parts);
    }
}

#[test]
fn the_type_that_is_converted_decides_what_fits() {
    let mut columns = columns();
    columns[2].1 = string();
    contains(
        &misfit::<Converted>(&columns),
        &["`Converted.small`", "i64 cannot be read"],
    );
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Owned {
    #[spanner(try_from = "i64")]
    n: u32,
    #[spanner(from = "String")]
    boxed: Box<str>,
    #[spanner(with = "seconds")]
    wait: Duration,
}

fn seconds(column: Column<'_, '_>) -> Result<Duration, DecodeError> {
    if column.is_null() {
        return Ok(Duration::MAX);
    }
    let text = column.text()?;
    match text.strip_suffix('s').and_then(|n| n.parse().ok()) {
        Some(n) => Ok(Duration::from_secs(n)),
        None => Err(DecodeError::invalid("a number of seconds ends with `s`")),
    }
}

#[test]
fn in_place_and_by_a_function() {
    let columns = [("n", int()), ("boxed", string()), ("wait", string())];
    let all = [
        row(["1", "a", "5s"]),
        row(["2", "b", "-"]),
        row(["2", "b", "5m"]),
        row(["4", "c", "0s"]),
    ];
    let mut rows = reader::<Owned>(&columns, all);
    let first = rows.next().unwrap().unwrap();
    assert_eq!((first.n, &*first.boxed, first.wait.as_secs()), (1, "a", 5));
    let second = rows.next().unwrap().unwrap();
    assert_eq!(
        (second.n, &*second.boxed, second.wait),
        (2, "b", Duration::MAX)
    );
    let error = rows.next().unwrap_err().to_string();
    contains(
        &error,
        &[
            "row 2, column 2 `wait`, field `Owned.wait`",
            "\"5m\"",
            "ends with `s`",
        ],
    );
    assert_eq!(rows.next().unwrap().unwrap().n, 4);
}

/// A module with all that `with` looks for.
mod cents {
    use super::{Binder, Binding, Column, FromColumn, Type};

    pub(super) fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        <i64 as FromColumn<'_>>::bind(ty, binder)
    }

    pub(super) fn decode(column: Column<'_, '_>) -> Result<f64, String> {
        let text = column.text().map_err(|error| error.to_string())?;
        let cents: u32 = text.parse().map_err(|_| format!("{text:?} are no cents"))?;
        Ok(f64::from(cents) / 100.0)
    }
}

/// A module without `bind`.
mod reversed {
    use super::{Column, DecodeError};

    pub(super) fn decode(column: Column<'_, '_>) -> Result<String, DecodeError> {
        Ok(column.text()?.chars().rev().collect())
    }
}

fn first_byte<'row>(column: Column<'_, 'row>) -> Result<Option<&'row u8>, DecodeError> {
    Ok(column.bytes()?.first())
}

fn first_of<T: for<'row> FromColumn<'row>>(column: Column<'_, '_>) -> Result<Vec<T>, DecodeError> {
    let mut spare = T::Spare::default();
    column
        .list()?
        .take(1)
        .map(|element| T::read(element?, &mut spare))
        .collect()
}

#[derive(SpannerRow)]
struct WithModules<'a> {
    #[spanner(with(module = "cents"))]
    price: f64,
    #[spanner(with(module = "self::reversed"), default)]
    back: String,
    #[spanner(with = "first_byte")]
    byte: Option<&'a u8>,
    #[spanner(with = "first_of::<i64>")]
    first: Vec<i64>,
    #[spanner(with(module = "cents"), null_default)]
    discount: f64,
}

#[test]
fn modules_decide_what_they_read() {
    let columns = [
        ("first", Type::array(int())),
        ("byte", bytes()),
        ("back", string()),
        ("price", int()),
        ("discount", int()),
    ];
    let first = OwnedValue::List(row(["5", "6"]));
    let values = vec![
        first,
        text("aGk="),
        text("abc"),
        text("250"),
        OwnedValue::Null,
    ];
    let mut rows = reader::<WithModules>(&columns, [values]);
    let read = rows.next().unwrap().unwrap();
    assert!((read.price - 2.5).abs() < f64::EPSILON && read.discount.abs() < f64::EPSILON);
    assert_eq!(
        (read.back.as_str(), read.byte, &*read.first),
        ("cba", Some(&b'h'), &[5][..])
    );
    let mut wrong = columns;
    wrong[3].1 = string();
    wrong[2].1 = int();
    let error = misfit::<WithModules>(&wrong);
    contains(
        &error,
        &["field `WithModules.price`: column 3 `price` is STRING"],
    );
    assert!(
        !error.contains("back"),
        "without `bind` any type fits: {error}"
    );
}

#[test]
fn other_errors_are_shown_and_own_ones_keep_their_kind() {
    let columns = [("n", int()), ("boxed", string()), ("wait", string())];
    let error = collect::<Owned>(
        &columns,
        [vec![text("1"), text("a"), OwnedValue::Bool(true)]],
    );
    let error = error.unwrap_err();
    let mut source = std::error::Error::source(&error);
    let mut found = false;
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<DecodeError>() {
            found |= matches!(error.kind(), DecodeErrorKind::Kind { .. });
        }
        source = error.source();
    }
    assert!(
        found || error.to_string().contains("calls for a string"),
        "{error}"
    );
    #[derive(Debug, SpannerRow)]
    struct Price {
        #[spanner(with(module = "cents"))]
        price: f64,
    }
    let mut rows = reader::<Price>(&[("price", int())], [row(["x"]), row(["5"])]);
    let error = rows.next().unwrap_err().to_string();
    contains(&error, &["`Price.price`", "\"x\" are no cents"]);
    assert!(rows.next().unwrap().unwrap().price < 0.06);
}

#[derive(SpannerRow)]
struct OfAny<'a, T, U> {
    #[spanner(from = "T")]
    a: Wrapped<T>,
    #[spanner(try_from = "i64")]
    b: U,
    #[spanner(from = "&'a str")]
    c: Tagged<'a, U>,
}

#[derive(Debug, PartialEq)]
struct Wrapped<T>(T);

impl<T> From<T> for Wrapped<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

struct Tagged<'a, U>(&'a str, Option<U>);

impl<'a, U> From<&'a str> for Tagged<'a, U> {
    fn from(text: &'a str) -> Self {
        Self(text, None)
    }
}

#[test]
fn type_parameters_are_converted() {
    let columns = [("a", string()), ("b", int()), ("c", string())];
    let mut rows = reader::<OfAny<'_, String, u8>>(&columns, [row(["x", "8", "y"])]);
    let read = rows.next().unwrap().unwrap();
    assert_eq!((&read.a.0, read.b, read.c.0), (&"x".to_owned(), 8, "y"));
    assert!(read.c.1.is_none());
}

/// Converted types do not keep memory, so rows of them come by value.
#[test]
fn the_mode_of_converted_fields_is_plain() {
    fn is<T: ColumnType<Mode = M>, M>() {}
    is::<Converted, Plain>();
    is::<OfAny<'_, String, u8>, Plain>();
}

/// `i32` is for ENUM; in the place of INT64 all fields say what to write instead.
#[derive(Debug, SpannerRow)]
struct Narrow {
    number: i32,
    age: i32,
    ages: Vec<Option<i32>>,
    #[spanner(try_from = "i64")]
    small: i32,
}

#[test]
fn thirty_two_bits_are_for_enums() {
    let kind = || Type::new(TypeCode::Enum);
    let good = [
        ("number", kind()),
        ("age", kind()),
        ("ages", Type::array(kind())),
        ("small", int()),
    ];
    let ages = OwnedValue::List(vec![text("1"), OwnedValue::Null]);
    let values = vec![text("-2147483648"), text("7"), ages, text("2147483647")];
    let rows = collect::<Narrow>(&good, [values]).unwrap();
    assert_eq!((rows[0].number, rows[0].age), (i32::MIN, 7));
    assert_eq!(rows[0].ages, [Some(1), None]);
    assert_eq!(rows[0].small, i32::MAX);

    let text = misfit::<Narrow>(&[
        ("number", kind()),
        ("age", int()),
        ("ages", Type::array(int())),
        ("small", int()),
    ]);
    contains(
        &text,
        &[
            "field `Narrow.age`: column 1 `age` is INT64, which i32 cannot be read from: it reads \
             ENUM; make the field `i64`, or put `#[spanner(try_from = \"i64\")]` on it",
            "field `Narrow.ages`: column 2 `ages` has elements of INT64, which i32 cannot be read \
             from: it reads ENUM; make the elements `i64`",
        ],
    );
    assert!(
        !text.contains("number") && !text.contains("small"),
        "{text}"
    );
}

/// An element is read long after its row, and still says where it stands.
#[derive(SpannerRow)]
struct Lists<'a> {
    #[spanner(flatten)]
    inner: Inner<'a>,
}

#[derive(SpannerRow)]
struct Inner<'a> {
    id: i64,
    numbers: List<'a, i64>,
    tracks: List<'a, Track<'a>>,
}

#[derive(SpannerRow)]
struct Track<'a> {
    title: &'a str,
    plays: List<'a, i64>,
}

#[test]
fn elements_say_where_they_stand() {
    let track = structure([("title", string()), ("plays", Type::array(int()))]);
    let columns = [
        ("id", int()),
        ("extra", string()),
        ("numbers", Type::array(int())),
        ("tracks", Type::array(track)),
    ];
    let rows = (0..2).map(|_| {
        let numbers = list([text("1"), text("x")]);
        let track = list([text("t"), list([text("2"), OwnedValue::Null])]);
        let bad = list([OwnedValue::Null, list([])]);
        vec![text("7"), text(""), numbers, list([track, bad])]
    });
    let mut reader = reader::<Lists>(&columns, rows);
    reader.next().unwrap();
    let row = reader.next().unwrap().unwrap();
    assert_eq!(row.inner.id, 7);
    let error = row.inner.numbers.iter().nth(1).unwrap().unwrap_err();
    assert_eq!((error.row(), error.column()), (Some(1), Some(2)));
    assert_eq!(
        error.to_string(),
        "row 1, column 2 `numbers`, field `Inner.numbers`, cannot read \"x\" into i64: \
         it is not a decimal integer of 64 bits"
    );
    let track = row.inner.tracks.iter().next().unwrap().unwrap();
    assert_eq!(track.title, "t");
    let error = track.plays.iter().nth(1).unwrap().unwrap_err().to_string();
    contains(
        &error,
        &["row 1, column 3 `tracks`, field `Inner.tracks / plays`, cannot read NULL"],
    );
    let Err(error) = row.inner.tracks.iter().nth(1).unwrap() else {
        panic!("the title is NULL");
    };
    contains(
        &error.to_string(),
        &["row 1, column 3 `tracks`, field `Inner.tracks / Track.title`, cannot read NULL into"],
    );
}
