//! Every type with its edge values, written by DML and read in every way.

use std::borrow::Cow;

use jiff::civil::{Date, date};
use spanner_rows::testing::Database;
use spanner_rows::{Client, OwnedValue, Row, SpannerRow, Timestamp, Value};

use crate::literals::{Literal, array};
use crate::support;

const DDL: &str = "CREATE TABLE Everything (
    Id INT64 NOT NULL,
    Bool BOOL,
    Int INT64,
    Double FLOAT64,
    Single FLOAT32,
    Text STRING(MAX),
    Bytes BYTES(MAX),
    Instant TIMESTAMP,
    Day DATE,
    Bools ARRAY<BOOL>,
    Ints ARRAY<INT64>,
    Doubles ARRAY<FLOAT64>,
    Singles ARRAY<FLOAT32>,
    Texts ARRAY<STRING(MAX)>,
    BytesList ARRAY<BYTES(MAX)>,
    Instants ARRAY<TIMESTAMP>,
    Days ARRAY<DATE>,
) PRIMARY KEY (Id)";

/// Some types are read into several Rust types: the column under another name.
const SQL: &str = "SELECT *, Text AS TextCow, Text AS TextBox, Bytes AS BytesCow,
        Texts AS TextsToo, BytesList AS BytesListToo
    FROM Everything ORDER BY Id";

type List<T> = Option<Vec<Option<T>>>;

#[derive(Clone, Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Everything {
    id: i64,
    bool: Option<bool>,
    int: Option<i64>,
    double: Option<f64>,
    single: Option<f32>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    instant: Option<Timestamp>,
    day: Option<Date>,
    bools: List<bool>,
    ints: List<i64>,
    doubles: List<f64>,
    singles: List<f32>,
    texts: List<String>,
    bytes_list: List<Vec<u8>>,
    instants: List<Timestamp>,
    days: List<Date>,
}

/// The same, but for what can be borrowed and boxed.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Borrowed<'row> {
    id: i64,
    bool: Option<bool>,
    int: Option<i64>,
    double: Option<f64>,
    single: Option<f32>,
    text: Option<&'row str>,
    text_cow: Option<Cow<'row, str>>,
    text_box: Option<Box<str>>,
    bytes: Option<&'row [u8]>,
    bytes_cow: Option<Cow<'row, [u8]>>,
    instant: Option<Timestamp>,
    day: Option<Date>,
    bools: List<bool>,
    ints: List<i64>,
    doubles: List<f64>,
    singles: List<f32>,
    texts: List<&'row str>,
    texts_too: List<Cow<'row, str>>,
    bytes_list: List<&'row [u8]>,
    bytes_list_too: List<Cow<'row, [u8]>>,
    instants: List<Timestamp>,
    days: List<Date>,
}

impl Everything {
    fn null(id: i64) -> Self {
        Self {
            id,
            bool: None,
            int: None,
            double: None,
            single: None,
            text: None,
            bytes: None,
            instant: None,
            day: None,
            bools: None,
            ints: None,
            doubles: None,
            singles: None,
            texts: None,
            bytes_list: None,
            instants: None,
            days: None,
        }
    }

    fn insert(&self) -> String {
        let values = [
            self.id.sql(),
            self.bool.sql(),
            self.int.sql(),
            self.double.sql(),
            self.single.sql(),
            self.text.sql(),
            self.bytes.sql(),
            self.instant.sql(),
            self.day.sql(),
            array(&self.bools),
            array(&self.ints),
            array(&self.doubles),
            array(&self.singles),
            array(&self.texts),
            array(&self.bytes_list),
            array(&self.instants),
            array(&self.days),
        ];
        format!(
            "INSERT INTO Everything (Id, Bool, Int, Double, Single, Text, Bytes, Instant, Day, Bools, Ints, Doubles, Singles, Texts, BytesList, \
             Instants, Days) VALUES ({})",
            values.join(", ")
        )
    }

    /// As text, in which NaN is like itself and -0.0 unlike 0.0.
    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

impl Borrowed<'_> {
    fn to_owned(&self) -> Everything {
        assert_eq!(self.text, self.text_cow.as_deref());
        assert_eq!(self.text, self.text_box.as_deref());
        assert_eq!(self.bytes, self.bytes_cow.as_deref());
        // Nothing of it was copied, the base64 apart.
        assert!(!matches!(self.text_cow, Some(Cow::Owned(_))));
        let texts = owned(&self.texts, |text| (*text).to_owned());
        assert_eq!(texts, owned(&self.texts_too, |text| text.to_string()));
        let bytes_list = owned(&self.bytes_list, |bytes| bytes.to_vec());
        assert_eq!(bytes_list, owned(&self.bytes_list_too, |b| b.to_vec()));
        Everything {
            id: self.id,
            bool: self.bool,
            int: self.int,
            double: self.double,
            single: self.single,
            text: self.text.map(str::to_owned),
            bytes: self.bytes.map(<[u8]>::to_vec),
            instant: self.instant,
            day: self.day,
            bools: self.bools.clone(),
            ints: self.ints.clone(),
            doubles: self.doubles.clone(),
            singles: self.singles.clone(),
            texts,
            bytes_list,
            instants: self.instants.clone(),
            days: self.days.clone(),
        }
    }
}

