//! `default`, `null_default`, and `default` of a struct.

use std::borrow::Cow;

use spanner_rows::{OwnedValue, SpannerRow, Type};

use crate::support::{LONG, collect, contains, int, list, misfit, reader, row, string, text};

fn minus_one() -> i64 {
    -1
}

fn unknown() -> String {
    "unknown".to_owned()
}

#[derive(Debug, PartialEq, SpannerRow)]
struct Absent {
    id: i64,
    #[spanner(default)]
    name: String,
    #[spanner(default = "minus_one")]
    n: i64,
    #[spanner(default, alias = "marks")]
    tags: Vec<String>,
    #[spanner(index = 9, default)]
    far: Option<i64>,
}

#[test]
fn missing_columns_get_their_default_on_every_row() {
    let columns = [("id", int())];
    let mut rows = reader::<Absent>(&columns, [row(["1"]), row(["2"])]);
    let first = rows.next().unwrap().unwrap();
    assert_eq!((first.id, first.name.as_str(), first.n), (1, "", -1));
    first.name.push_str("left by the user");
    first.n = 5;
    first.tags.push(String::new());
    first.far = Some(1);
    let second = rows.next().unwrap().unwrap();
    let expected = Absent {
        id: 2,
        name: String::new(),
        n: -1,
        tags: Vec::new(),
        far: None,
    };
    assert_eq!(*second, expected);
}

/// A default is for columns that are not there, not for those that are misspelt.
#[test]
fn a_column_in_another_case_is_told_unless_another_field_reads_it() {
    let error = misfit::<Absent>(&[("id", int()), ("Name", string())]);
    contains(
        &error,
        &[
            "field `Absent.name`: reads the column `name`",
            "there is `Name`",
        ],
    );
    let error = misfit::<Absent>(&[("id", int()), ("Marks", Type::array(string()))]);
    contains(
        &error,
        &[
            "field `Absent.tags`: reads the column `marks`",
            "there is `Marks`",
        ],
    );

    #[derive(SpannerRow)]
    struct Both {
        #[spanner(default)]
        id: i64,
        #[spanner(rename = "Id")]
        key: i64,
    }
    let rows: Vec<Both> = collect(&[("Id", int())], [row(["3"])]).unwrap();
    assert_eq!((rows[0].id, rows[0].key), (0, 3));
}

#[test]
fn columns_that_are_there_are_read() {
    let columns = [
        ("n", int()),
        ("marks", Type::array(string())),
        ("id", int()),
        ("name", string()),
    ];
    let values = vec![text("3"), list([text("x")]), text("1"), text("Ann")];
    let rows: Vec<Absent> = collect(&columns, [values]).unwrap();
    assert_eq!((rows[0].n, rows[0].name.as_str()), (3, "Ann"));
    assert_eq!(rows[0].tags, ["x"]);
    // A default is for a missing column, not for NULL and not for another type.
    let error = collect::<Absent>(&[("id", int()), ("n", int())], [row(["1", "-"])]);
    contains(&error.unwrap_err().to_string(), &["NULL", "`Absent.n`"]);
    contains(
        &misfit::<Absent>(&[("id", int()), ("n", string())]),
        &["`Absent.n`"],
    );
    contains(&misfit::<Absent>(&[("n", int())]), &["`Absent.id`"]);
}

#[derive(SpannerRow)]
struct Nulls<'a> {
    #[spanner(null_default)]
    n: i64,
    #[spanner(null_default)]
    name: Cow<'a, str>,
    #[spanner(null_default = "unknown")]
    city: String,
    #[spanner(null_default)]
    tags: Vec<String>,
    #[spanner(default = "minus_one", null_default)]
    both: i64,
}

fn nulls_columns() -> [(&'static str, Type); 4] {
    [
        ("n", int()),
        ("name", string()),
        ("city", string()),
        ("tags", Type::array(string())),
    ]
}

#[test]
fn nulls_become_the_default() {
    let all = [
        vec![text("1"), text("a"), text("b"), list([text("c")])],
        vec![OwnedValue::Null; 4],
        vec![text("2"), text("d"), text("e"), list([])],
    ];
    let mut rows = reader::<Nulls>(&nulls_columns(), all);
    let mut read = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        assert_eq!(row.both, -1);
        let name = row.name.clone().into_owned();
        read.push((row.n, name, row.city.clone(), row.tags.len()));
    }
    let expected = [(1, "a", "b", 1), (0, "", "unknown", 0), (2, "d", "e", 0)];
    let expected =
        expected.map(|(n, name, city, tags)| (n, name.to_owned(), city.to_owned(), tags));
    assert_eq!(read, expected);
}

#[derive(Debug, SpannerRow)]
struct InPlace {
    #[spanner(null_default)]
    name: String,
    #[spanner(null_default, default)]
    tags: Vec<String>,
}

