//! Derived rows read from results: matching, modes, STRUCT columns, reuse.

use std::borrow::Cow;

use spanner_rows::testing::Message;
use spanner_rows::{
    Binder, Binding, Column, ColumnType, DecodeError, Error, Field, FromColumn, Kept, OwnedRow,
    OwnedValue, Plain, Recycled, RetrySettings, RowReader, RowType, SpannerRow, Type, TypeCode,
};

/// A reader that has received the whole of a result.
fn reader<T: SpannerRow>(
    columns: &[(&str, Type)],
    rows: impl IntoIterator<Item = Vec<OwnedValue>>,
) -> RowReader<T> {
    let columns = columns.iter().map(|(name, ty)| (*name, ty.clone()));
    let message = Message::new().columns(columns);
    let message = rows.into_iter().fold(message, Message::values);
    let mut reader = RowReader::new(&RetrySettings::default());
    reader.receive(message.last().encode());
    reader
}

/// All rows of a result, decoded freshly.
fn collect<T: OwnedRow>(
    columns: &[(&str, Type)],
    rows: impl IntoIterator<Item = Vec<OwnedValue>>,
) -> Result<Vec<T>, Error> {
    let mut reader = reader::<T>(columns, rows);
    let mut all = Vec::new();
    while let Some(row) = reader.next_owned()? {
        all.push(row);
    }
    Ok(all)
}

fn int() -> Type {
    Type::new(TypeCode::Int64)
}

fn string() -> Type {
    Type::new(TypeCode::String)
}

fn structure<const N: usize>(fields: [(&str, Type); N]) -> Type {
    let fields = fields.map(|(name, ty)| Field::new(name, ty));
    Type::structure(RowType::new(fields))
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

fn list(elements: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
    OwnedValue::List(elements.into_iter().collect())
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer<'row> {
    singer_id: i64,
    first_name: Cow<'row, str>,
    #[spanner(rename = "Surname")]
    last_name: Option<&'row str>,
}

const SINGER: [&str; 3] = ["SingerId", "FirstName", "Surname"];

#[test]
fn names_decide_and_the_order_does_not_matter() {
    let values = [text("7"), text("Marc"), OwnedValue::Null];
    let types = [int(), string(), string()];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let columns = order.map(|i| (SINGER[i], types[i].clone()));
        let row = order.map(|i| values[i].clone()).to_vec();
        let mut rows = reader::<Singer>(&columns, [row]);
        let singer = rows.next().unwrap().unwrap();
        assert_eq!(singer.singer_id, 7);
        assert_eq!(singer.first_name, "Marc");
        assert_eq!(singer.last_name, None);
    }
}

#[test]
fn columns_that_no_field_reads_are_passed_over() {
    let columns = [
        ("Other", string()),
        ("SingerId", int()),
        ("", string()),
        ("FirstName", string()),
        ("Surname", string()),
        ("Other", int()),
    ];
    let row = ["x", "7", "y", "Marc", "Richards", "1"].map(text).to_vec();
    let mut rows = reader::<Singer>(&columns, [row]);
    let singer = rows.next().unwrap().unwrap();
    assert_eq!(singer.singer_id, 7);
    assert_eq!(singer.last_name, Some("Richards"));
}

#[test]
fn plain_rows_come_by_value_and_borrow() {
    let columns = [
        ("SingerId", int()),
        ("FirstName", string()),
        ("Surname", string()),
    ];
    let row = [text("1"), text("A"), text("B")].to_vec();
    let mut rows = reader::<Singer>(&columns, [row]);
    let Singer { first_name, .. } = rows.next().unwrap().unwrap();
    assert!(matches!(first_name, Cow::Borrowed("A")));
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Count {
    name: String,
    n: i64,
}

#[test]
fn owned_rows_are_lent_from_a_home_and_keep_their_memory() {
    let columns = [("name", string()), ("n", int())];
    let long = "a string that needs memory of its own";
    let all = [[text(long), text("1")], [text("short"), text("2")]];
    let mut rows = reader::<Count>(&columns, all.map(Vec::from));
    let first: &mut Count = rows.next().unwrap().unwrap();
    assert_eq!(first.name, long);
    let memory = first.name.as_ptr();
    let second = rows.next().unwrap().unwrap();
    assert_eq!((second.name.as_str(), second.n), ("short", 2));
    assert_eq!(second.name.as_ptr(), memory, "the same memory");
}

#[test]
fn owned_rows_are_collected() {
    let columns = [("n", int()), ("name", string())];
    let rows = [[text("1"), text("a")], [text("2"), text("b")]].map(Vec::from);
    let counts: Vec<Count> = collect(&columns, rows).unwrap();
    let expected = [("a", 1), ("b", 2)].map(|(name, n)| Count {
        name: name.to_owned(),
        n,
    });
    assert_eq!(counts, expected);
}

#[derive(SpannerRow)]
struct Mixed<'a> {
    key: &'a str,
    tags: Vec<String>,
}

