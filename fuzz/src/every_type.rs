//! Rows with a column of every type, in each of which one value is any: every way to
//! read a row gives the same, and the row behind it is not affected.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use arbitrary::{Arbitrary, Unstructured};
use bigdecimal::BigDecimal;
use bytes::Bytes;
use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use spanner_rows::{
    Base64, Interval, Json, List, Numeric, PgNumeric, Proto, ProtoEnum, RetrySettings, Row,
    RowReader, SpannerRow, Timestamp,
};
use uuid::Uuid;

use crate::model::{Sketch, Value};
use crate::wire::{self, Type, put};

#[derive(Arbitrary, Debug)]
struct Input {
    /// How the rows are read.
    which: u8,
    /// In each row the column that is not as usual.
    rows: Vec<(u8, Sketch)>,
    rotate: u8,
    cut: u16,
    chunk: u8,
}

/// Without memory of its own: lent by value.
#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct Borrowed<'row> {
    flag: bool,
    int: i64,
    double: f64,
    single: f32,
    text: &'row str,
    text2: Cow<'row, str>,
    bytes: &'row [u8],
    four: [u8; 4],
    instant: Timestamp,
    day: jiff::civil::Date,
    numeric: Numeric,
    pg: PgNumeric<&'row str>,
    json: &'row RawValue,
    uuid: Uuid,
    interval: Interval,
    number: ProtoEnum<i32>,
    message: Base64<'row>,
    texts: List<'row, &'row str>,
    numbers: List<'row, Option<i64>>,
    blobs: List<'row, Option<&'row [u8]>>,
    pairs: List<'row, Pair<'row>>,
    pair: Pair<'row>,
}

/// The same columns, read as other types and in another order.
#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct Other<'row> {
    pair: (Uuid, List<'row, i64>),
    pairs: Option<List<'row, Option<Pair<'row>>>>,
    blobs: List<'row, Base64<'row>>,
    texts: List<'row, Cow<'row, str>>,
    message: &'row [u8],
    number: i64,
    interval: Option<jiff::Span>,
    uuid: Option<Uuid>,
    json: &'row str,
    numeric: Option<Decimal>,
    day: NaiveDate,
    instant: DateTime<Utc>,
    four: Cow<'row, [u8]>,
    bytes: Option<&'row [u8]>,
    text: spanner_rows::Value<'row>,
    text2: Option<&'row str>,
    single: f64,
    int: Option<i64>,
    numbers: spanner_rows::Value<'row>,
}

/// With memory that is used again: lent as `&mut`.
#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct Owned {
    flag: Option<bool>,
    text: String,
    text2: Option<String>,
    bytes: Vec<u8>,
    four: Option<Bytes>,
    instant: SystemTime,
    day: time::Date,
    numeric: BigDecimal,
    pg: PgNumeric,
    json: Json<Vec<(String, f64)>>,
    message: Proto<Message>,
    texts: Vec<Box<str>>,
    numbers: Vec<Option<i64>>,
    blobs: Option<Vec<Option<Vec<u8>>>>,
    pairs: Vec<OwnedPair>,
    pair: OwnedPair,
}

/// The rest of the owned types, in another order.
#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct OtherOwned {
    pairs: Option<Vec<Option<OwnedPair>>>,
    texts: Vec<String>,
    message: Option<Proto<Message>>,
    json: serde_json::Value,
    pg: Option<BigDecimal>,
    instant: time::OffsetDateTime,
    four: Box<[u8]>,
    text2: Arc<str>,
    text: Box<str>,
    int: i64,
}

/// Both: lent as a guard.
#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct Mixed<'row> {
    text: &'row str,
    text2: String,
    bytes: Cow<'row, [u8]>,
    instant: jiff::Timestamp,
    texts: Vec<&'row str>,
    numbers: Option<Vec<i64>>,
    blobs: Vec<Option<&'row [u8]>>,
    pairs: Vec<Pair<'row>>,
    pair: OwnedPair,
}

#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct Pair<'row> {
    key: Uuid,
    values: List<'row, i64>,
}

#[derive(SpannerRow, Debug)]
#[allow(dead_code, reason = "read by printing")]
struct OwnedPair {
    values: Vec<i64>,
    key: Uuid,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    name: String,
}

