//! Structs that are written as rows are read again as they were.

use std::borrow::Cow;

use spanner_rows::testing::{FakeSpanner, Rows};
use spanner_rows::{
    Client, Column, DecodeError, Field, ListWriter, OwnedRow, SpannerEncode, SpannerEnum,
    SpannerRow, Timestamp, ToColumn, Type, TypeCode,
};

const SQL: &str = "SELECT * FROM Everything";

async fn read<T: OwnedRow>(rows: Rows) -> Vec<T> {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.unwrap();
    fake.on_query(SQL, rows);
    let mut stream = client.query(SQL).rows::<T>().await.unwrap();
    stream.try_collect().await.unwrap()
}

#[derive(Clone, Debug, PartialEq, SpannerEnum)]
enum Genre {
    Rock,
    #[spanner(rename = "JAZZ")]
    Jazz,
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
struct Place {
    city: String,
    zip: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
struct Album {
    title: String,
    tracks: Vec<Track>,
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
struct Track {
    name: String,
    seconds: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Label(String);

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Point {
    x: i32,
}

#[derive(Clone, Debug, PartialEq, SpannerRow, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
struct Everything {
    #[spanner(rename = "id")]
    number: i64,
    #[spanner(alias = "Title")]
    first_name: String,
    #[spanner(index = 2)]
    third: bool,
    #[spanner(try_from = "i64")]
    small: u16,
    #[spanner(try_from = "i64")]
    maybe: Option<u8>,
    #[spanner(with(module = "cents"))]
    price: f64,
    #[spanner(flatten)]
    home: Place,
    #[spanner(flatten(prefix = "Work"))]
    work: Option<Place>,
    #[spanner(skip)]
    nothing: u32,
    #[spanner(default, read_only)]
    computed: i64,
    #[spanner(null_default)]
    notes: String,
    #[spanner(json)]
    point: Point,
    #[spanner(json)]
    no_point: Option<Point>,
    genre: Genre,
    label: Label,
    albums: Vec<Album>,
    best: Option<Album>,
    pair: (i64, Option<String>),
    when: Timestamp,
}

mod cents {
    use super::{Column, DecodeError};

    pub(crate) fn decode(column: Column<'_, '_>) -> Result<f64, DecodeError> {
        let text = column.text()?;
        let cents: i32 = text.parse().map_err(DecodeError::invalid)?;
        Ok(f64::from(cents) / 100.0)
    }

    pub(crate) fn encode(price: &f64) -> String {
        format!("{}", (price * 100.0).round())
    }
}

fn everything(number: i64) -> Everything {
    let album = |title: &str, seconds| Album {
        title: title.to_owned(),
        tracks: vec![
            Track {
                name: "a".to_owned(),
                seconds,
            },
            Track {
                name: "b".repeat(200),
                seconds: Some(-1),
            },
        ],
    };
    let odd = number % 2 == 1;
    Everything {
        number,
        first_name: format!("name {number}"),
        third: odd,
        small: 65_535,
        maybe: odd.then_some(7),
        price: 2.5,
        home: Place {
            city: "Bern".to_owned(),
            zip: None,
        },
        work: odd.then(|| Place {
            city: "Rom".to_owned(),
            zip: Some(187),
        }),
        nothing: 0,
        computed: 0,
        notes: "\"quoted\" \u{1f3b5}".to_owned(),
        point: Point { x: -3 },
        no_point: (!odd).then_some(Point { x: 4 }),
        genre: if odd { Genre::Jazz } else { Genre::Rock },
        label: Label("L".to_owned()),
        albums: if odd {
            vec![album("x", None), album("y", Some(9))]
        } else {
            Vec::new()
        },
        best: odd.then(|| album("z", Some(1))),
        pair: (number, odd.then(|| "x".to_owned())),
        when: "2026-01-02T03:04:05.678Z".parse().unwrap(),
    }
}

#[tokio::test]
async fn what_is_written_is_read() {
    let rows: Vec<_> = (0..50).map(everything).collect();
    let sent = Rows::of(&rows).message_size(300);
    assert_eq!(
        sent.row_type().to_string(),
        "STRUCT<id INT64, FirstName STRING, Third BOOL, Small INT64, Maybe INT64, Price STRING, \
         city STRING, zip INT64, Workcity STRING, Workzip INT64, Notes STRING, Point JSON, \
         NoPoint JSON, Genre STRING, Label STRING, \
         Albums ARRAY<STRUCT<title STRING, tracks ARRAY<STRUCT<name STRING, seconds INT64>>>>, \
         Best STRUCT<title STRING, tracks ARRAY<STRUCT<name STRING, seconds INT64>>>, \
         Pair STRUCT<INT64, STRING>, When TIMESTAMP>"
    );
    assert_eq!(read::<Everything>(sent).await, rows);
}

/// What is sent may borrow from several places, and be generic.
#[derive(SpannerEncode)]
struct Borrowed<'a, 'b, T> {
    name: &'a str,
    bytes: Cow<'b, [u8]>,
    fixed: &'static str,
    value: T,
    #[spanner(from = "i64")]
    converted: T,
    list: &'a [T],
}

#[tokio::test]
async fn rows_may_borrow_and_be_generic() {
    let name = "n".to_owned();
    let row = Borrowed {
        name: &name,
        bytes: Cow::Borrowed(&[1, 2]),
        fixed: "f",
        value: 5_i32.into(),
        converted: 6_i64,
        list: &[7, 8],
    };
    let rows = read::<(String, Vec<u8>, String, i64, i64, Vec<i64>)>(Rows::of([row])).await;
    assert_eq!(
        rows,
        [("n".to_owned(), vec![1, 2], "f".to_owned(), 5, 6, vec![7, 8])]
    );
}

#[test]
fn tuple_structs_have_columns_without_names() {
    #[derive(SpannerEncode)]
    struct Pair(i64, Option<String>);
    let fields = Pair::row_type();
    let names: Vec<_> = fields.fields().iter().map(Field::name).collect();
    assert_eq!(names, ["", ""]);
    assert_eq!(<Pair as SpannerEncode>::WIDTH, 2);
    let ty = <Vec<Pair> as ToColumn>::column_type();
    assert_eq!(ty.code(), TypeCode::Array);
    let _ = Pair(1, None);
}

#[test]
fn widths_count_flattened_rows() {
    assert_eq!(<Everything as SpannerEncode>::WIDTH, 19);
    assert_eq!(Everything::row_type().len(), 19);
}

/// By hand, and wrong.
struct Short;

impl SpannerEncode for Short {
    const WIDTH: usize = 2;

    fn push_columns(_: &str, columns: &mut Vec<Field>) {
        for name in ["a", "b"] {
            columns.push(Field::new(name, Type::new(TypeCode::Int64)));
        }
    }

    fn write_columns(&self, out: &mut ListWriter<'_>) {
        out.element(|out| 1_i64.write(out));
    }
}

#[test]
#[should_panic(expected = "a row has 1 values, but there are 2 columns")]
fn rows_of_another_width_are_refused() {
    let _ = Rows::of([Short]);
}