#[test]
fn mixed_rows_come_in_a_guard_that_gives_memory_back() {
    let columns = [("key", string()), ("tags", Type::array(string()))];
    let long = "a string that needs memory of its own";
    let all = [
        vec![text("k1"), list([text(long)])],
        vec![text("k2"), list([text("short")])],
    ];
    let mut rows = reader::<Mixed>(&columns, all);
    let memory = {
        let first: Recycled<'_, Mixed> = rows.next().unwrap().unwrap();
        assert_eq!(first.key, "k1");
        first.tags[0].as_ptr()
    };
    let second = rows.next().unwrap().unwrap();
    assert_eq!((second.key, second.tags[0].as_str()), ("k2", "short"));
    assert_eq!(second.tags[0].as_ptr(), memory, "the same memory");
}

#[test]
fn the_mode_follows_from_the_fields() {
    fn is<T: ColumnType<Mode = M>, M>() {}
    is::<Singer, Plain>();
    is::<Count, Kept>();
    is::<Mixed, Kept>();
    is::<Pair, Plain>();
    is::<Tagged<'_, i64, 0>, Plain>();
    is::<Tagged<'_, String, 0>, Kept>();
    is::<Order, Kept>();
}

#[derive(SpannerRow)]
struct Pair<'a>(i64, Option<&'a str>);

#[test]
fn tuple_structs_match_by_position() {
    let columns = [("", int()), ("", string()), ("x", int())];
    let row = [text("1"), text("a"), text("9")].to_vec();
    let mut rows = reader::<Pair>(&columns, [row]);
    let Pair(n, name) = rows.next().unwrap().unwrap();
    assert_eq!((n, name), (1, Some("a")));
}

#[derive(SpannerRow)]
#[spanner(match_by = "index")]
struct ByIndex {
    second_name_on_purpose: String,
    n: i64,
}

#[test]
fn fields_match_by_position_on_request() {
    let columns = [("n", string()), ("second_name_on_purpose", int())];
    let row = [text("a"), text("1")].to_vec();
    let mut rows = reader::<ByIndex>(&columns, [row]);
    let row = rows.next().unwrap().unwrap();
    assert_eq!((row.second_name_on_purpose.as_str(), row.n), ("a", 1));
}

// The rows of a column are private to a public row.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "camelCase")]
struct Line<'a> {
    product_name: &'a str,
    amounts: Vec<i64>,
}

/// An order.
#[derive(Debug, SpannerRow)]
pub struct Order<'a> {
    id: i64,
    lines: Vec<Line<'a>>,
    count: Option<Count>,
}

