//! UUID and INTERVAL with their edge values, NULL and arrays. Google's emulator does not
//! have these types; what it has is read in `tests/emulator`.

use spanner_rows::testing::{FakeSpanner, Rows};
use spanner_rows::{
    Client, Interval, List, OwnedValue, Query, Row, SpannerRow, Type, TypeCode, Value,
};
use uuid::Uuid;

const SQL: &str = "SELECT * FROM FakeOnly";

const UUIDS: [&str; 4] = [
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "01234567-89ab-cdef-0123-456789abcdef",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
];

/// Texts, and the months, days and nanoseconds that they are.
const INTERVALS: [(&str, (i32, i32, i128)); 8] = [
    ("P0Y", (0, 0, 0)),
    (
        "P10000Y3660000DT87840000H",
        (120_000, 3_660_000, 316_224_000_000_000_000_000),
    ),
    (
        "P-10000Y-3660000DT-87840000H",
        (-120_000, -3_660_000, -316_224_000_000_000_000_000),
    ),
    ("PT0.000000001S", (0, 0, 1)),
    ("PT-0.000000001S", (0, 0, -1)),
    ("P1Y2M3DT4H5M6.5S", (14, 3, 14_706_500_000_000)),
    ("P-1Y3M", (-9, 0, 0)),
    ("P1M-1DT1S", (1, -1, 1_000_000_000)),
];

#[derive(Clone, Debug, PartialEq, SpannerRow)]
struct Owned {
    uuid: Option<Uuid>,
    uuids: Option<Vec<Option<Uuid>>>,
    interval: Option<Interval>,
    intervals: Option<Vec<Option<Interval>>>,
}

#[derive(Debug, SpannerRow)]
struct Borrowed<'row> {
    uuid: Option<&'row str>,
    uuids: Option<List<'row, Option<&'row str>>>,
    #[spanner(rename = "interval")]
    undecoded: Value<'row>,
    intervals: Option<List<'row, Option<Interval>>>,
}

/// The texts of each row: a value and an array, of either type.
type Texts<'t> = (Option<&'t str>, Option<Vec<Option<&'t str>>>);

/// NULL before, between and behind the values; all of them in the arrays of the last row.
fn texts<'t>(all: &[&'t str]) -> Vec<Texts<'t>> {
    let mut rows = vec![(None, None)];
    for text in all {
        rows.push((Some(*text), Some(vec![Some(*text), None])));
        rows.push((None, Some(vec![])));
    }
    rows.resize(2 * INTERVALS.len() + 1, (None, None));
    let elements = all.iter().flat_map(|text| [None, Some(*text)]);
    rows.push((Some(all[0]), Some(elements.collect())));
    rows
}

fn intervals() -> [&'static str; INTERVALS.len()] {
    INTERVALS.map(|(text, _)| text)
}

fn interval(text: &str) -> Interval {
    let (_, (months, days, nanoseconds)) =
        INTERVALS.iter().find(|(known, _)| *known == text).unwrap();
    Interval::new(*months, *days, *nanoseconds).expect("in range")
}

fn expected() -> Vec<Owned> {
    fn own<T>((one, many): Texts<'_>, of: fn(&str) -> T) -> (Option<T>, Option<Vec<Option<T>>>) {
        let many = many.map(|many| many.into_iter().map(|text| text.map(of)).collect());
        (one.map(of), many)
    }
    let rows = texts(&UUIDS).into_iter().zip(texts(&intervals()));
    rows.map(|(uuids, intervals)| {
        let (uuid, uuids) = own(uuids, |text| Uuid::try_parse(text).unwrap());
        let (interval, intervals) = own(intervals, interval);
        Owned {
            uuid,
            uuids,
            interval,
            intervals,
        }
    })
    .collect()
}

