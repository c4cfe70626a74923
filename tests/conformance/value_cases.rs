//! `tests/data/value-cases.json`: one value of one type, decoded into the Rust
//! types for it, borrowed and owned.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use bigdecimal::BigDecimal;
use prost::Message as _;
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use spanner_rows::testing::{Message, Step};
use spanner_rows::{
    Base64, BorrowedJson, ColumnType, DecodeError, Error, Field, FromColumn, Interval,
    Json as JsonColumn, JsonDocument, List, Numeric, NumericError, OwnedValue, PgNumeric, Proto,
    ProtoEnum, RetrySettings, Row, RowType, SpannerRow, Timestamp,
};

use crate::json::{add_values, type_of, value};
use crate::run::{SQL, server};

#[tokio::test]
async fn values() {
    let file: Json = serde_json::from_str(include_str!("../data/value-cases.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len() as u64, file["count"].as_u64().unwrap());
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let ty = case["type"].as_str().unwrap();
        let columns = RowType::new([Field::new("v", type_of(ty))]);
        let message = add_values(Message::new().row_type(&columns), &[case["wire"].clone()]);
        // A second row shows that an error costs its own row only.
        let message = add_values(message, &[Json::Null]);
        let (_fake, client) =
            server(vec![vec![Step::Message(message)]], RetrySettings::default()).await;
        let mut rows = client.query(SQL).rows::<Row>().await.unwrap();

        let row = rows.next().await.unwrap().expect("the row of the case");
        for (reader, got) in readings(&row, ty) {
            compare(&format!("{id} into {reader}"), case, got);
        }
        undecoded(&row, id, &case["wire"]);
        let row = rows.next().await.unwrap().expect("the row behind it");
        assert!(row.value(0).unwrap().is_null(), "{id}");
    }
}

fn compare(what: &str, case: &Json, got: Result<Json, DecodeError>) {
    match (case["expect"].get("value"), got) {
        (Some(expected), Ok(got)) => assert_eq!(got, *expected, "{what}"),
        (Some(expected), Err(error)) => panic!("{what}: expected {expected}, got {error}"),
        (None, Ok(got)) => panic!("{what}: expected an error, got {got}"),
        (None, Err(error)) => {
            let code = Error::from(error).code();
            assert_eq!(code.to_string(), case["expect"]["error"], "{what}");
        }
    }
}

/// `Value` and `OwnedValue` take every type, and what typed reading refuses, too.
fn undecoded(row: &Row<'_>, id: &str, wire: &Json) {
    if wire.is_object() {
        assert!(row.value(0).is_err(), "{id}");
        assert!(row.get::<OwnedValue>(0).is_err(), "{id}");
        return;
    }
    let sent = value(wire);
    assert_eq!(row.value(0).unwrap(), sent, "{id}");
    assert_eq!(row.get::<OwnedValue>(0).unwrap(), sent, "{id}");
}

type Reading = (&'static str, Result<Json, DecodeError>);

/// The value read into every Rust type for its Spanner type, in the notation
/// of the file.
fn readings(row: &Row<'_>, ty: &str) -> Vec<Reading> {
    match ty {
        "NUMERIC PG_NUMERIC" => return pg_numerics(row),
        _ if ty.starts_with("JSON") => return json_documents(row),
        _ => {}
    }
    match ty.split(' ').next().unwrap() {
        "BOOL" => vec![read::<bool>(row, |v| json!(v))],
        "INT64" => vec![read::<i64>(row, |v| json!(v.to_string()))],
        "ENUM" => vec![
            read::<i64>(row, |v| json!(v.to_string())),
            read::<i32>(row, |v| json!(v.to_string())),
            read::<ProtoEnum<i32>>(row, |v| json!(v.0.to_string())),
            read::<ProtoEnum<Level>>(row, |v| json!((v.0 as i32).to_string())),
        ],
        "FLOAT64" => vec![read::<f64>(row, |v| float(&format!("{v:?}")))],
        "FLOAT32" => vec![read::<f32>(row, |v| float(&format!("{v:?}")))],
        "TIMESTAMP" => vec![
            read::<Timestamp>(row, |v| json!([v.seconds(), v.nanoseconds()])),
            ("jiff::Timestamp", jiff_timestamp(row)),
            read::<chrono::DateTime<chrono::Utc>>(row, |v| {
                json!([v.timestamp(), v.timestamp_subsec_nanos()])
            }),
            read::<time::OffsetDateTime>(row, |v| json!([v.unix_timestamp(), v.nanosecond()])),
            read::<SystemTime>(row, |v| {
                let v = Timestamp::try_from(v).expect("years 1 to 9999");
                json!([v.seconds(), v.nanoseconds()])
            }),
        ],
        "DATE" => vec![
            read::<jiff::civil::Date>(row, |v| {
                let epoch = jiff::civil::date(1970, 1, 1);
                json!(epoch.until(v).unwrap().get_days())
            }),
            read::<chrono::NaiveDate>(row, |v| json!(v.to_epoch_days())),
            read::<time::Date>(row, |v| {
                let epoch = time::OffsetDateTime::UNIX_EPOCH.date();
                json!((v - epoch).whole_days())
            }),
        ],
        "STRING" => texts(row),
        "BYTES" => bytes(row),
        "PROTO" => {
            let mut readings = bytes(row);
            readings.push(read::<Proto<Name>>(row, |v| hex(v.0.encode_to_vec())));
            readings
        }
        "NUMERIC" => numerics(row),
        "UUID" => uuids(row),
        "INTERVAL" => vec![
            read::<Interval>(row, parts),
            read::<jiff::Span>(row, |v| parts(Interval::from(v))),
        ],
        "ARRAY<INT64>" => vec![
            read::<Vec<i64>>(row, |v| json!(v)),
            read::<Box<[i64]>>(row, |v| json!(v)),
            read::<List<'_, i64>>(row, |v| v.into_iter().map(Result::unwrap).collect()),
        ],
        "ARRAY<FLOAT64>" => {
            let show = |v: Option<f64>| v.map_or(Json::Null, |v| float(&format!("{v:?}")));
            vec![
                read::<Vec<Option<f64>>>(row, |v| v.into_iter().map(show).collect()),
                read::<Box<[Option<f64>]>>(row, |v| v.into_iter().map(show).collect()),
                read::<List<'_, Option<f64>>>(row, |v| {
                    v.into_iter().map(Result::unwrap).map(show).collect()
                }),
            ]
        }
        "ARRAY<STRUCT<>>" => vec![read::<OwnedValue>(row, |v| match v {
            OwnedValue::List(elements) => elements
                .iter()
                .map(|element| {
                    assert_eq!(*element, OwnedValue::List(Vec::new()));
                    json!([])
                })
                .collect(),
            other => panic!("{other} is not a list"),
        })],
        "STRUCT<a" => vec![
            read::<(Option<i64>,)>(row, |v| json!([v.0])),
            read::<Derived>(row, |v| json!([v.a])),
        ],
        other => panic!("no Rust type is known for `{other}`"),
    }
}

