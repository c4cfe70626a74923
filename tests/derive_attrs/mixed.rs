//! Attributes and types together, as a program's structs have them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use spanner_rows::{
    Column, ColumnType, DecodeError, FromColumn, Interval, List, Numeric, OwnedRow, OwnedValue,
    SpannerEnum, SpannerRow, Timestamp, Type, TypeCode, Value,
};

use crate::support::{
    LONG, bytes, collect, contains, int, list, misfit, reader, row, string, structure, text,
};

fn of(code: TypeCode) -> Type {
    Type::new(code)
}

type Text<'x> = Cow<'x, str>;
type Maybe<T> = ::core::option::Option<T>;

macro_rules! id_type {
    () => {
        i64
    };
}

macro_rules! table {
    ($(#[$attr:meta])* $name:ident<$lt:lifetime> { $($field:ident: $ty:ty),* $(,)? }) => {
        #[derive(Debug, SpannerRow)]
        $(#[$attr])*
        struct $name<$lt> { $($field: $ty),* }
    };
}

table! {
    #[spanner(rename_all = "camelCase", deny_unknown_columns)]
    Invoice<'invoice> {
        invoice_id: id_type!(),
        billed_to: Text<'invoice>,
        amount_due: Maybe<Numeric>,
        sent_at: Option<Timestamp>,
        r#type: &'invoice str,
    }
}

#[test]
fn a_struct_that_a_macro_makes_of_aliases() {
    let columns = [
        ("type", string()),
        ("sentAt", of(TypeCode::Timestamp)),
        ("amountDue", of(TypeCode::Numeric)),
        ("billedTo", string()),
        ("invoiceId", int()),
    ];
    let values = row(["open", "0001-01-01T00:00:00Z", "-12.5", "Ann", "9"]);
    let mut rows = reader::<Invoice>(&columns, [values]);
    let invoice = rows.next().unwrap().unwrap();
    assert_eq!((invoice.invoice_id, invoice.r#type), (9, "open"));
    assert!(matches!(invoice.billed_to, Cow::Borrowed("Ann")));
    assert_eq!(invoice.amount_due.unwrap().to_string(), "-12.5");
    assert_eq!(invoice.sent_at.unwrap().to_string(), "0001-01-01T00:00:00Z");

    let mut more = columns.to_vec();
    more[4] = ("InvoiceId", int());
    more.push(("extra", string()));
    contains(
        &misfit::<Invoice>(&more),
        &["invoice_id", "there is `InvoiceId`", "`extra`"],
    );
}

#[derive(Debug, PartialEq, SpannerEnum)]
#[spanner(rename_all = "kebab-case")]
enum Level<'l> {
    NotSet,
    VeryHigh,
    #[spanner(other)]
    Named(&'l str),
}

#[derive(Debug, PartialEq, SpannerEnum)]
enum Step {
    Down = -1,
    Up = 1,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Deep<'d> {
    #[spanner(alias = "lvl")]
    level: Level<'d>,
    steps: Vec<Option<Step>>,
    within: Option<Box3<'d>>,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(match_by = "index")]
struct Box3<'b>(
    Option<&'b str>,
    #[spanner(null_default)] Vec<String>,
    #[spanner(try_from = "i64")] Option<u8>,
);

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "UPPERCASE")]
struct Outer<'o> {
    deep: Vec<Option<Deep<'o>>>,
    pair: (i64, Option<&'o str>),
    #[spanner(default = "nobody")]
    owner: Cow<'o, str>,
}

const fn nobody() -> Cow<'static, str> {
    Cow::Borrowed("nobody")
}

