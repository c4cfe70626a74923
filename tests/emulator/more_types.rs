//! Types of other crates and types with more than one Rust type: one table, each
//! column read into everything that can hold it, by `next`, by `next_batch` and by
//! `Row::get`.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use bigdecimal::BigDecimal;
use bytes::Bytes;
use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use spanner_rows::testing::Database;
use spanner_rows::{
    Base64, BorrowedJson, Client, Json, JsonDocument, List, Numeric, PgNumeric, Proto, SpannerRow,
    Timestamp,
};
use uuid::Uuid;

use crate::literals::Literal;
use crate::support;
use crate::ways::read_as;

const DDL: &str = "CREATE TABLE More (
    Id INT64 NOT NULL,
    Num NUMERIC,
    Doc JSON,
    Text STRING(MAX),
    Key STRING(36),
    Bytes BYTES(MAX),
    Four BYTES(4),
    Instant TIMESTAMP,
    Day DATE,
    Nums ARRAY<NUMERIC>,
    Docs ARRAY<JSON>,
    Texts ARRAY<STRING(MAX)>,
    Ints ARRAY<INT64>,
    Instants ARRAY<TIMESTAMP>,
) PRIMARY KEY (Id)";

const NUMBERS: [&str; 9] = [
    "0",
    "0.000000001",
    "-0.000000001",
    "99999999999999999999999999999.999999999",
    "-99999999999999999999999999999.999999999",
    "12345678901234567890123456789.123456789",
    "-1.5",
    "1000000000",
    "0.1",
];

/// In the form into which Spanner brings JSON: no spaces, keys in order.
const DOCUMENTS: [&str; 9] = [
    "null",
    "{}",
    "[]",
    r#"{"a":{"b":[1,[2,{"c":null}]]},"z":true}"#,
    r#""quoted \" \\ \n żółć 🎷""#,
    "-9223372036854775808",
    "1.5",
    r#"{"name":"Zoë \"Z\"","tags":["x",""]}"#,
    r#"{"name":"plain","tags":[]}"#,
];

const TEXTS: [&str; 4] = ["", "a", "żółć 🎷", "'\"\\\n\0"];

const KEYS: [&str; 3] = [
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "01234567-89ab-cdef-0123-456789abcdef",
];

const INSTANTS: [&str; 6] = [
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "1969-12-31T23:59:59.999999999Z",
    "1970-01-01T00:00:00Z",
    "2024-02-29T12:30:45.000000001Z",
    "2024-02-29T12:30:45.12Z",
];

const DAYS: [&str; 4] = ["0001-01-01", "9999-12-31", "2024-02-29", "1969-12-31"];

fn blobs() -> [Vec<u8>; 4] {
    [vec![], vec![0], (0..=255).collect(), vec![255; 5_000]]
}

const FOURS: [[u8; 4]; 3] = [[0; 4], [255; 4], [1, 2, 254, 3]];

/// A row per edge value, shorter lists again from their start; rows of NULL before,
/// between and after them, the last with all values in its arrays.
const ROWS: i64 = 11;
const BETWEEN: i64 = 5;

fn pick<T: Clone>(values: &[T], id: i64) -> Option<T> {
    let index = match id {
        0 | BETWEEN | ROWS => return None,
        id if id < BETWEEN => id - 1,
        id => id - 2,
    };
    Some(values[index as usize % values.len()].clone())
}

/// NULL, empty, one element, all elements with NULL between them.
fn elements<T: Clone>(values: &[T], id: i64) -> Option<Vec<Option<T>>> {
    match id {
        BETWEEN => None,
        ROWS => Some(
            values
                .iter()
                .flat_map(|v| [Some(v.clone()), None])
                .collect(),
        ),
        _ if id % 3 == 0 => Some(Vec::new()),
        _ => Some(vec![pick(values, id)]),
    }
}