/// The columns, each with a value that every struct can read.
fn columns() -> Vec<(&'static str, Type, Value)> {
    let scalar = |name, code, text| (name, Type::Scalar(code), Value::text(text));
    let key = "00000000-0000-4000-8000-0123456789ab";
    let integers = || Type::array(Type::Scalar(2));
    let pair = || Type::Struct(vec![("key", Type::Scalar(17)), ("values", integers())]);
    let list = |texts: &[&str]| Value::List(texts.iter().map(|text| Value::text(text)).collect());
    let a_pair = || Value::List(vec![Value::text(key), list(&["1", "-2"])]);
    vec![
        ("flag", Type::Scalar(1), Value::Bool(true)),
        scalar("int", 2, "7"),
        ("double", Type::Scalar(3), Value::Number(-0.0)),
        ("single", Type::Scalar(15), Value::Number(0.5)),
        scalar("text", 6, "text"),
        scalar("text2", 6, "żółw"),
        scalar("bytes", 7, "AAEC"),
        scalar("four", 7, "AQIDBA=="),
        scalar("instant", 4, "2024-02-29T12:30:45.123456789Z"),
        scalar("day", 5, "2024-02-29"),
        scalar("numeric", 10, "-12.5"),
        ("pg", Type::PgNumeric, Value::text("15e-1")),
        scalar("json", 11, r#"[["a", 1.5]]"#),
        scalar("uuid", 17, key),
        scalar("interval", 16, "P1Y2M3DT4H5M6.5S"),
        scalar("number", 14, "3"),
        scalar("message", 13, "CAESAXg="),
        (
            "texts",
            Type::array(Type::Scalar(6)),
            list(&["a", "", "ccc"]),
        ),
        ("numbers", integers(), list(&["1", "2"])),
        ("blobs", Type::array(Type::Scalar(7)), list(&["AAAA", ""])),
        ("pairs", Type::array(pair()), Value::List(vec![a_pair()])),
        ("pair", pair(), a_pair()),
    ]
}

const MOST_ROWS: usize = 3;

pub fn entry(data: &[u8]) {
    let Ok(mut input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    input.rows.truncate(MOST_ROWS);
    let table = Table::new(&input);
    let rotated = table.rotated(usize::from(input.rotate));
    let cut = table.cut(usize::from(input.cut), usize::from(input.chunk));
    macro_rules! check {
        ($row:ty) => {{
            let whole = by_next!($row, [table.message()]);
            assert_eq!(whole.len(), table.rows.len());
            usual_rows_are_the_same(&whole);
            assert_eq!(whole, by_batch!($row, [table.message()]));
            // The message of an error tells the position.
            let whole = without_errors(whole);
            assert_eq!(whole, without_errors(by_next!($row, cut)));
            let rotated = by_next!($row, [rotated.message()]);
            assert_eq!(whole, without_errors(rotated));
        }};
    }
    match input.which % 6 {
        0 => check!(Borrowed),
        1 => check!(Other),
        2 => check!(Owned),
        3 => check!(OtherOwned),
        4 => check!(Mixed),
        _ => without_a_struct(&table, &input),
    }
}

/// A row as it prints, or its error.
type Read = Result<String, String>;

/// The rows that can be read, each as far as the first element that cannot: its error
/// stands in its place.
fn without_errors(rows: Vec<Read>) -> Vec<Option<String>> {
    rows.into_iter().map(|row| row.ok().map(as_far)).collect()
}

fn as_far(row: String) -> String {
    match row.split_once("<row ") {
        Some((before, _)) => before.to_owned(),
        None => row,
    }
}

fn shown<R: Debug>(row: Result<R, spanner_rows::Error>) -> Read {
    match row {
        Ok(row) => Ok(format!("{row:?}")),
        Err(error) => {
            assert!(error.is_row_error(), "{error}");
            Err(error.to_string())
        }
    }
}

fn reader<T: SpannerRow>(messages: impl IntoIterator<Item = Vec<u8>>) -> RowReader<T> {
    let mut reader = RowReader::new(&RetrySettings::new());
    for message in messages {
        reader.receive(message.into());
    }
    reader.end();
    reader
}

macro_rules! by_next {
    ($row:ty, $messages:expr) => {{
        let mut reader = reader::<$row>($messages);
        let mut rows = Vec::new();
        loop {
            let row = match reader.next() {
                Ok(None) => break,
                // A guard prints as the row that it holds.
                Ok(Some(row)) => Ok(row),
                Err(error) => Err(error),
            };
            rows.push(shown(row));
        }
        rows
    }};
}
use by_next;

macro_rules! by_batch {
    ($row:ty, $messages:expr) => {{
        let mut reader = reader::<$row>($messages);
        let mut rows = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            let forwards: Vec<_> = batch.iter().map(shown).collect();
            let mut backwards: Vec<_> = batch.iter().rev().map(shown).collect();
            backwards.reverse();
            assert_eq!(forwards, backwards);
            rows.extend(forwards);
        }
        rows
    }};
}
use by_batch;

/// Every other row is as usual.
fn usual_rows_are_the_same(rows: &[Read]) {
    let mut usual = rows.iter().step_by(2);
    let first = usual.next().expect("a usual row comes first");
    assert!(first.is_ok(), "{first:?}");
    for row in usual {
        assert_eq!(row, first);
    }
}

/// A value read by [`Row::get`] is that of a row with this column only.
fn without_a_struct(table: &Table, input: &Input) {
    let mut rows = reader::<Row<'_>>([table.message()]);
    let mut unusual = input.rows.iter();
    let mut i = 0;
    while let Some(row) = rows.next().unwrap() {
        i += 1;
        if i % 2 == 1 {
            continue;
        }
        let Some((column, _)) = unusual.next() else {
            break;
        };
        let column = usize::from(*column) % table.columns.len();
        let (name, ty) = &table.columns[column];
        let mut message = wire::metadata(&[(name, ty.clone())]);
        put(&mut message, 0x12, &table.rows[i - 1][column].encoded());
        macro_rules! compare {
            ($($at:pat => $ty:ty,)*) => {
                match *name {
                    $($at => {
                        let mut alone = reader::<($ty,)>([message]);
                        let alone = match alone.next() {
                            Ok(row) => row.map(|row| format!("{:?}", row.0)),
                            Err(_) => None,
                        };
                        let got = row.get::<$ty>(column).ok().map(|value| format!("{value:?}"));
                        assert_eq!(got.map(as_far), alone.map(as_far), "{name}");
                    })*
                    _ => unreachable!("a column without a type"),
                }
            };
        }
        compare! {
            "flag" => bool,
            "int" => i64,
            "double" => f64,
            "single" => f32,
            "text" | "text2" => &str,
            "bytes" => Option<&[u8]>,
            "four" => [u8; 4],
            "instant" => Timestamp,
            "day" => NaiveDate,
            "numeric" | "pg" => PgNumeric<&str>,
            "json" => serde_json::Value,
            "uuid" => Option<Uuid>,
            "interval" => Interval,
            "number" => ProtoEnum<i32>,
            "message" => Proto<Message>,
            "texts" => Vec<&str>,
            "numbers" => Vec<Option<i64>>,
            "blobs" => Vec<Option<&[u8]>>,
            "pairs" => Vec<OwnedPair>,
            "pair" => Pair<'_>,
        }
    }
}

/// Columns and the values of the rows.
#[derive(Clone)]
struct Table {
    columns: Vec<(&'static str, Type)>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// A usual row, and behind it for each row of the input that one and a usual one.
    fn new(input: &Input) -> Self {
        let mut columns = Vec::new();
        let mut usual = Vec::new();
        for (name, ty, value) in self::columns() {
            columns.push((name, ty));
            usual.push(value);
        }
        let mut rows = vec![usual.clone()];
        for (column, value) in &input.rows {
            let mut row = usual.clone();
            row[usize::from(*column) % columns.len()] = value.value();
            rows.extend([row, usual.clone()]);
        }
        Self { columns, rows }
    }

    fn rotated(&self, by: usize) -> Self {
        let mut table = self.clone();
        let by = by % table.columns.len();
        table.columns.rotate_left(by);
        for row in &mut table.rows {
            row.rotate_left(by);
        }
        table
    }

    fn message(&self) -> Vec<u8> {
        let mut message = wire::metadata(&self.columns);
        for value in self.rows.iter().flatten() {
            put(&mut message, 0x12, &value.encoded());
        }
        message
    }

    /// The same in two messages: cut before value `at`, or inside of it if it is a text.
    fn cut(&self, at: usize, inside: usize) -> [Vec<u8>; 2] {
        let values: Vec<_> = self.rows.iter().flatten().collect();
        let at = at % values.len();
        let mut first = wire::metadata(&self.columns);
        let mut second = Vec::new();
        for value in &values[..at] {
            put(&mut first, 0x12, &value.encoded());
        }
        match values[at] {
            Value::Text(text) => {
                let (begin, end) = text.split_at(inside % (text.len() + 1));
                put(&mut first, 0x12, &Value::Text(begin.to_vec()).encoded());
                first.extend_from_slice(&[0x18, 1]);
                put(&mut second, 0x12, &Value::Text(end.to_vec()).encoded());
            }
            value => put(&mut second, 0x12, &value.encoded()),
        }
        for value in &values[at + 1..] {
            put(&mut second, 0x12, &value.encoded());
        }
        [first, second]
    }
}
