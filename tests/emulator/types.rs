//! Every type with its edge values, written by DML and read in every way.

use std::borrow::Cow;

use jiff::civil::Date;
use spanner_rows::{OwnedValue, Row, SpannerRow, Timestamp, Value};

use crate::everything::{Everything, List, everything};
use crate::support;

/// Some types are read into several Rust types: the column under another name.
const SQL: &str = "SELECT *, Text AS TextCow, Text AS TextBox, Bytes AS BytesCow,
        Texts AS TextsToo, BytesList AS BytesListToo
    FROM Everything ORDER BY Id";

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