fn owned<A, B>(list: &List<A>, own: impl Fn(&A) -> B) -> List<B> {
    let list = list.as_ref()?;
    Some(list.iter().map(|value| value.as_ref().map(&own)).collect())
}

fn list<T: Clone>(values: &[T]) -> List<T> {
    let mut list: Vec<_> = values.iter().cloned().map(Some).collect();
    // NULL at the start, in the middle and at the end.
    list.insert(0, None);
    list.insert(list.len() / 2 + 1, None);
    list.push(None);
    Some(list)
}

fn at(seconds: i64, nanoseconds: u32) -> Timestamp {
    Timestamp::new(seconds, nanoseconds).expect("years 1 to 9999")
}

/// With every number of fraction digits.
fn instants() -> Vec<Timestamp> {
    let mut instants = vec![Timestamp::MIN, Timestamp::MAX, at(-1, 999_999_999)];
    let fractions =
        (0..=9).map(|digits| 123_456_789 / 10_u32.pow(9 - digits) * 10_u32.pow(9 - digits));
    instants.extend(fractions.map(|nanoseconds| at(1_700_000_000, nanoseconds)));
    instants
}

fn texts() -> Vec<String> {
    let long = "x€🎷".repeat(4_000);
    [
        "",
        " ",
        "a",
        "\0",
        "a\0b\u{7f}\r\n\t",
        "'\"`\\%@{}",
        "żółć",
        "日本語",
        "🎷🎸",
        "\u{10ffff}\u{feff}",
        &long,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn bytes() -> Vec<Vec<u8>> {
    let all: Vec<u8> = (0..=255).collect();
    vec![
        vec![],
        vec![0],
        vec![255, 254],
        vec![0, 0, 0],
        all.clone(),
        all.repeat(40),
    ]
}

fn rows() -> Vec<Everything> {
    let mut rows = vec![Everything::null(0), Everything::null(1)];
    rows[1] = Everything {
        id: 1,
        bool: Some(false),
        int: Some(0),
        double: Some(0.0),
        single: Some(0.0),
        text: Some(String::new()),
        bytes: Some(vec![]),
        instant: Some(at(0, 0)),
        day: Some(date(1970, 1, 1)),
        bools: Some(vec![]),
        ints: Some(vec![]),
        doubles: Some(vec![]),
        singles: Some(vec![]),
        texts: Some(vec![]),
        bytes_list: Some(vec![]),
        instants: Some(vec![]),
        days: Some(vec![]),
    };
    let ints = [i64::MIN, i64::MAX, -1, 1, 9_007_199_254_740_993, -9, 10];
    let doubles = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        f64::MIN,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        0.1,
        1e21,
        -1.5,
    ];
    let singles = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        f32::MIN,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        0.1,
        16_777_217.0,
    ];
    let days = [
        date(1, 1, 1),
        date(9999, 12, 31),
        date(2024, 2, 29),
        date(1969, 12, 31),
    ];
    let (texts, bytes, instants) = (texts(), bytes(), instants());
    // One row for each edge value, the shorter lists again from their start; all in the lists of the last row.
    for i in 0..instants.len() {
        rows.push(Everything {
            id: 2 + i as i64,
            bool: Some(i % 2 == 0),
            int: Some(ints[i % ints.len()]),
            double: Some(doubles[i % doubles.len()]),
            single: Some(singles[i % singles.len()]),
            text: Some(texts[i % texts.len()].clone()),
            bytes: Some(bytes[i % bytes.len()].clone()),
            instant: Some(instants[i]),
            day: Some(days[i % days.len()]),
            // A list of one, and every third NULL.
            bools: Some(vec![None]),
            ints: (i % 3 > 0).then(|| vec![Some(ints[i % ints.len()])]),
            texts: (i % 3 > 1).then(|| vec![Some(texts[i % texts.len()].clone())]),
            ..Everything::null(0)
        });
    }
    rows.push(Everything {
        bools: list(&[true, false]),
        ints: list(&ints),
        doubles: list(&doubles),
        singles: list(&singles),
        texts: list(&texts),
        bytes_list: list(&bytes),
        instants: list(&instants),
        days: list(&days),
        ..Everything::null(rows.len() as i64)
    });
    rows
}

