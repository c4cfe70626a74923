//! `alias`, `index`, `skip`.

use std::collections::HashMap;
use std::marker::PhantomData;

use spanner_rows::SpannerRow;

use crate::support::{collect, contains, int, misfit, reader, row, string};

#[derive(Debug, PartialEq, SpannerRow)]
struct Renamed {
    #[spanner(alias = "SingerId", alias = "singer")]
    id: i64,
    #[spanner(rename = "Name", alias = "FullName")]
    name: String,
}

#[test]
fn the_first_name_that_the_result_has_counts() {
    let expected = [Renamed {
        id: 7,
        name: "Marc".to_owned(),
    }];
    for (id, name) in [("id", "Name"), ("SingerId", "FullName"), ("singer", "Name")] {
        let columns = [(id, int()), (name, string())];
        let rows: Vec<Renamed> = collect(&columns, [row(["7", "Marc"])]).unwrap();
        assert_eq!(rows, expected);
    }
    let all = [
        ("singer", int()),
        ("id", int()),
        ("SingerId", int()),
        ("Name", string()),
    ];
    let rows: Vec<Renamed> = collect(&all, [row(["1", "7", "2", "Marc"])]).unwrap();
    assert_eq!(rows, expected);
}

#[test]
fn a_column_under_none_of_its_names_is_missing_and_all_are_named() {
    let error = misfit::<Renamed>(&[("x", int()), ("Name", string())]);
    contains(
        &error,
        &[
            "`id` (or `SingerId`, `singer`)",
            "the result has `x`, `Name`",
        ],
    );
    let error = misfit::<Renamed>(&[("SingerId", int()), ("SingerId", int()), ("Name", string())]);
    contains(&error, &["two columns have that name (0 and 1)"]);
}

#[derive(SpannerRow)]
struct Mixed<'a> {
    #[spanner(index = 2)]
    count: i64,
    name: &'a str,
    #[spanner(index = 0)]
    first: i64,
}

#[test]
fn positions_beside_names() {
    let columns = [("", int()), ("name", string()), ("", int())];
    let mut rows = reader::<Mixed>(&columns, [row(["1", "a", "3"])]);
    let read = rows.next().unwrap().unwrap();
    assert_eq!((read.first, read.name, read.count), (1, "a", 3));
    let error = misfit::<Mixed>(&[("", int()), ("name", string())]);
    contains(&error, &["position 2", "the result has 2 columns"]);
}

#[derive(SpannerRow)]
struct Tuple(
    #[spanner(index = 1)] String,
    #[spanner(skip)] i64,
    #[spanner(index = 0)] i64,
);

#[derive(SpannerRow)]
struct Counted(#[spanner(skip)] i64, String, #[spanner(skip)] i64, i64);

#[test]
fn positions_in_tuple_structs() {
    let columns = [("", int()), ("", string())];
    let rows: Vec<Tuple> = collect(&columns, [row(["1", "a"])]).unwrap();
    assert_eq!((rows[0].0.as_str(), rows[0].1, rows[0].2), ("a", 0, 1));
    // Skipped fields do not count.
    let columns = [("", string()), ("", int())];
    let rows: Vec<Counted> = collect(&columns, [row(["a", "1"])]).unwrap();
    assert_eq!((rows[0].0, rows[0].1.as_str(), rows[0].3), (0, "a", 1));
    assert_eq!(rows[0].2, 0);
}

fn seven() -> i64 {
    7
}

mod caches {
    use super::Cache;

    pub(super) fn empty() -> Cache {
        Cache(Vec::new())
    }
}

/// Not a column type, and without a default.
struct Cache(Vec<i64>);

#[derive(SpannerRow)]
struct Skipping<T> {
    #[spanner(skip)]
    seen: HashMap<String, i64>,
    id: i64,
    #[spanner(skip = "seven")]
    seven: i64,
    #[spanner(skip = "caches::empty")]
    cache: Cache,
    #[spanner(skip)]
    marker: PhantomData<T>,
    #[spanner(skip = "Vec::<u8>::new")]
    buffer: Vec<u8>,
}

#[test]
fn skipped_fields_are_made_anew_for_every_row() {
    struct NotAColumn;
    let columns = [("seven", int()), ("id", int())];
    let mut rows = reader::<Skipping<NotAColumn>>(&columns, [row(["1", "2"]), row(["3", "4"])]);
    let first = rows.next().unwrap().unwrap();
    assert_eq!((first.id, first.seven), (2, 7));
    first.seen.insert("a".to_owned(), 1);
    first.seven = 8;
    first.cache.0.push(1);
    first.buffer.push(1);
    let second = rows.next().unwrap().unwrap();
    assert_eq!((second.id, second.seven), (4, 7));
    assert!(second.seen.is_empty() && second.cache.0.is_empty() && second.buffer.is_empty());
    let PhantomData = second.marker;
}

#[test]
fn the_hint_says_which_rule_or_which_column() {
    #[derive(SpannerRow)]
    struct Singer {
        singer_id: i64,
        first_name: String,
    }
    for (column, hint) in [
        (
            "SingerId",
            "`rename = \"SingerId\"` or `rename_all = \"PascalCase\"`",
        ),
        ("singerId", "or `rename_all = \"camelCase\"`"),
        ("SINGER_ID", "or `rename_all = \"SCREAMING_SNAKE_CASE\"`"),
        ("singer-id", "or `rename_all = \"kebab-case\"`"),
        ("SINGER-ID", "or `rename_all = \"SCREAMING-KEBAB-CASE\"`"),
        ("singerid", "`rename = \"singerid\"`"),
        ("singr_id", "did you mean `singr_id`?"),
        ("singer_ids", "did you mean `singer_ids`?"),
        ("sniger_id", "did you mean `sniger_id`?"),
    ] {
        let error = misfit::<Singer>(&[(column, int()), ("first_name", string())]);
        contains(&error, &[hint]);
    }
    let error = misfit::<Singer>(&[("other", int()), ("name", string())]);
    contains(
        &error,
        &[
            "`singer_id`",
            "`first_name`",
            "the result has `other`, `name`",
        ],
    );
    assert!(!error.contains("did you mean"), "{error}");
}