async fn more() -> Option<(Database, Client)> {
    fn sql<T>(value: Option<T>, literal: impl Fn(T) -> String) -> String {
        value.map_or_else(|| "NULL".to_owned(), literal)
    }
    fn array<T>(values: Option<Vec<Option<T>>>, ty: &str, literal: impl Fn(T) -> String) -> String {
        sql(values, |values| {
            let values = values.into_iter().map(|value| sql(value, &literal));
            format!("ARRAY<{ty}>[{}]", values.collect::<Vec<_>>().join(", "))
        })
    }
    let (database, client) = support::database(&[DDL]).await?;
    let text = |value: &str| value.to_owned().sql();
    let number = |value| format!("NUMERIC '{value}'");
    let document = |value| format!("JSON {}", text(value));
    let instant = |value| format!("TIMESTAMP '{value}'");
    let inserts = (0..=ROWS).map(|id| {
        let values = [
            id.to_string(),
            sql(pick(&NUMBERS, id), number),
            sql(pick(&DOCUMENTS, id), document),
            sql(pick(&TEXTS, id), text),
            sql(pick(&KEYS, id), text),
            sql(pick(&blobs(), id), |value| value.sql()),
            sql(pick(&FOURS, id), |value| value.to_vec().sql()),
            sql(pick(&INSTANTS, id), instant),
            sql(pick(&DAYS, id), |value| format!("DATE '{value}'")),
            array(elements(&NUMBERS, id), "NUMERIC", number),
            array(elements(&DOCUMENTS, id), "JSON", document),
            array(elements(&TEXTS, id), "STRING", text),
            array(elements(&[i64::MIN, i64::MAX, 0], id), "INT64", |value| {
                value.sql()
            }),
            array(elements(&INSTANTS, id), "TIMESTAMP", instant),
        ];
        let columns =
            "Id, Num, Doc, Text, Key, Bytes, Four, Instant, Day, Nums, Docs, Texts, Ints, Instants";
        format!(
            "INSERT INTO More ({columns}) VALUES ({})",
            values.join(", ")
        )
    });
    let inserts: Vec<_> = inserts.collect();
    let inserts: Vec<_> = inserts.iter().map(String::as_str).collect();
    database.execute_all(&inserts).await.unwrap();
    Some((database, client))
}

/// [`read_as!`] for a column of the table.
macro_rules! reads {
    ($client:expr, $column:literal, $expected:expr; $($rest:tt)+) => {
        read_as! {
            $client,
            concat!("SELECT ", $column, " FROM More ORDER BY Id"),
            (0..=ROWS).map($expected).collect::<Vec<_>>();
            $($rest)+
        }
    };
}

#[tokio::test]
async fn numeric() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let expected = |id| pick(&NUMBERS, id).map(str::to_owned);
    reads! { client, "Num", expected;
        Numeric => |value| value.to_string();
        PgNumeric => |value| value.to_numeric().unwrap().to_string();
        PgNumeric<&str> => |value| value.to_numeric().unwrap().to_string();
        BigDecimal => |value| value.normalized().to_plain_string();
    }
    let expected = |id| {
        elements(&NUMBERS, id).map(|values| {
            values
                .into_iter()
                .map(|value| value.map(str::to_owned))
                .collect::<Vec<_>>()
        })
    };
    reads! { client, "Nums", expected;
        Vec<Option<Numeric>> => |values| values.iter().map(|v| v.map(|v| v.to_string())).collect();
        Box<[Option<Numeric>]> => |values| values.iter().map(|v| v.map(|v| v.to_string())).collect();
        List<Option<Numeric>> => |values| values.iter().map(|v| v.unwrap().map(|v| v.to_string())).collect();
        Vec<Option<BigDecimal>> => |values| values.iter().map(|v| v.as_ref().map(|v| v.normalized().to_plain_string())).collect();
    }
}

/// One struct that is set anew for every row, which tuples are not.
#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Reused {
    id: i64,
    num: Option<PgNumeric>,
    doc: Option<serde_json::Value>,
    text: Option<Arc<str>>,
    key: Option<Uuid>,
    bytes: Option<Bytes>,
    four: Option<[u8; 4]>,
    instant: Option<SystemTime>,
    day: Option<NaiveDate>,
    nums: Option<Vec<Option<BigDecimal>>>,
    docs: Option<Vec<Option<Json<serde_json::Value>>>>,
    texts: Option<Box<[Option<String>]>>,
    ints: Option<Box<[Option<i64>]>>,
    instants: Option<Vec<Option<DateTime<Utc>>>>,
}

#[tokio::test]
async fn nothing_is_left_of_an_earlier_row() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let query = |order: &str| client.query(format!("SELECT * FROM More ORDER BY Id {order}"));
    let mut rows = query("").rows::<Reused>().await.unwrap();
    let mut fresh: Vec<Reused> = rows.try_collect().await.unwrap();
    assert_eq!(fresh.len() as i64, ROWS + 1);
    for row in &fresh {
        let nulls = [
            (row.num.is_none(), pick(&NUMBERS, row.id).is_none()),
            (row.doc.is_none(), pick(&DOCUMENTS, row.id).is_none()),
            (row.nums.is_none(), elements(&NUMBERS, row.id).is_none()),
        ];
        assert!(
            nulls.iter().all(|(read, written)| read == written),
            "{row:?}"
        );
        let texts = elements(&TEXTS, row.id);
        assert_eq!(row.texts.as_ref().map(|t| t.len()), texts.map(|t| t.len()));
    }
    // From the short to the long and back: NULL follows values, short lists long ones.
    for order in ["", "DESC"] {
        let mut rows = query(order).rows::<Reused>().await.unwrap();
        for fresh in &fresh {
            assert_eq!(rows.next().await.unwrap().unwrap(), fresh);
        }
        assert!(rows.next().await.unwrap().is_none());
        fresh.reverse();
    }
}

