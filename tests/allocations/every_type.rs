//! Every type that needs no memory of its own or can use it again, each with NULL
//! and values of changing length: in lists, structs and tuples too.

use std::hint::black_box;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use spanner_rows::{
    Base64, BorrowedJson, Field, Interval, Json, JsonDocument, List, Numeric, OwnedValue,
    PgNumeric, Proto, ProtoEnum, RowType, SpannerRow, Type, TypeAnnotation, TypeCode, Value,
};
use uuid::Uuid;

use super::{PERIOD, without_a_client};

/// A STRUCT as a tuple.
type MaybePair<T> = Option<(Uuid, T)>;

/// Without memory of their own: lent by value.
#[derive(SpannerRow)]
struct Borrowed<'row> {
    numeric: Numeric,
    #[spanner(rename = "numeric2")]
    decimal: Decimal,
    pg_numeric: PgNumeric<&'row str>,
    json: BorrowedJson<Document<'row>>,
    json2: Json<Point>,
    json3: &'row RawValue,
    json4: &'row str,
    uuid: Uuid,
    interval: Interval,
    interval2: jiff::Span,
    four: [u8; 4],
    bytes: Base64<'row>,
    bytes2: &'row [u8],
    number: ProtoEnum<i32>,
    number2: i64,
    instant: jiff::Timestamp,
    instant2: SystemTime,
    instant3: DateTime<Utc>,
    instant4: time::OffsetDateTime,
    day: NaiveDate,
    day2: time::Date,
    any: Value<'row>,
    maybe_numeric: Option<Numeric>,
    maybe_json: Option<BorrowedJson<Document<'row>>>,
    maybe_uuid: Option<Uuid>,
    maybe_four: Option<[u8; 4]>,
    maybe_bytes: Option<Base64<'row>>,
    maybe_instant: Option<SystemTime>,
    texts: List<'row, &'row str>,
    numerics: List<'row, Option<Numeric>>,
    blobs: List<'row, &'row [u8]>,
    documents: List<'row, BorrowedJson<Document<'row>>>,
    pairs: List<'row, Pair<'row>>,
    maybe_pairs: Option<List<'row, MaybePair<List<'row, i64>>>>,
    pair: (Uuid, List<'row, i64>),
}

#[derive(SpannerRow)]
struct Pair<'row> {
    key: Uuid,
    values: List<'row, i64>,
}

/// With memory that is used again: lent as `&mut`.
#[derive(SpannerRow)]
struct Owned {
    numeric: Numeric,
    pg_numeric: PgNumeric,
    json4: String,
    message: Proto<Message>,
    maybe_message: Option<Proto<Message>>,
    messages: Vec<Option<Proto<Message>>>,
    texts: Vec<String>,
    numerics: Vec<Option<Numeric>>,
    pg_numerics: Option<Vec<PgNumeric>>,
    documents: Vec<Json<Point2>>,
    maybe_pairs: Option<Vec<MaybePair<Vec<i64>>>>,
    pairs: Vec<OwnedPair>,
    pair: OwnedPair,
}

#[derive(SpannerRow)]
struct OwnedPair {
    values: Vec<i64>,
    key: Uuid,
}

/// Both: lent as a guard.
#[derive(SpannerRow)]
struct Mixed<'row> {
    pairs: Vec<Pair<'row>>,
    documents: Vec<BorrowedJson<Document<'row>>>,
    pg_numerics: Option<Vec<PgNumeric<&'row str>>>,
    numerics: Vec<Option<Numeric>>,
    messages: List<'row, Option<&'row [u8]>>,
    maybe_message: Option<Proto<Message>>,
    bytes: Base64<'row>,
    pg_numeric: PgNumeric<&'row str>,
    maybe_pairs: Option<Vec<MaybePair<Vec<i64>>>>,
    pair: Pair<'row>,
    json4: &'row str,
    any: Value<'row>,
}

/// Text without escapes, so that it borrows.
#[derive(serde::Deserialize)]
struct Document<'row> {
    name: &'row str,
    count: u32,
}

impl JsonDocument for Document<'_> {
    type At<'row> = Document<'row>;
    type Static = Document<'static>;
}