async fn everything() -> Option<(Database, Client, Vec<Everything>)> {
    let (database, client) = support::database(&[DDL]).await?;
    let rows = rows();
    let inserts: Vec<_> = rows.iter().map(Everything::insert).collect();
    let inserts: Vec<_> = inserts.iter().map(String::as_str).collect();
    let changed = database.execute_all(&inserts).await.unwrap();
    assert_eq!(changed, vec![1; rows.len()]);
    Some((database, client, rows))
}

#[tokio::test]
async fn owned_rows() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let mut rows = client.query(SQL).rows::<Everything>().await.unwrap();
    for expected in &expected {
        let row = rows.next().await.unwrap().expect("as many rows as written");
        assert_eq!(row.shown(), expected.shown());
    }
    assert!(rows.next().await.unwrap().is_none());

    // By a read, columns from the struct, each with memory of its own.
    let all: Vec<Everything> = client
        .read("Everything")
        .all()
        .rows()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    let shown = |rows: &[Everything]| rows.iter().map(Everything::shown).collect::<Vec<_>>();
    assert_eq!(shown(&all), shown(&expected));
}

#[tokio::test]
async fn borrowed_rows() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let mut rows = client.query(SQL).rows::<Borrowed>().await.unwrap();
    for expected in &expected {
        let row = rows.next().await.unwrap().expect("as many rows as written");
        assert_eq!(row.to_owned().shown(), expected.shown());
    }
    assert!(rows.next().await.unwrap().is_none());

    // Again as batches, all rows of one alive at once, read backwards.
    let mut rows = client.query(SQL).rows::<Borrowed>().await.unwrap();
    let mut seen = Vec::new();
    while let Some(batch) = rows.next_batch().await.unwrap() {
        let mut alive = batch.iter().rev().collect::<Result<Vec<_>, _>>().unwrap();
        alive.reverse();
        seen.extend(alive.iter().map(|row| row.to_owned().shown()));
    }
    let expected: Vec<_> = expected.iter().map(Everything::shown).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn rows_without_a_struct() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let mut rows = client.query(SQL).rows::<Row>().await.unwrap();
    for expected in &expected {
        let row = rows.next().await.unwrap().expect("as many rows as written");
        let read = Everything {
            id: row.get("Id").unwrap(),
            bool: row.get("Bool").unwrap(),
            int: row.get("Int").unwrap(),
            double: row.get("Double").unwrap(),
            single: row.get("Single").unwrap(),
            text: row.get("Text").unwrap(),
            bytes: row.get("Bytes").unwrap(),
            instant: row.get("Instant").unwrap(),
            day: row.get("Day").unwrap(),
            bools: row.get(9).unwrap(),
            ints: row.get(10).unwrap(),
            doubles: row.get(11).unwrap(),
            singles: row.get(12).unwrap(),
            texts: row.get(13).unwrap(),
            bytes_list: row.get(14).unwrap(),
            instants: row.get(15).unwrap(),
            days: row.get(16).unwrap(),
        };
        assert_eq!(read.shown(), expected.shown());
        // Undecoded: as many values as columns, and NULL where NULL was written.
        let values: Vec<Value<'_>> = row.values().collect::<Result<_, _>>().unwrap();
        assert_eq!(values.len(), row.len());
        assert_eq!(values[5].is_null(), expected.text.is_none());
        assert_eq!(values[5], values[17]);
        for (i, value) in values.iter().enumerate() {
            let owned: OwnedValue = row.get(i).unwrap();
            assert_eq!(*value, owned);
        }
    }
    assert!(rows.next().await.unwrap().is_none());
}

/// What the server sends, without any decoding of ours.
#[tokio::test]
async fn wire_forms() {
    let Some((_database, client)) = support::database(&[]).await else {
        return;
    };
    let sql = "SELECT NULL, true, 42, 1.5, CAST('NaN' AS FLOAT64), CAST(0.1 AS FLOAT32), 'é', b'\\x00\\xff',
        TIMESTAMP '2024-02-29T12:00:00.5Z', DATE '0001-01-01', ['a', NULL], [STRUCT(1 AS a, 'x' AS b)]";
    let text = |text: &str| OwnedValue::String(text.to_owned());
    let expected = vec![
        OwnedValue::Null,
        OwnedValue::Bool(true),
        text("42"),
        OwnedValue::Number(1.5),
        text("NaN"),
        OwnedValue::Number(f64::from(0.1_f32)),
        text("é"),
        text("AP8="),
        text("2024-02-29T12:00:00.500Z"),
        text("0001-01-01"),
        OwnedValue::List(vec![text("a"), OwnedValue::Null]),
        OwnedValue::List(vec![OwnedValue::List(vec![text("1"), text("x")])]),
    ];
    let batch = client.query(sql).one_batch::<Row>().await.unwrap();
    let row = batch.row(0).unwrap();
    let values: Vec<_> = row
        .values()
        .map(|value| OwnedValue::from(value.unwrap()))
        .collect();
    // The server chooses the number of fraction digits.
    let mut values = values;
    if let OwnedValue::String(instant) = &mut values[8] {
        *instant = instant
            .replace(".5Z", ".500Z")
            .replace(".500000Z", ".500Z")
            .replace(".500000000Z", ".500Z");
    }
    assert_eq!(values, expected);
    let names: Vec<_> = row
        .row_type()
        .fields()
        .iter()
        .map(|field| field.name())
        .collect();
    assert_eq!(names, [""; 12]);
}