/// What `rust_decimal` cannot hold is an error of its row, and tells what can.
#[tokio::test]
async fn rust_decimal() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let sql = "SELECT Num FROM More ORDER BY Id";
    let mut rows = client
        .query(sql)
        .rows::<(Option<Decimal>,)>()
        .await
        .unwrap();
    for id in 0..=ROWS {
        let expected = pick(&NUMBERS, id);
        match rows.next().await {
            Ok(row) => {
                let shown = row
                    .expect("as many rows as written")
                    .0
                    .map(|value| value.to_string());
                assert_eq!(shown.as_deref(), expected);
            }
            Err(error) => {
                assert!(expected.unwrap().len() > 30, "{error}");
                assert!(error.is_row_error(), "{error}");
                assert!(
                    error.to_string().contains("spanner_rows::Numeric"),
                    "{error}"
                );
            }
        }
    }
    assert!(rows.next().await.unwrap().is_none());
}

#[derive(Debug, PartialEq, serde::Deserialize)]
struct Document {
    name: String,
    tags: Vec<String>,
}

#[derive(Debug, serde::Deserialize)]
struct DocumentRef<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    tags: Vec<Cow<'a, str>>,
}

impl JsonDocument for DocumentRef<'_> {
    type At<'row> = DocumentRef<'row>;
    type Static = DocumentRef<'static>;
}

#[tokio::test]
async fn json() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let expected = |id| pick(&DOCUMENTS, id).map(str::to_owned);
    reads! { client, "Doc", expected;
        String => |text| text.clone();
        &str => |text| (*text).to_owned();
        Cow<str> => |text| text.to_string();
        Box<str> => |text| text.to_string();
        Arc<str> => |text| text.to_string();
        &RawValue => |raw| raw.get().to_owned();
        serde_json::Value => |value| value.to_string();
        Json<serde_json::Value> => |value| value.0.to_string();
        // JSON's `null` is not SQL's NULL.
        Json<Option<serde_json::Value>> => |value| value.0.as_ref().map_or_else(|| "null".to_owned(), ToString::to_string);
    }
    let expected = |id| {
        elements(&DOCUMENTS, id).map(|values| {
            values
                .into_iter()
                .map(|value| value.map(str::to_owned))
                .collect::<Vec<_>>()
        })
    };
    reads! { client, "Docs", expected;
        Vec<Option<serde_json::Value>> => |values| values.iter().map(|v| v.as_ref().map(ToString::to_string)).collect();
        Vec<Option<&RawValue>> => |values| values.iter().map(|v| v.map(|v| v.get().to_owned())).collect();
        List<Option<&str>> => |values| values.iter().map(|v| v.unwrap().map(str::to_owned)).collect();
    }

    let sql = "SELECT Doc, Doc FROM More WHERE JSON_VALUE(Doc, '$.name') IS NOT NULL ORDER BY Id";
    let mut rows = client
        .query(sql)
        .rows::<(Json<Document>, BorrowedJson<DocumentRef>)>()
        .await
        .unwrap();
    for (name, tags) in [("Zoë \"Z\"", &["x", ""][..]), ("plain", &[])] {
        let row = rows
            .next()
            .await
            .unwrap()
            .expect("two documents with a name");
        let (Json(owned), BorrowedJson(borrowed)) = &row;
        assert_eq!((owned.name.as_str(), &*borrowed.name), (name, name));
        assert!(owned.tags.iter().eq(tags) && borrowed.tags.iter().eq(tags));
        assert_eq!(
            matches!(borrowed.name, Cow::Borrowed(_)),
            !name.contains('"')
        );
    }
    assert!(rows.next().await.unwrap().is_none());

    // A document of another shape is an error of its row.
    let sql = "SELECT Doc FROM More WHERE Id IN (2, 9) ORDER BY Id";
    let mut rows = client.query(sql).rows::<(Json<Document>,)>().await.unwrap();
    let error = rows.next().await.unwrap_err();
    assert!(
        error.is_row_error() && error.to_string().contains("name"),
        "{error}"
    );
    assert_eq!(rows.next().await.unwrap().unwrap().0.0.tags, ["x", ""]);
}

