//! `transparent`, `bound`, `deny_unknown_columns`.

use std::borrow::Cow;
use std::marker::PhantomData;

use spanner_rows::{
    ColumnType, Field, FromColumn, Kept, OwnedRow, OwnedValue, Plain, RetrySettings, RowReader,
    RowType, SpannerRow, ToColumn, Type, Value,
};

use crate::support::{
    LONG, bytes, collect, contains, int, list, misfit, reader, row, string, structure, text,
};

#[derive(Clone, Copy, Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct SingerId(i64);

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Title {
    text: String,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Word<'a>(&'a str);

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Tagged<T, Tag> {
    value: T,
    #[spanner(skip)]
    tag: PhantomData<Tag>,
}

#[derive(Debug, PartialEq)]
enum Meters {}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(transparent)]
struct Maybe(Option<Vec<i64>>);

#[derive(SpannerRow)]
struct Album<'row> {
    singer: SingerId,
    titles: Vec<Title>,
    word: Option<Word<'row>>,
    height: Tagged<i64, Meters>,
    maybe: Maybe,
}

#[test]
fn transparent_structs_are_columns() {
    fn is<T: ColumnType<Mode = M>, M>() {}
    is::<SingerId, Plain>();
    is::<Title, Kept>();
    is::<Word, Plain>();
    is::<Tagged<i64, Meters>, Plain>();
    is::<Maybe, Kept>();
    let columns = [
        ("singer", int()),
        ("titles", Type::array(string())),
        ("word", string()),
        ("height", int()),
        ("maybe", Type::array(int())),
    ];
    let all = [
        vec![
            text("7"),
            list([text(LONG)]),
            text("w"),
            text("3"),
            OwnedValue::Null,
        ],
        vec![
            text("8"),
            list([text("short")]),
            OwnedValue::Null,
            text("4"),
            list([text("1")]),
        ],
    ];
    let mut rows = reader::<Album>(&columns, all);
    let memory = {
        let first = rows.next().unwrap().unwrap();
        assert_eq!(
            (first.singer, first.titles[0].text.as_str()),
            (SingerId(7), LONG)
        );
        assert_eq!(
            (first.word.as_ref(), first.height.value),
            (Some(&Word("w")), 3)
        );
        assert_eq!(first.maybe, Maybe(None));
        first.titles[0].text.as_ptr()
    };
    let second = rows.next().unwrap().unwrap();
    assert_eq!((second.singer, second.word.as_ref()), (SingerId(8), None));
    assert_eq!(second.maybe, Maybe(Some(vec![1])));
    assert_eq!(second.titles[0].text.as_ptr(), memory, "the same memory");
    let error = misfit::<(SingerId,)>(&[("x", string())]);
    contains(&error, &["i64 cannot be read from"]);
}

/// Column types that are no parameters: the structs around them are none either.
#[derive(SpannerRow)]
#[spanner(transparent)]
struct Anything<'a>(spanner_rows::List<'a, Value<'a>>);

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Wrapped(Backwards);

#[test]
fn transparent_structs_are_parameters() {
    use spanner_rows::testing::Message;

    let message = Message::new()
        .columns([
            ("id", SingerId::column_type()),
            ("word", Word::column_type()),
            ("maybe", Maybe::column_type()),
            ("height", Tagged::<i64, Meters>::column_type()),
            ("ids", <[SingerId]>::column_type()),
        ])
        .value(SingerId(7))
        .value(Word("a"))
        .value(Maybe(Some(vec![1, 2])))
        .value(Tagged {
            value: 3_i64,
            tag: PhantomData::<Meters>,
        })
        .value(vec![SingerId(8), SingerId(9)]);
    let mut reader = RowReader::<Parameters>::new(&RetrySettings::default());
    reader.receive(message.last().encode());
    let row = reader.next().unwrap().unwrap();
    assert_eq!((&row.id, &row.word), (&SingerId(7), &Word("a")));
    assert_eq!(row.maybe, Maybe(Some(vec![1, 2])));
    assert_eq!(row.height.value, 3);
    assert_eq!(row.ids, [SingerId(8), SingerId(9)]);
    const { assert!(!<Anything<'_> as ColumnType>::KEPT && !Wrapped::KEPT) };
}

#[derive(SpannerRow)]
struct Parameters<'a> {
    id: SingerId,
    word: Word<'a>,
    maybe: Maybe,
    height: Tagged<i64, Meters>,
    ids: Vec<SingerId>,
}

#[test]
fn transparent_structs_are_set_in_place() {
    let all = [row([LONG, "1"]), row(["short", "2"])];
    let mut rows = reader::<Place>(&[("title", string()), ("id", int())], all);
    let memory = rows.next().unwrap().unwrap().title.text.as_ptr();
    let second = rows.next().unwrap().unwrap();
    assert_eq!(
        (second.title.text.as_ptr(), second.id),
        (memory, SingerId(2))
    );
}

#[derive(SpannerRow)]
struct Place {
    title: Title,
    id: SingerId,
}

trait Kind {
    type Value;
}

struct Numbers;

impl Kind for Numbers {
    type Value = i64;
}

/// What is read into `K` cannot be seen in its fields.
#[derive(SpannerRow)]
#[spanner(
    bound = "K: Kind + 'static, K::Value: for<'r> FromColumn<'r> + for<'r> ColumnType<At<'r> = K::Value> + 'static"
)]
struct Projected<K: Kind> {
    value: K::Value,
}

#[test]
fn bounds_of_ones_own() {
    fn owned<T: OwnedRow>() {}
    owned::<Projected<Numbers>>();
    let rows: Vec<Projected<Numbers>> = collect(&[("value", int())], [row(["5"])]).unwrap();
    assert_eq!(rows[0].value, 5);
}