fn order_columns() -> [(&'static str, Type); 3] {
    let line = structure([
        ("amounts", Type::array(int())),
        ("skipped", string()),
        ("productName", string()),
    ]);
    let count = structure([("name", string()), ("n", int())]);
    [
        ("id", int()),
        ("lines", Type::array(line)),
        ("count", count),
    ]
}

#[test]
fn derived_rows_are_struct_columns() {
    let line = |name: &str, amount: &str| list([list([text(amount)]), text("x"), text(name)]);
    let all = [
        vec![
            text("1"),
            list([line("a", "5"), line("b", "6")]),
            OwnedValue::Null,
        ],
        vec![
            text("2"),
            list([line("c", "7")]),
            list([text("name"), text("3")]),
        ],
    ];
    let mut rows = reader::<Order>(&order_columns(), all);
    {
        let order = rows.next().unwrap().unwrap();
        assert_eq!(order.id, 1);
        let lines: Vec<_> = order
            .lines
            .iter()
            .map(|l| (l.product_name, l.amounts[0]))
            .collect();
        assert_eq!(lines, [("a", 5), ("b", 6)]);
        assert!(order.count.is_none());
    }
    let order = rows.next().unwrap().unwrap();
    assert_eq!((order.lines.len(), order.lines[0].product_name), (1, "c"));
    assert_eq!(
        order.count.as_ref().map(|c| (c.name.as_str(), c.n)),
        Some(("name", 3))
    );
}

#[test]
fn an_error_names_the_way_to_the_value() {
    let bad = list([
        list([text("1"), OwnedValue::Bool(true)]),
        text("x"),
        text("a"),
    ]);
    let mut rows = reader::<Order>(
        &order_columns(),
        [vec![text("1"), list([bad]), OwnedValue::Null]],
    );
    let error = rows.next().unwrap_err().to_string();
    assert!(error.contains("column 1 `lines`"), "{error}");
    assert!(
        error.contains("field `Order.lines / Line.amounts`"),
        "{error}"
    );
}

#[test]
fn all_that_does_not_fit_is_said_at_once() {
    let columns = [("singerId", int()), ("FirstName", int())];
    let mut rows = reader::<Singer>(&columns, []);
    let error = rows.bind().unwrap_err().to_string();
    for part in [
        "field `Singer.singer_id`: reads the column `SingerId`",
        "there is `singerId`",
        "field `Singer.first_name`: column 1 `FirstName` is INT64",
        "field `Singer.last_name`: reads the column `Surname`",
    ] {
        assert!(error.contains(part), "`{part}` in {error}");
    }
}

#[derive(SpannerRow)]
struct Page<T> {
    first: T,
    rest: Vec<T>,
    last: Option<T>,
}

#[test]
fn type_parameters_are_column_types() {
    let columns = [
        ("first", string()),
        ("rest", Type::array(string())),
        ("last", string()),
    ];
    let row = vec![text("a"), list([text("b"), text("c")]), OwnedValue::Null];
    let mut rows = reader::<Page<String>>(&columns, [row]);
    let page = rows.next().unwrap().unwrap();
    assert_eq!((page.first.as_str(), page.rest.len()), ("a", 2));
    assert_eq!(page.last, None);
}

#[derive(SpannerRow)]
struct Tagged<'a, T, const N: usize>
where
    T: Clone,
{
    id: &'a str,
    value: T,
}

#[test]
fn type_parameters_beside_a_lifetime() {
    fn read<T>() -> (String, T)
    where
        T: Clone + for<'r> FromColumn<'r> + for<'r> ColumnType<At<'r> = T> + 'static,
    {
        let columns = [("id", string()), ("value", int())];
        let row = vec![text("a"), text("5")];
        let mut rows = reader::<Tagged<'_, T, 3>>(&columns, [row]);
        let batch = rows.next_batch().unwrap().unwrap();
        let row = batch.row(0).unwrap();
        (row.id.to_owned(), row.value)
    }
    assert_eq!(read::<i64>(), ("a".to_owned(), 5));
}

#[derive(Debug, SpannerRow)]
struct Raw {
    r#type: i64,
    r#match: Option<i64>,
}

#[test]
fn raw_identifiers_read_the_column_without_the_mark() {
    let columns = [("match", int()), ("type", int())];
    let rows = collect::<Raw>(&columns, [vec![text("1"), text("2")]]).unwrap();
    assert_eq!((rows[0].r#match, rows[0].r#type), (Some(1), 2));
    let mut rows = reader::<Raw>(&[("type", string()), ("match", int())], []);
    let error = rows.bind().unwrap_err();
    assert!(error.to_string().contains("field `Raw.type`"), "{error}");
}

type Name<'a> = Cow<'a, str>;

macro_rules! borrowed {
    ($ty:ty) => { &'static $ty };
    (in $lifetime:lifetime $ty:ty) => { Option<&$lifetime $ty> };
}

#[derive(SpannerRow)]
#[expect(unused_parens, unused_qualifications, reason = "the point of it")]
struct Spelled<'a> {
    alias: Name<'a>,
    mac: borrowed!(in 'a str),
    path: std::option::Option<::std::string::String>,
    paren: (Vec<(i64,)>),
}

#[test]
fn types_may_be_spelled_in_any_way() {
    let _: borrowed!(str) = "the other arm";
    let columns = [
        ("alias", string()),
        ("mac", string()),
        ("path", string()),
        ("paren", Type::array(structure([("", int())]))),
    ];
    let row = vec![text("a"), text("b"), text("c"), list([list([text("4")])])];
    let mut rows = reader::<Spelled>(&columns, [row]);
    let row = rows.next().unwrap().unwrap();
    assert_eq!(
        (&*row.alias, row.mac, row.path.as_deref()),
        ("a", Some("b"), Some("c"))
    );
    assert_eq!(row.paren, [(4,)]);
}

/// A type of one's own with a lifetime.
#[derive(Debug, PartialEq)]
struct Initial<'a>(&'a str);

impl ColumnType for Initial<'_> {
    type Spare = ();
    type Mode = Plain;
    type Static = Initial<'static>;
    type At<'row> = Initial<'row>;
}

impl<'row> FromColumn<'row> for Initial<'row> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        <&str as FromColumn<'_>>::bind(ty, binder)
    }

    fn read(column: Column<'_, 'row>, spare: &mut ()) -> Result<Self, DecodeError> {
        let text = <&str as FromColumn<'_>>::read(column, spare)?;
        Ok(Self(text.get(..1).unwrap_or_default()))
    }
}