fn texts(row: &Row<'_>) -> Vec<Reading> {
    vec![
        read::<&str>(row, |v| json!(v)),
        read::<Cow<'_, str>>(row, |v| json!(v)),
        read::<String>(row, |v| json!(v)),
        read::<Box<str>>(row, |v| json!(v)),
        read::<Arc<str>>(row, |v| json!(&*v)),
    ]
}

/// JSON as text, and as a tree that is that of the text.
fn json_documents(row: &Row<'_>) -> Vec<Reading> {
    let mut readings = texts(row);
    readings.push(read::<&RawValue>(row, |v| json!(v.get())));
    let sent = row.get::<Option<&str>>(0).ok().flatten();
    let same = |v: Json| {
        let sent = sent.expect("a document that can be read is text");
        assert_eq!(v, serde_json::from_str::<Json>(sent).unwrap());
        json!(sent)
    };
    readings.push(read::<Json>(row, same));
    readings.push(read::<JsonColumn<Json>>(row, |v| same(v.0)));
    readings.push(read::<BorrowedJson<Document<'_>>>(row, |v| {
        json!(v.0.0.get())
    }));
    readings
}

fn bytes(row: &Row<'_>) -> Vec<Reading> {
    vec![
        read::<&[u8]>(row, hex),
        read::<Cow<'_, [u8]>>(row, |v| hex(&v)),
        read::<Vec<u8>>(row, |v| hex(&v)),
        read::<Box<[u8]>>(row, |v| hex(&v)),
        read::<bytes::Bytes>(row, |v| hex(&v)),
        read_then::<Base64<'_>>(row, |v| v.decode().map(hex)),
        fixed::<0>(row),
        fixed::<2>(row),
        fixed::<5>(row),
    ]
}