/// A server of the rows, in messages of this many bytes.
async fn server(message_size: usize) -> (FakeSpanner, Client) {
    fn value(text: Option<&str>) -> OwnedValue {
        text.map_or(OwnedValue::Null, |text| OwnedValue::String(text.to_owned()))
    }
    fn values((one, many): Texts<'_>) -> [OwnedValue; 2] {
        let many = many.map(|many| OwnedValue::List(many.into_iter().map(value).collect()));
        [value(one), many.unwrap_or(OwnedValue::Null)]
    }
    let (uuid, interval) = (Type::new(TypeCode::Uuid), Type::new(TypeCode::Interval));
    let columns = [
        ("uuid", uuid.clone()),
        ("uuids", Type::array(uuid)),
        ("interval", interval.clone()),
        ("intervals", Type::array(interval)),
    ];
    let rows = texts(&UUIDS).into_iter().zip(texts(&intervals()));
    let rows = rows.map(|(uuids, intervals)| [values(uuids), values(intervals)].concat());
    let fake = FakeSpanner::start().await;
    let rows = Rows::of_values(columns, rows).message_size(message_size);
    fake.on_query(SQL, rows);
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.unwrap();
    (fake, client)
}

#[tokio::test]
async fn owned_and_set_anew() {
    for message_size in [1, 50, 10_000] {
        let (_fake, client) = server(message_size).await;
        let mut rows = client.query(SQL).rows::<Owned>().await.unwrap();
        for expected in &expected() {
            assert_eq!(rows.next().await.unwrap(), Some(&mut expected.clone()));
        }
        assert!(rows.next().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn borrowed_and_undecoded() {
    for message_size in [1, 50, 10_000] {
        let (_fake, client) = server(message_size).await;
        let mut rows = client.query(SQL).rows::<Borrowed>().await.unwrap();
        let texts = texts(&UUIDS).into_iter().zip(texts(&intervals()));
        for ((uuids, intervals), expected) in texts.zip(expected()) {
            let row = rows.next().await.unwrap().expect("as many rows as sent");
            assert_eq!(row.uuid, uuids.0);
            let list = row
                .uuids
                .map(|list| list.iter().map(Result::unwrap).collect());
            assert_eq!(list, uuids.1);
            assert_eq!(
                row.undecoded,
                intervals.0.map_or(Value::Null, Value::String)
            );
            let list = row.intervals;
            let list = list.map(|list| list.iter().map(Result::unwrap).collect());
            assert_eq!(list, expected.intervals);
        }
        assert!(rows.next().await.unwrap().is_none());
    }
}

/// `jiff::Span` holds those whose parts have one sign.
#[tokio::test]
async fn spans() {
    let (_fake, client) = server(100).await;
    let mut rows = client.query(SQL).rows::<Row>().await.unwrap();
    let mut mixed = 0;
    for expected in expected() {
        let row = rows.next().await.unwrap().expect("as many rows as sent");
        match row.get::<Option<jiff::Span>>("interval") {
            Ok(span) => assert_eq!(span.map(Interval::from), expected.interval),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("spanner_rows::Interval"), "{error}");
                mixed += 1;
            }
        }
    }
    assert_eq!(mixed, 1);
}

/// As a parameter each goes with its type, NULL too.
#[tokio::test]
async fn parameters() {
    let (fake, client) = server(100).await;
    let echo = async |sent: OwnedValue, ty: TypeCode, query: Query| {
        let _rows = query.rows::<Row>().await.unwrap();
        let requests = fake.take_requests();
        let mut requests = requests.iter().filter(|request| request.sql() == SQL);
        let request = requests.next().expect("the query");
        assert_eq!(request.param("p"), Some(sent));
        assert_eq!(request.param_type("p"), Some(Type::new(ty)));
    };
    let text = |text: &str| OwnedValue::String(text.to_owned());
    for uuid in UUIDS {
        let query = client.query(SQL).param("p", Uuid::try_parse(uuid).unwrap());
        echo(text(uuid), TypeCode::Uuid, query).await;
    }
    for (_, (months, days, nanoseconds)) in INTERVALS {
        let interval = Interval::new(months, days, nanoseconds).expect("in range");
        let query = client.query(SQL).param("p", interval);
        // There are several texts of one interval; ours is another than Spanner's may be.
        let printed = interval.to_string();
        assert_eq!(printed.parse(), Ok(interval));
        echo(text(&printed), TypeCode::Interval, query).await;
    }
    let query = client.query(SQL).param("p", None::<Uuid>);
    echo(OwnedValue::Null, TypeCode::Uuid, query).await;
    let query = client.query(SQL).param("p", None::<Interval>);
    echo(OwnedValue::Null, TypeCode::Interval, query).await;
}