#[derive(serde::Deserialize)]
struct Point {
    x: f64,
    y: (i64, bool),
}

/// A part of a `Document`.
#[derive(serde::Deserialize)]
struct Point2 {
    count: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int64, repeated, tag = "3")]
    numbers: Vec<i64>,
}

pub(super) fn no_allocation_per_row() {
    let columns = columns();
    without_a_client::<Borrowed>("every type, borrowed", &columns, row, visit);
    without_a_client::<Owned>("every type, owned", &columns, row, |row| {
        let last = row.documents.last();
        black_box((&row, row.numeric, last.map(|Json(document)| document.count)));
    });
    without_a_client::<Mixed>("every type, mixed", &columns, row, |row| {
        for pair in &row.pairs {
            read(pair.values);
            black_box(pair.key);
        }
        read(row.messages);
        black_box(&**row);
    });
}

/// What is read lazily is read here.
fn visit(row: &Borrowed<'_>) {
    read(row.texts);
    read(row.numerics);
    read(row.blobs);
    for document in row.documents {
        let BorrowedJson(document) = document.unwrap();
        black_box((document.name, document.count));
    }
    for pair in row.pairs {
        let pair = pair.unwrap();
        read(pair.values);
        black_box(pair.key);
    }
    for pair in row.maybe_pairs.into_iter().flatten() {
        if let Some((key, values)) = pair.unwrap() {
            read(values);
            black_box(key);
        }
    }
    read(row.pair.1);
    if let Value::List(list) = row.any {
        black_box(list.iter().count());
    }
    black_box((row.json2.0.x, row.json2.0.y));
    black_box(row);
}

fn read<'row, T: spanner_rows::FromColumn<'row>>(list: List<'row, T>) {
    for element in list {
        black_box(element.unwrap());
    }
}

fn columns() -> Vec<(&'static str, Type)> {
    let scalar = Type::new;
    let array = |code| Type::array(scalar(code));
    let pg = || scalar(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric);
    let message = || scalar(TypeCode::Proto).with_proto_type("test.Message");
    let pair = || {
        Type::structure(RowType::new([
            Field::new("key", scalar(TypeCode::Uuid)),
            Field::new("values", array(TypeCode::Int64)),
        ]))
    };
    vec![
        ("numeric", scalar(TypeCode::Numeric)),
        ("numeric2", scalar(TypeCode::Numeric)),
        ("pg_numeric", pg()),
        ("json", scalar(TypeCode::Json)),
        ("json2", scalar(TypeCode::Json)),
        ("json3", scalar(TypeCode::Json)),
        ("json4", scalar(TypeCode::Json)),
        ("uuid", scalar(TypeCode::Uuid)),
        ("interval", scalar(TypeCode::Interval)),
        ("interval2", scalar(TypeCode::Interval)),
        ("four", scalar(TypeCode::Bytes)),
        ("bytes", scalar(TypeCode::Bytes)),
        ("bytes2", scalar(TypeCode::Bytes)),
        ("number", scalar(TypeCode::Enum)),
        ("number2", scalar(TypeCode::Enum)),
        ("instant", scalar(TypeCode::Timestamp)),
        ("instant2", scalar(TypeCode::Timestamp)),
        ("instant3", scalar(TypeCode::Timestamp)),
        ("instant4", scalar(TypeCode::Timestamp)),
        ("day", scalar(TypeCode::Date)),
        ("day2", scalar(TypeCode::Date)),
        ("any", array(TypeCode::String)),
        ("maybe_numeric", scalar(TypeCode::Numeric)),
        ("maybe_json", scalar(TypeCode::Json)),
        ("maybe_uuid", scalar(TypeCode::Uuid)),
        ("maybe_four", scalar(TypeCode::Bytes)),
        ("maybe_bytes", scalar(TypeCode::Bytes)),
        ("maybe_instant", scalar(TypeCode::Timestamp)),
        ("texts", array(TypeCode::String)),
        ("numerics", array(TypeCode::Numeric)),
        ("pg_numerics", Type::array(pg())),
        ("blobs", array(TypeCode::Bytes)),
        ("documents", array(TypeCode::Json)),
        ("pairs", Type::array(pair())),
        ("maybe_pairs", Type::array(pair())),
        ("pair", pair()),
        ("message", message()),
        ("maybe_message", message()),
        ("messages", Type::array(message())),
    ]
}

