//! A table with a column of every type, and rows with the edge values of each.

use jiff::civil::{Date, date};
use spanner_rows::testing::Database;
use spanner_rows::{Client, SpannerRow, Timestamp};

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

pub(crate) type List<T> = Option<Vec<Option<T>>>;

#[derive(Clone, Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
pub(crate) struct Everything {
    pub(crate) id: i64,
    pub(crate) bool: Option<bool>,
    pub(crate) int: Option<i64>,
    pub(crate) double: Option<f64>,
    pub(crate) single: Option<f32>,
    pub(crate) text: Option<String>,
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) instant: Option<Timestamp>,
    pub(crate) day: Option<Date>,
    pub(crate) bools: List<bool>,
    pub(crate) ints: List<i64>,
    pub(crate) doubles: List<f64>,
    pub(crate) singles: List<f32>,
    pub(crate) texts: List<String>,
    pub(crate) bytes_list: List<Vec<u8>>,
    pub(crate) instants: List<Timestamp>,
    pub(crate) days: List<Date>,
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
    pub(crate) fn shown(&self) -> String {
        format!("{self:?}")
    }
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

pub(crate) async fn everything() -> Option<(Database, Client, Vec<Everything>)> {
    let (database, client) = support::database(&[DDL]).await?;
    let rows = rows();
    let inserts: Vec<_> = rows.iter().map(Everything::insert).collect();
    let inserts: Vec<_> = inserts.iter().map(String::as_str).collect();
    let changed = database.execute_all(&inserts).await.unwrap();
    assert_eq!(changed, vec![1; rows.len()]);
    Some((database, client, rows))
}