#[derive(SpannerRow)]
struct OfOwn<'x> {
    initial: Initial<'x>,
    more: Vec<Option<Initial<'x>>>,
}

#[test]
fn types_of_ones_own_are_read() {
    let columns = [("initial", string()), ("more", Type::array(string()))];
    let row = vec![text("abc"), list([text("def"), OwnedValue::Null])];
    let mut rows = reader::<OfOwn>(&columns, [row]);
    let row = rows.next().unwrap().unwrap();
    assert_eq!(row.initial, Initial("a"));
    assert_eq!(row.more, [Some(Initial("d")), None]);
}

macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(SpannerRow)]
        struct Wide<'a> {
            text: &'a str,
            $($field: i64,)*
        }

        const FIELDS: &[&str] = &[$(stringify!($field)),*];

        impl Wide<'_> {
            fn numbers(&self) -> Vec<i64> {
                vec![$(self.$field),*]
            }
        }
    };
}

wide! {
    f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19
    f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31 f32 f33 f34 f35 f36 f37 f38 f39
    f40 f41 f42 f43 f44 f45 f46 f47 f48 f49 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59
}

#[test]
fn sixty_fields_from_a_macro() {
    let mut columns: Vec<_> = FIELDS.iter().map(|name| (*name, int())).collect();
    columns.reverse();
    columns.push(("text", string()));
    let mut row: Vec<_> = (0..60).rev().map(|i: i64| text(&i.to_string())).collect();
    row.push(text("t"));
    let mut rows = reader::<Wide>(&columns, [row]);
    let row = rows.next().unwrap().unwrap();
    assert_eq!(row.text, "t");
    assert_eq!(row.numbers(), (0..60).collect::<Vec<i64>>());
}

#[test]
fn a_row_can_be_read_again_after_one_that_failed() {
    let columns = [("name", string()), ("n", int())];
    let all = [
        vec![text("one"), text("1")],
        vec![text("two"), text("not a number")],
        vec![text("three"), text("3")],
    ];
    let mut rows = reader::<Count>(&columns, all);
    assert_eq!(rows.next().unwrap().unwrap().n, 1);
    let error = rows.next().unwrap_err();
    assert!(error.is_row_error(), "{error}");
    assert!(error.column().is_some() && !error.is_retryable());
    assert!(error.grpc_status().is_none() && error.request_id().is_none());
    let third = rows.next().unwrap().unwrap();
    assert_eq!((third.name.as_str(), third.n), ("three", 3));
}