/// `&'row str` beside `Vec<String>`: lent as a guard.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Mixed<'row> {
    id: i64,
    text: Option<&'row str>,
    texts: Option<Vec<Option<String>>>,
    bytes: Option<Vec<u8>>,
    bytes_list: Option<Vec<Option<&'row [u8]>>>,
}

#[tokio::test]
async fn mixed_rows() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let mut rows = client.query(SQL).rows::<Mixed>().await.unwrap();
    for expected in &expected {
        let row = rows.next().await.unwrap().expect("as many rows as written");
        assert_eq!(row.id, expected.id);
        assert_eq!(row.text, expected.text.as_deref());
        assert_eq!(row.texts, expected.texts);
        assert_eq!(row.bytes, expected.bytes);
        let bytes_list = owned(&row.bytes_list, |bytes| bytes.to_vec());
        assert_eq!(bytes_list, expected.bytes_list);
    }
    assert!(rows.next().await.unwrap().is_none());
}

#[tokio::test]
async fn tuples() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let sql = "SELECT Id, Text, Bytes, Int, Instant, Day, Texts FROM Everything ORDER BY Id";
    type Borrowing<'row> = (
        i64,
        Option<&'row str>,
        Option<&'row [u8]>,
        Option<i64>,
        Option<Timestamp>,
        Option<Date>,
        List<&'row str>,
    );
    let mut rows = client.query(sql).rows::<Borrowing>().await.unwrap();
    for expected in &expected {
        let row = rows.next().await.unwrap().expect("as many rows as written");
        assert_eq!(
            (row.0, row.1, row.2),
            (
                expected.id,
                expected.text.as_deref(),
                expected.bytes.as_deref()
            )
        );
        assert_eq!(
            (row.3, row.4, row.5),
            (expected.int, expected.instant, expected.day)
        );
        assert_eq!(owned(&row.6, |text| (*text).to_owned()), expected.texts);
    }
    assert!(rows.next().await.unwrap().is_none());

    type Owning = (
        i64,
        Option<String>,
        Option<Vec<u8>>,
        Option<i64>,
        Option<Timestamp>,
        Option<Date>,
        List<String>,
    );
    let all: Vec<Owning> = client
        .query(sql)
        .rows::<Owning>()
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(all.len(), expected.len());
    for (row, expected) in all.into_iter().zip(&expected) {
        let expected = expected.clone();
        assert_eq!(
            row,
            (
                expected.id,
                expected.text,
                expected.bytes,
                expected.int,
                expected.instant,
                expected.day,
                expected.texts
            )
        );
    }
}

/// `jiff::Timestamp` holds all but the last hours of the year 9999.
#[tokio::test]
async fn jiff_timestamps() {
    let Some((_database, client, expected)) = everything().await else {
        return;
    };
    let sql = "SELECT Id, Instant FROM Everything WHERE Instant IS NOT NULL ORDER BY Id";
    let mut rows = client
        .query(sql)
        .rows::<(i64, jiff::Timestamp)>()
        .await
        .unwrap();
    let mut beyond = 0;
    for expected in expected.iter().filter(|row| row.instant.is_some()) {
        let instant = expected.instant.unwrap();
        match rows.next().await {
            Ok(row) => {
                let (id, read) = row.expect("as many rows as written");
                assert_eq!(id, expected.id);
                assert_eq!(Timestamp::try_from(read).unwrap(), instant);
            }
            Err(error) => {
                assert!(error.is_row_error(), "{error}");
                assert!(
                    error.to_string().contains("spanner_rows::Timestamp"),
                    "{error}"
                );
                assert_eq!(instant, Timestamp::MAX);
                beyond += 1;
            }
        }
    }
    assert!(rows.next().await.unwrap().is_none());
    assert_eq!(beyond, 1);
}