#[test]
fn structs_in_structs_with_nulls_and_enums() {
    let within = structure([("", string()), ("", Type::array(string())), ("", int())]);
    let deep = structure([
        ("within", within),
        ("lvl", string()),
        ("steps", Type::array(int())),
    ]);
    let columns = [
        ("PAIR", structure([("", int()), ("", string())])),
        ("DEEP", Type::array(deep)),
    ];
    let null = || OwnedValue::Null;
    let values = vec![
        list([text("4"), null()]),
        list([
            null(),
            list([null(), text("very-high"), list([])]),
            list([
                list([null(), null(), null()]),
                text("odd"),
                list([text("-1"), null(), text("1")]),
            ]),
        ]),
    ];
    let mut rows = reader::<Outer>(&columns, [values.clone(), values]);
    for _ in 0..2 {
        let row = rows.next().unwrap().unwrap();
        let first = Deep {
            level: Level::VeryHigh,
            steps: vec![],
            within: None,
        };
        let second = Deep {
            level: Level::Named("odd"),
            steps: vec![Some(Step::Down), None, Some(Step::Up)],
            within: Some(Box3(None, vec![], None)),
        };
        assert_eq!(row.deep, [None, Some(first), Some(second)]);
        assert_eq!((row.pair, &*row.owner), ((4, None), "nobody"));
    }
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Geo {
    lat: f64,
    lon: f64,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct City<'c> {
    name: &'c str,
    #[spanner(flatten(prefix = "at_"))]
    at: Option<Geo>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Trip<'t, K, const N: usize> {
    key: K,
    hash: [u8; N],
    #[spanner(flatten(prefix = "from_"))]
    from: City<'t>,
    #[spanner(flatten(prefix = "to_"))]
    to: Option<City<'t>>,
    #[spanner(skip)]
    seen: PhantomData<fn() -> K>,
}

#[test]
fn options_of_rows_within_options_of_rows() {
    let float = || of(TypeCode::Float64);
    let columns = [
        ("to_at_lon", float()),
        ("to_at_lat", float()),
        ("to_name", string()),
        ("from_at_lon", float()),
        ("from_at_lat", float()),
        ("from_name", string()),
        ("hash", bytes()),
        ("key", string()),
    ];
    let number = OwnedValue::Number;
    let place = |name: Option<&str>, lat: Option<f64>| {
        let value = |n: Option<f64>| n.map_or(OwnedValue::Null, number);
        vec![value(lat), value(lat), name.map_or(OwnedValue::Null, text)]
    };
    let one = |to, from| [to, from, vec![text("AQI="), text("k")]].concat();
    let rows = [
        one(place(None, None), place(Some("A"), Some(1.5))),
        one(place(Some("B"), None), place(Some("A"), None)),
        one(place(None, Some(2.0)), place(Some("A"), None)),
    ];
    let mut rows = reader::<Trip<Arc<str>, 2>>(&columns, rows);
    let trip = rows.next().unwrap().unwrap();
    assert_eq!((&*trip.key, trip.hash), ("k", [1, 2]));
    assert_eq!(trip.from.at, Some(Geo { lat: 1.5, lon: 1.5 }));
    assert_eq!(trip.to, None);
    let _: PhantomData<_> = trip.seen;
    drop(trip);
    let trip = rows.next().unwrap().unwrap();
    assert_eq!(
        trip.to,
        Some(City {
            name: "B",
            at: None
        })
    );
    assert_eq!(trip.from.at, None);
    drop(trip);
    // Half of a row is not none.
    let error = rows.next().unwrap_err().to_string();
    contains(
        &error,
        &["row 2, column 2 `to_name`", "Trip.to / City.name", "NULL"],
    );
}

/// Everything that lets a field be missing or NULL, in one struct.
#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(default, rename_all = "SCREAMING_SNAKE_CASE")]
struct Lenient {
    first_name: String,
    #[spanner(null_default = "unknown", default = "absent")]
    last_name: String,
    #[spanner(with = "length", null_default)]
    bio: usize,
    #[spanner(from = "Option<i64>", rename = "n")]
    count: Count,
    #[spanner(json, default)]
    notes: BTreeMap<String, i64>,
    #[spanner(index = 0)]
    at_first: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count(i64);

impl From<Option<i64>> for Count {
    fn from(n: Option<i64>) -> Self {
        Self(n.unwrap_or(-1))
    }
}

impl Default for Lenient {
    fn default() -> Self {
        Self {
            first_name: LONG.to_owned(),
            last_name: "not used".to_owned(),
            bio: 77,
            count: Count(5),
            notes: BTreeMap::new(),
            at_first: None,
        }
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn absent() -> String {
    "absent".to_owned()
}

fn length(column: Column<'_, '_>) -> Result<usize, DecodeError> {
    column.text().map(str::len)
}

#[test]
fn what_may_be_missing_or_null() {
    let columns = [
        ("x", int()),
        ("BIO", string()),
        ("n", int()),
        ("LAST_NAME", string()),
    ];
    let rows = [row(["1", "-", "-", "-"]), row(["-", "abcd", "3", "b"])];
    let rows = collect::<Lenient>(&columns, rows).unwrap();
    let lenient = |last: &str, bio, count, at_first| Lenient {
        last_name: last.to_owned(),
        bio,
        count: Count(count),
        at_first,
        ..Lenient::default()
    };
    assert_eq!(rows[0], lenient("unknown", 0, -1, Some(1)));
    assert_eq!(rows[1], lenient("b", 4, 3, None));
    let columns = [("x", int()), ("NOTES", of(TypeCode::Json))];
    let rows = collect::<Lenient>(&columns, [row(["1", "{\"a\":1}"])]).unwrap();
    assert_eq!(rows[0].notes["a"], 1);
    assert_eq!((rows[0].bio, rows[0].count), (77, Count(5)));
    assert_eq!(
        (&*rows[0].last_name, &*rows[0].first_name),
        ("absent", LONG)
    );
}

/// A transparent struct around a generic one around a transparent one, where the
/// parameter is only a mark.
#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent, bound = "T: Send + 'static")]
struct Ids<T>(Vec<Option<Tag<T>>>);

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Tag<T> {
    #[spanner(skip)]
    _of: PhantomData<T>,
    id: i64,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(bound = "T: Send + 'static")]
struct Tagged<'a, T: 'static> {
    ids: Ids<T>,
    #[spanner(rename = "iv")]
    interval: Option<Interval>,
    any: Vec<Value<'a>>,
    owned: OwnedValue,
}

#[derive(Debug, PartialEq)]
enum Nothing {}

#[test]
fn wrappers_in_wrappers() {
    let columns = [
        ("owned", structure([("a", int())])),
        ("any", Type::array(of(TypeCode::Bool))),
        ("iv", of(TypeCode::Interval)),
        ("ids", Type::array(int())),
    ];
    let values = vec![
        list([text("1")]),
        list([OwnedValue::Bool(true), OwnedValue::Null]),
        text("P1Y2M3DT4H"),
        list([text("5"), OwnedValue::Null]),
    ];
    let mut rows = reader::<Tagged<Nothing>>(&columns, [values]);
    let tagged = rows.next().unwrap().unwrap();
    let tag = Tag {
        _of: PhantomData,
        id: 5,
    };
    assert_eq!(tagged.ids, Ids(vec![Some(tag), None]));
    assert_eq!(tagged.interval.unwrap().months, 14);
    assert_eq!(tagged.any, [Value::Bool(true), Value::Null]);
    assert_eq!(tagged.owned, list([text("1")]));
}

/// Bounds of the user's, beside a lifetime and a flattened parameter.
#[derive(Debug, SpannerRow)]
#[spanner(
    bound = "R: OwnedRow, V: for<'r> FromColumn<'r> + for<'r> ColumnType<At<'r> = V> + 'static"
)]
struct Page<'p, R, V>
where
    V: Default,
{
    cursor: &'p str,
    #[spanner(default)]
    total: V,
    #[spanner(flatten)]
    row: R,
    lazily: List<'p, Option<&'p [u8]>>,
}

#[test]
fn bounds_lists_and_flattened_parameters() {
    let columns = [
        ("lat", of(TypeCode::Float64)),
        ("cursor", string()),
        ("lon", of(TypeCode::Float64)),
        ("lazily", Type::array(bytes())),
    ];
    let values = || {
        vec![
            OwnedValue::Number(1.0),
            text("c"),
            text("-Infinity"),
            list([text("AQ=="), OwnedValue::Null, text("A")]),
        ]
    };
    let mut rows = reader::<Page<Geo, String>>(&columns, [values(), values()]);
    rows.next().unwrap();
    let page = rows.next().unwrap().unwrap();
    assert_eq!((page.cursor, &*page.total), ("c", ""));
    assert_eq!(page.row.lon, f64::NEG_INFINITY);
    let all: Vec<_> = page.lazily.iter().collect();
    assert_eq!(all[0].as_ref().unwrap(), &Some(&[1_u8][..]));
    assert_eq!(all[1].as_ref().unwrap(), &None);
    let error = all[2].as_ref().unwrap_err().to_string();
    contains(
        &error,
        &[
            "row 1, column 3 `lazily`, field `Page.lazily`",
            "\"A\"",
            "base64",
        ],
    );
}

/// Names of the macro's own, and a lifetime called as its own are.
#[derive(Debug, SpannerRow)]
struct Awkward<'row> {
    __row: i64,
    __cursor: &'row str,
    spare: Option<&'row str>,
    r#match: bool,
    #[spanner(rename = "a b\"c")]
    odd: String,
}

#[test]
fn awkward_names() {
    let columns = [
        ("a b\"c", string()),
        ("match", of(TypeCode::Bool)),
        ("spare", string()),
        ("__cursor", string()),
        ("__row", int()),
    ];
    let mut values = row(["o", "-", "-", "c", "1"]);
    values[1] = OwnedValue::Bool(true);
    let mut rows = reader::<Awkward>(&columns, [values]);
    let awkward = rows.next().unwrap().unwrap();
    assert_eq!((awkward.__row, awkward.__cursor), (1, "c"));
    assert_eq!((awkward.spare, awkward.r#match), (None, true));
    assert_eq!(awkward.odd, "o");
}

/// All that is wrong, at once.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Wrong<'w> {
    singer_id: &'w str,
    first_name: i64,
    #[spanner(alias = "Nick")]
    nick_name: String,
    twice: i64,
    #[spanner(index = 40)]
    far: i64,
    #[spanner(flatten(prefix = "Home"))]
    home: Option<Geo>,
    levels: Vec<Level<'w>>,
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let message = misfit::<Wrong>(&[
        ("SingerId", int()),
        ("FirstName", string()),
        ("NickNam", string()),
        ("Twice", int()),
        ("Twice", int()),
        ("Homelat", of(TypeCode::Float64)),
        ("Levels", Type::array(int())),
    ]);
    contains(
        &message,
        &[
            "field `Wrong.singer_id`: column 0 `SingerId` is INT64, which",
            "field `Wrong.first_name`: column 1 `FirstName` is STRING, which i64",
            "`NickName` (or `Nick`), which the result does not have; did you mean `NickNam`?",
            "two columns have that name (3 and 4)",
            "position 40, but the result has 7 columns",
            "field `Wrong.home / Geo.lon`",
            "column 6 `Levels` has elements of INT64",
        ],
    );
    assert_eq!(message.lines().count(), 8, "{message}");
}