#[derive(Debug, SpannerRow)]
#[spanner(deny_unknown_columns)]
struct Strict {
    id: i64,
    #[spanner(flatten(prefix = "p_"))]
    point: Point,
    #[spanner(default)]
    absent: i64,
    inner: Option<Inner>,
}

#[derive(Debug, SpannerRow)]
#[spanner(deny_unknown_columns)]
struct Point {
    x: i64,
}

#[derive(Debug, SpannerRow)]
#[spanner(deny_unknown_columns)]
struct Inner {
    n: i64,
}

#[test]
fn unknown_columns_are_refused_on_request() {
    let inner = structure([("n", int())]);
    let columns = [("inner", inner.clone()), ("p_x", int()), ("id", int())];
    let read: Vec<Strict> = collect(&columns, [row(["-", "1", "2"])]).unwrap();
    assert_eq!((read[0].id, read[0].point.x), (2, 1));
    let more = [
        ("extra", int()),
        ("inner", inner),
        ("p_x", int()),
        ("id", int()),
        ("", string()),
    ];
    let error = misfit::<Strict>(&more);
    contains(
        &error,
        &[
            "no field of `Strict` reads the column 0 `extra`, 4 ``",
            "deny_unknown_columns",
        ],
    );
    assert!(
        !error.contains("Point"),
        "the outermost row decides: {error}"
    );
    let wide = structure([("n", int()), ("m", int())]);
    let error = misfit::<Strict>(&[("inner", wide), ("p_x", int()), ("id", int())]);
    contains(
        &error,
        &[
            "field `Strict.inner`",
            "no field of `Inner` reads the column 1 `m`",
        ],
    );
}

/// Few fields and very many, in an order that the struct does not have.
#[derive(Debug, PartialEq, SpannerRow)]
struct Backwards {
    last: i64,
    f1: i64,
    f0: i64,
}

#[test]
fn fields_of_a_struct_in_another_order() {
    for width in [3, 62, 63, 64, 65, 66, 200] {
        let mut names: Vec<_> = (0..width).map(|i| format!("f{i}")).collect();
        names[width - 1] = "last".to_owned();
        let fields = names.iter().map(|name| Field::new(name.as_str(), int()));
        let ty = Type::structure(RowType::new(fields));
        let value = || list((0..width).map(|i| text(&i.to_string())));
        let columns = [("all", Type::array(ty))];
        let rows = [vec![list([value(), OwnedValue::Null, value()])]];
        let rows = collect::<(Vec<Option<Backwards>>,)>(&columns, rows).unwrap();
        let one = || {
            Some(Backwards {
                last: width as i64 - 1,
                f1: 1,
                f0: 0,
            })
        };
        assert_eq!(rows[0].0, [one(), None, one()], "{width} fields");
    }
}

/// To any depth that the type of the column has.
#[derive(Debug, PartialEq, SpannerRow)]
struct Node {
    id: i64,
    #[spanner(default)]
    nodes: Vec<Self>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Folder<'a> {
    name: &'a str,
    #[spanner(default)]
    files: Vec<File<'a>>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct File<'a> {
    id: i64,
    #[spanner(default)]
    within: Option<Vec<Folder<'a>>>,
}

/// `Self` with parameters, and as the beginning of a path.
#[derive(Debug, PartialEq, SpannerRow)]
struct Tree<'a, T> {
    name: Cow<'a, str>,
    value: T,
    #[spanner(default)]
    below: Vec<Self>,
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Key {
    bytes: [u8; Self::LENGTH],
}

impl Key {
    const LENGTH: usize = 3;
}

#[test]
fn rows_of_rows_of_their_own_kind() {
    let leaf = structure([("id", int())]);
    let inner = structure([("id", int()), ("nodes", Type::array(leaf))]);
    let columns = [("id", int()), ("nodes", Type::array(inner))];
    let two = list(vec![text("2"), list(vec![list(vec![text("3")])])]);
    let rows = collect::<Node>(&columns, [vec![text("1"), list(vec![two])]]).unwrap();
    let node = |id, nodes| Node { id, nodes };
    let expected = node(1, vec![node(2, vec![node(3, vec![])])]);
    assert_eq!(rows, [expected]);

    let file = structure([("id", int())]);
    let columns = [("name", string()), ("files", Type::array(file))];
    let files = list(vec![list(vec![text("7")])]);
    let mut rows = reader::<Folder<'_>>(&columns, [vec![text("a"), files]]);
    let row = rows.next().unwrap().unwrap();
    let files = vec![File {
        id: 7,
        within: None,
    }];
    assert_eq!(*row, Folder { name: "a", files });
}

#[test]
fn rows_that_name_themselves_self() {
    let leaf = structure([("name", string()), ("value", int())]);
    let columns = [
        ("name", string()),
        ("value", int()),
        ("below", Type::array(leaf)),
    ];
    let below = list(vec![list(vec![text("b"), text("2")])]);
    let mut rows = reader::<Tree<'_, i64>>(&columns, [vec![text("a"), text("1"), below]]);
    let row = rows.next().unwrap().unwrap();
    let tree = |name: &'static str, value, below| Tree {
        name: Cow::Borrowed(name),
        value,
        below,
    };
    assert_eq!(*row, tree("a", 1, vec![tree("b", 2, vec![])]));

    let rows = collect::<Key>(&[("bytes", bytes())], [vec![text("AQID")]]).unwrap();
    assert_eq!(rows, [Key { bytes: [1, 2, 3] }]);
}