#[test]
fn the_memory_of_the_value_before_nulls_is_kept() {
    let columns = [("name", string()), ("tags", Type::array(string()))];
    let full = |name| vec![text(name), list([text(name)])];
    let nulls = || vec![OwnedValue::Null; 2];
    for order in ["vnv", "vnnv", "vvnv", "vnvvnnv", "nvnv"] {
        let all = order.chars().enumerate().map(|(i, kind)| match kind {
            'v' if i < 2 => full(LONG),
            'v' => full("short"),
            _ => nulls(),
        });
        let mut rows = reader::<InPlace>(&columns, all);
        let mut memory = None;
        for kind in order.chars() {
            let row = rows.next().unwrap().unwrap();
            if kind == 'n' {
                assert!(row.name.is_empty() && row.tags.is_empty(), "{order}");
                row.name
                    .push_str("left by the user, longer than anything that is read");
                row.tags.push("left by the user".to_owned());
                continue;
            }
            assert_eq!(row.tags.len(), 1);
            assert_eq!(row.tags[0], row.name);
            let now = (row.name.as_ptr(), row.tags.as_ptr(), row.tags[0].as_ptr());
            assert_eq!(*memory.get_or_insert(now), now, "{order}: the same memory");
        }
    }
}

#[test]
fn an_error_between_values_and_nulls_leaves_nothing_stale() {
    let columns = [("name", string()), ("tags", Type::array(string()))];
    let all = [
        vec![text("a"), list([text("b")])],
        vec![OwnedValue::Null, OwnedValue::Bool(true)],
        vec![OwnedValue::Bool(true), OwnedValue::Null],
        vec![OwnedValue::Null, OwnedValue::Null],
        vec![text("c"), list([text("d"), text("e")])],
    ];
    let mut rows = reader::<InPlace>(&columns, all);
    assert_eq!(rows.next().unwrap().unwrap().name, "a");
    assert!(rows.next().unwrap_err().is_row_error());
    assert!(rows.next().unwrap_err().is_row_error());
    let nulls = rows.next().unwrap().unwrap();
    assert!(nulls.name.is_empty() && nulls.tags.is_empty());
    let last = rows.next().unwrap().unwrap();
    assert_eq!((last.name.as_str(), last.tags.len()), ("c", 2));
}

#[derive(Debug, SpannerRow)]
#[spanner(default, rename_all = "PascalCase")]
struct Settings<'a> {
    retries: i64,
    region: &'a str,
    label: String,
    #[spanner(default)]
    own: i64,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            retries: 3,
            region: "eu",
            label: "none".to_owned(),
            own: 99,
        }
    }
}

#[test]
fn missing_columns_come_from_the_default_of_the_struct() {
    let mut rows = reader::<Settings>(&[("Region", string())], [row(["us"])]);
    let read = rows.next().unwrap().unwrap();
    assert_eq!(
        (read.retries, read.region, read.label.as_str()),
        (3, "us", "none")
    );
    assert_eq!(read.own, 0, "the field's own default goes first");
    drop(read);
    let mut rows = reader::<Settings>(&[("Retries", int())], [row(["-"])]);
    assert!(
        rows.next().unwrap_err().is_row_error(),
        "NULL is not missing"
    );
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(default)]
struct Generic<T> {
    value: T,
    id: i64,
}

impl<T: Default> Default for Generic<T> {
    fn default() -> Self {
        Self {
            value: T::default(),
            id: 7,
        }
    }
}

#[derive(Debug, PartialEq, SpannerRow)]
struct GenericFields<T> {
    id: i64,
    #[spanner(default)]
    a: T,
    #[spanner(null_default)]
    b: Vec<T>,
}

#[test]
fn defaults_of_type_parameters() {
    let rows: Vec<GenericFields<String>> = collect(
        &[("id", int()), ("b", Type::array(string()))],
        [row(["1", "-"])],
    )
    .unwrap();
    assert_eq!(rows[0].a, "");
    assert_eq!((rows[0].id, rows[0].b.len()), (1, 0));
    let rows: Vec<Generic<String>> = collect(&[("value", string())], [row(["x"])]).unwrap();
    assert_eq!((rows[0].id, rows[0].value.as_str()), (7, "x"));
}

#[derive(SpannerRow)]
struct Outer {
    #[spanner(flatten(prefix = "x_"))]
    inner: Absent2,
}

#[derive(SpannerRow)]
struct Absent2 {
    #[spanner(default = "minus_one", null_default = "minus_one")]
    n: i64,
}

#[test]
fn defaults_in_flattened_rows() {
    let rows: Vec<Outer> = collect(&[("n", int())], [row(["1"])]).unwrap();
    assert_eq!(rows[0].inner.n, -1);
    let rows: Vec<Outer> = collect(&[("x_n", int())], [row(["1"]), row(["-"])]).unwrap();
    assert_eq!((rows[0].inner.n, rows[1].inner.n), (1, -1));
}