/// The values of row `i`: lengths go up and down, NULL and values take turns.
fn row(i: usize) -> Vec<OwnedValue> {
    let i = i % PERIOD;
    let known = |text: &str| OwnedValue::String(text.to_owned());
    let text = |n: usize| OwnedValue::String("é".repeat(n * 7 % 20));
    // Base64 of zeros.
    let bytes = |n: usize| OwnedValue::String("AAAA".repeat(n * 11 % 15));
    let list = |f: &dyn Fn(usize) -> OwnedValue| OwnedValue::List((0..i % 5).map(f).collect());
    let or_null = |null: bool, value| if null { OwnedValue::Null } else { value };
    let numeric = |n: usize| {
        let (whole, fraction) = ("9".repeat(n * 7 % 20), "3".repeat(1 + n % 9));
        OwnedValue::String(format!("-1{whole}.{fraction}"))
    };
    let pg = |n: usize| OwnedValue::String(format!("{}.{}", n, "5".repeat(n * 3 % 40)));
    let document = |n: usize| {
        let name = "ż".repeat(n % 9);
        OwnedValue::String(format!(r#"{{"name":"{name}","count":{n}}}"#))
    };
    let uuid = |n: usize| OwnedValue::String(format!("00000000-0000-4000-8000-{n:012x}"));
    let integers = |n: usize| {
        let values = (0..n % 6).map(|k| OwnedValue::String((n * k).to_string()));
        OwnedValue::List(values.collect())
    };
    let pair = |n: usize| OwnedValue::List(vec![uuid(n), integers(n)]);
    // id: 1, name: up to four letters, numbers: up to six packed.
    let message = |n: usize| {
        let (letters, numbers) = (n % 5, n % 7);
        let mut bytes = vec![0x08, 0x01, 0x12, letters as u8];
        bytes.extend(vec![b'x'; letters]);
        bytes.extend([0x1a, numbers as u8]);
        bytes.extend(vec![7; numbers]);
        OwnedValue::String(base64(&bytes))
    };
    let instant = known("2024-02-29T12:30:45.123456789Z");
    vec![
        numeric(i),
        numeric(i % 3),
        pg(i),
        document(i),
        known(r#"{"x":1.5,"y":[-7,true]}"#),
        document(i + 1),
        known(r#"{"deep":[[[{"deeper":"\n"}]]]}"#),
        uuid(i),
        known("P1Y2M3DT4H5M6.789S"),
        known("P-14M-3DT-0.000000001S"),
        known("AQIDBA=="),
        bytes(i),
        bytes(i + 2),
        OwnedValue::String((i as i32 - 9).to_string()),
        OwnedValue::String(i.to_string()),
        instant.clone(),
        instant.clone(),
        instant.clone(),
        instant.clone(),
        known("2024-02-29"),
        known("0001-01-01"),
        list(&text),
        or_null(i.is_multiple_of(2), numeric(i)),
        or_null(i.is_multiple_of(3), document(i)),
        or_null(i.is_multiple_of(2), uuid(i)),
        or_null(i.is_multiple_of(3), known("AAAAAA==")),
        or_null(i.is_multiple_of(2), bytes(i)),
        or_null(i.is_multiple_of(3), instant),
        list(&|j| text(i + j)),
        list(&|j| or_null((i + j).is_multiple_of(3), numeric(i + j))),
        or_null(i % 4 == 1, list(&|j| pg(i + j))),
        list(&|j| bytes(i + j)),
        list(&|j| document(i + j)),
        list(&|j| pair(i + j)),
        or_null(
            i % 4 == 2,
            list(&|j| or_null((i + j).is_multiple_of(3), pair(i + j))),
        ),
        pair(i),
        message(i),
        or_null(i.is_multiple_of(2), message(i)),
        list(&|j| or_null((i + j).is_multiple_of(3), message(i + j))),
    ]
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit.into() } else { '=' });
        }
    }
    text
}