#[tokio::test]
async fn text() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let expected = |id| pick(&TEXTS, id).map(str::to_owned);
    reads! { client, "Text", expected;
        Arc<str> => |text| text.to_string();
        Box<str> => |text| text.to_string();
    }
    let expected = |id| {
        elements(&TEXTS, id).map(|values| {
            values
                .into_iter()
                .map(|value| value.map(str::to_owned))
                .collect::<Vec<_>>()
        })
    };
    reads! { client, "Texts", expected;
        Vec<Option<Arc<str>>> => |values| values.iter().map(|v| v.as_ref().map(ToString::to_string)).collect();
        Box<[Option<String>]> => |values| values.to_vec();
        Box<[Option<&str>]> => |values| values.iter().map(|v| v.map(str::to_owned)).collect();
        List<Option<&str>> => |values| values.iter().map(|v| v.unwrap().map(str::to_owned)).collect();
        List<Option<String>> => |values| values.iter().map(Result::unwrap).collect();
    }
    let expected = |id| pick(&KEYS, id).map(str::to_owned);
    reads! { client, "Key", expected;
        Uuid => |value| value.to_string();
    }
    let expected = |id| elements(&[i64::MIN, i64::MAX, 0], id);
    reads! { client, "Ints", expected;
        Box<[Option<i64>]> => |values| values.to_vec();
        List<Option<i64>> => |values| values.iter().map(Result::unwrap).collect();
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    name: String,
}

#[tokio::test]
async fn bytes() {
    let Some((_database, client)) = more().await else {
        return;
    };
    let expected = |id| pick(&blobs(), id);
    reads! { client, "Bytes", expected;
        Bytes => |bytes| bytes.to_vec();
        Box<[u8]> => |bytes| bytes.to_vec();
        Cow<[u8]> => |bytes| bytes.to_vec();
        Base64 => |text| text.decode().unwrap();
    }
    let expected = |id| pick(&FOURS, id);
    reads! { client, "Four", expected;
        [u8; 4] => |bytes| *bytes;
    }
    let sql = "SELECT Bytes FROM More WHERE Id IN (1, 2, 3) ORDER BY Id";
    let mut rows = client.query(sql).rows::<([u8; 1],)>().await.unwrap();
    assert!(
        rows.next()
            .await
            .unwrap_err()
            .to_string()
            .contains("0 bytes")
    );
    assert_eq!(rows.next().await.unwrap(), Some(([0],)));
    assert!(
        rows.next()
            .await
            .unwrap_err()
            .to_string()
            .contains("256 bytes")
    );

    // A message in a BYTES column.
    let sql = r"SELECT b'\x08\x2a\x12\x02hi' UNION ALL SELECT b'\xff'";
    let mut rows = client.query(sql).rows::<(Proto<Message>,)>().await.unwrap();
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..2 {
        match rows.next().await {
            Ok(row) => {
                let message = &row.expect("two rows").0.0;
                assert_eq!((message.id, message.name.as_str()), (42, "hi"));
                right += 1;
            }
            Err(error) => {
                assert!(error.is_row_error(), "{error}");
                wrong += 1;
            }
        }
    }
    assert_eq!((right, wrong), (1, 1));
}

#[tokio::test]
async fn times() {
    let Some((_database, client)) = more().await else {
        return;
    };
    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }
    let expected = |id| pick(&INSTANTS, id).map(at);
    reads! { client, "Instant", expected;
        Timestamp => |value| *value;
        DateTime<Utc> => |value| Timestamp::new(value.timestamp(), value.timestamp_subsec_nanos()).unwrap();
        time::OffsetDateTime => |value| Timestamp::new(value.unix_timestamp(), value.nanosecond()).unwrap();
        SystemTime => |value| Timestamp::try_from(*value).unwrap();
    }
    let expected = |id| {
        let values = elements(&INSTANTS, id)?;
        Some(
            values
                .into_iter()
                .map(|value| value.map(at))
                .collect::<Vec<_>>(),
        )
    };
    reads! { client, "Instants", expected;
        Box<[Option<Timestamp>]> => |values| values.to_vec();
        List<Option<Timestamp>> => |values| values.iter().map(Result::unwrap).collect();
        Vec<Option<SystemTime>> => |values| values.iter().map(|v| v.map(|v| Timestamp::try_from(v).unwrap())).collect();
        Vec<Option<DateTime<Utc>>> => |values| {
            let at = |v: DateTime<Utc>| Timestamp::new(v.timestamp(), v.timestamp_subsec_nanos()).unwrap();
            values.iter().map(|v| v.map(at)).collect()
        };
    }
    let expected = |id| pick(&DAYS, id).map(|day| jiff::civil::Date::from_str(day).unwrap());
    reads! { client, "Day", expected;
        NaiveDate => |value| value.to_string().parse().unwrap();
        time::Date => |value| jiff::civil::date(value.year() as i16, u8::from(value.month()) as i8, value.day() as i8);
    }
}