/// An array has one length; for bytes of another it must say so.
fn fixed<const N: usize>(row: &Row<'_>) -> Reading {
    let read = row.get::<Option<[u8; N]>>(0);
    let shown = match (read, row.get::<Option<&[u8]>>(0)) {
        (Err(error), Ok(Some(bytes))) if bytes.len() != N => {
            let (sent, wanted) = (bytes.len(), format!("the array has {N}"));
            assert!(error.to_string().contains(&wanted), "{sent}: {error}");
            Ok(hex(bytes))
        }
        (read, _) => read.map(|value| value.map_or(Json::Null, hex)),
    };
    (std::any::type_name::<[u8; N]>(), shown)
}

/// Text is not looked at; what it then is must be what `Uuid` says of it.
fn uuids(row: &Row<'_>) -> Vec<Reading> {
    let parsed = |text: &str| match uuid::Uuid::try_parse(text) {
        Ok(uuid) => Ok(hex(uuid.as_bytes())),
        Err(error) => Err(DecodeError::invalid(error)),
    };
    vec![
        read::<uuid::Uuid>(row, |v| hex(v.as_bytes())),
        read_then::<&str>(row, parsed),
        read_then::<Cow<'_, str>>(row, |v| parsed(&v)),
        read_then::<String>(row, |v| parsed(&v)),
        read_then::<Box<str>>(row, |v| parsed(&v)),
        read_then::<Arc<str>>(row, |v| parsed(&v)),
    ]
}

fn numerics(row: &Row<'_>) -> Vec<Reading> {
    let scaled = |v: Numeric| json!(v.scaled().to_string());
    vec![
        read::<Numeric>(row, scaled),
        read_then::<PgNumeric>(row, |v| fits(v.to_numeric()).map(scaled)),
        read_then::<BigDecimal>(row, |v| fits(Numeric::try_from(&v)).map(scaled)),
        ("rust_decimal::Decimal", decimal(row)),
    ]
}

fn fits(number: Result<Numeric, NumericError>) -> Result<Numeric, DecodeError> {
    number.map_err(DecodeError::invalid)
}

/// `Decimal` has fewer digits; it must then say what has enough.
fn decimal(row: &Row<'_>) -> Result<Json, DecodeError> {
    let scaled = |v: Numeric| json!(v.scaled().to_string());
    match (row.get::<Option<Decimal>>(0), row.get::<Option<Numeric>>(0)) {
        (Err(error), Ok(Some(exact))) => {
            assert!(Decimal::try_from(exact).is_err(), "{error}");
            assert!(
                error.to_string().contains("spanner_rows::Numeric"),
                "{error}"
            );
            Ok(scaled(exact))
        }
        (read, _) => read.map(|v| v.map_or(Json::Null, |v| scaled(Numeric::try_from(v).unwrap()))),
    }
}

fn pg_numerics(row: &Row<'_>) -> Vec<Reading> {
    vec![
        read::<PgNumeric<&str>>(row, |v| json!(v.as_str())),
        read::<PgNumeric>(row, |v| json!(v.as_str())),
        shorter::<BigDecimal>(
            row,
            |v| v.to_plain_string(),
            |text| text.parse::<BigDecimal>().is_ok(),
        ),
        shorter::<Decimal>(row, Decimal::to_string, |text| {
            Decimal::from_str_exact(text).is_ok()
        }),
        shorter::<Numeric>(row, Numeric::to_string, |text| {
            text.parse::<Numeric>().is_ok()
        }),
    ]
}

/// What does not hold every number of the PostgreSQL dialect; it must then say what does.
fn shorter<T: for<'row> FromColumn<'row> + ColumnType>(
    row: &Row<'_>,
    show: fn(&T) -> String,
    fits: fn(&str) -> bool,
) -> Reading {
    let exact = row.get::<Option<PgNumeric>>(0).unwrap();
    let shown = match (row.get::<Option<T>>(0), exact) {
        (Err(error), Some(exact)) if !fits(exact.as_str()) => {
            assert!(error.to_string().contains("PgNumeric"), "{error}");
            Ok(json!(exact.as_str()))
        }
        (read, _) => read.map(|value| value.map_or(Json::Null, |value| json!(show(&value)))),
    };
    (std::any::type_name::<T>(), shown)
}

fn parts(v: Interval) -> Json {
    json!([v.months, v.days, v.nanoseconds.to_string()])
}

/// The enum of the ENUM cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum Level {
    None = 0,
    Below = -1,
    Third = 3,
}

/// A document that borrows.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Document<'a>(#[serde(borrow)] &'a RawValue);

impl JsonDocument for Document<'_> {
    type At<'row> = Document<'row>;
    type Static = Document<'static>;
}

/// The struct of the STRUCT cases.
#[derive(Debug, SpannerRow)]
struct Derived {
    a: Option<i64>,
}

/// The message of the PROTO cases.
#[derive(Clone, PartialEq, prost::Message)]
struct Name {
    #[prost(string, tag = "1")]
    name: String,
}

/// Reads the value through `Option`, so that NULL is a value as in the file.
fn read<'row, T>(row: &Row<'row>, show: impl Fn(T) -> Json) -> Reading
where
    T: FromColumn<'row> + ColumnType,
{
    read_then(row, |value| Ok(show(value)))
}

/// As [`read`], for what can fail after reading too.
fn read_then<'row, T>(row: &Row<'row>, show: impl Fn(T) -> Result<Json, DecodeError>) -> Reading
where
    T: FromColumn<'row> + ColumnType,
{
    let read = row.get::<Option<T>>(0);
    let shown = read.and_then(|value| value.map_or(Ok(Json::Null), show));
    (std::any::type_name::<T>(), shown)
}

/// `jiff::Timestamp` ends before the year 9999 does; it must then say so.
fn jiff_timestamp(row: &Row<'_>) -> Result<Json, DecodeError> {
    let show = |v: jiff::Timestamp| {
        let exact = Timestamp::try_from(v).expect("years 1 to 9999");
        json!([exact.seconds(), exact.nanoseconds()])
    };
    match (
        row.get::<Option<jiff::Timestamp>>(0),
        row.get::<Option<Timestamp>>(0),
    ) {
        (Err(error), Ok(Some(exact))) => {
            assert!(jiff::Timestamp::try_from(exact).is_err(), "{error}");
            assert!(
                error.to_string().contains("spanner_rows::Timestamp"),
                "{error}"
            );
            Ok(json!([exact.seconds(), exact.nanoseconds()]))
        }
        (read, _) => read.map(|value| value.map_or(Json::Null, show)),
    }
}

/// The shortest text of a float, as Python prints it.
fn float(text: &str) -> Json {
    let text = text.replace("NaN", "nan");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => {
            json!(format!("{digits}e+{exponent}"))
        }
        _ => json!(text),
    }
}

fn hex(bytes: impl AsRef<[u8]>) -> Json {
    json!(
        bytes
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    )
}
