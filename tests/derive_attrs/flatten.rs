//! `flatten`, with a prefix, in an `Option`, to any depth.

use spanner_rows::{ColumnType, Kept, OwnedRow, Plain, Recycled, SpannerRow, Type};

use crate::support::{LONG, bytes, collect, contains, int, misfit, reader, row, string, text};

#[derive(Debug, PartialEq, SpannerRow)]
struct Address<'a> {
    street: &'a str,
    zip: Option<&'a str>,
}

#[derive(SpannerRow)]
struct Customer<'row> {
    id: i64,
    #[spanner(flatten)]
    address: Address<'row>,
    name: &'row str,
}

const CUSTOMER: [&str; 4] = ["id", "street", "zip", "name"];

#[test]
fn columns_of_a_row_in_a_row_in_any_order() {
    let values = row(["1", "Main", "-", "Ann"]);
    let types = [int(), string(), string(), string()];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let columns = order.map(|i| (CUSTOMER[i], types[i].clone()));
        let row = order.map(|i| values[i].clone()).to_vec();
        let mut rows = reader::<Customer>(&columns, [row]);
        // Nothing owns memory, so the row comes by value.
        let Customer { id, address, name } = rows.next().unwrap().unwrap();
        assert_eq!((id, name), (1, "Ann"));
        let expected = Address {
            street: "Main",
            zip: None,
        };
        assert_eq!(address, expected);
    }
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Place {
    city: String,
    #[spanner(flatten(prefix = "Geo"))]
    at: Option<Point>,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Point {
    lat: i64,
    lon: i64,
}

#[derive(Debug, PartialEq, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Trip {
    #[spanner(flatten(prefix = "From"))]
    from: Place,
    #[spanner(flatten(prefix = "To"))]
    to: Option<Place>,
    id: i64,
}

fn trip_columns() -> [(&'static str, Type); 7] {
    [
        ("FromCity", string()),
        ("FromGeoLat", int()),
        ("FromGeoLon", int()),
        ("ToCity", string()),
        ("ToGeoLat", int()),
        ("ToGeoLon", int()),
        ("Id", int()),
    ]
}

fn place(city: &str, at: Option<(i64, i64)>) -> Place {
    Place {
        city: city.to_owned(),
        at: at.map(|(lat, lon)| Point { lat, lon }),
    }
}

#[test]
fn prefixes_add_up_and_rows_of_nulls_are_none() {
    let all = [
        row(["Bern", "1", "2", "Rom", "3", "4", "1"]),
        row(["Bern", "-", "-", "Rom", "-", "-", "2"]),
        row(["Bern", "1", "2", "-", "-", "-", "3"]),
        row(["Bern", "1", "2", "Rom", "3", "4", "4"]),
    ];
    let expected = [
        (Some((1, 2)), Some(Some((3, 4)))),
        (None, Some(None)),
        (Some((1, 2)), None),
        (Some((1, 2)), Some(Some((3, 4)))),
    ];
    let trips: Vec<_> = expected
        .iter()
        .zip(1..)
        .map(|((from, to), id)| Trip {
            from: place("Bern", *from),
            to: to.map(|at| place("Rom", at)),
            id,
        })
        .collect();
    assert_eq!(
        collect::<Trip>(&trip_columns(), all.clone()).unwrap(),
        trips
    );
    // In place, and from columns in another order.
    let mut columns = trip_columns();
    columns.reverse();
    let reversed = all.clone().map(|row| row.into_iter().rev().collect());
    for (columns, all) in [(trip_columns(), all), (columns, reversed)] {
        let mut rows = reader::<Trip>(&columns, all);
        for trip in &trips {
            assert_eq!(rows.next().unwrap().unwrap(), trip);
        }
    }
}

#[test]
fn a_row_that_is_partly_null_is_an_error_of_its_row() {
    let all = [
        row(["Bern", "1", "-", "-", "-", "-", "1"]),
        row(["Bern", "-", "-", "-", "-", "-", "2"]),
    ];
    let mut rows = reader::<Trip>(&trip_columns(), all);
    let error = rows.next().unwrap_err().to_string();
    contains(
        &error,
        &[
            "column 2 `FromGeoLon`",
            "field `Trip.from / Place.at / Point.lon`",
            "NULL",
        ],
    );
    assert_eq!(rows.next().unwrap().unwrap().id, 2);
}

#[test]
fn memory_outlives_a_none() {
    let all = [
        row(["Bern", "-", "-", LONG, "-", "-", "1"]),
        row(["Bern", "-", "-", "-", "-", "-", "2"]),
        row(["Bern", "-", "-", "Rom", "-", "-", "3"]),
    ];
    let mut rows = reader::<Trip>(&trip_columns(), all);
    let memory = rows
        .next()
        .unwrap()
        .unwrap()
        .to
        .as_ref()
        .unwrap()
        .city
        .as_ptr();
    assert_eq!(rows.next().unwrap().unwrap().to, None);
    let third = rows.next().unwrap().unwrap().to.as_ref().unwrap();
    assert_eq!((third.city.as_str(), third.city.as_ptr()), ("Rom", memory));
}

#[test]
fn a_row_whose_columns_are_all_absent_is_none() {
    let columns = [("FromCity", string()), ("Id", int())];
    let mut rows = reader::<Trip>(&columns, [row(["Bern", "1"]), row(["Rom", "2"])]);
    let first = rows.next().unwrap().unwrap();
    assert_eq!((first.from.at.as_ref(), first.to.as_ref()), (None, None));
    first.to = Some(place("left by the user", None));
    assert_eq!(rows.next().unwrap().unwrap().to, None);
    // Not when only some are.
    let error = misfit::<Trip>(&[("FromCity", string()), ("Id", int()), ("ToGeoLat", int())]);
    contains(
        &error,
        &[
            "field `Trip.to / Place.city`: reads the column `ToCity`",
            "field `Trip.to / Place.at / Point.lon`: reads the column `ToGeoLon`",
        ],
    );
    assert!(!error.contains("FromGeo"), "{error}");
}

/// The prefix stands before the name in any case: a cure that has it once more is none.
#[test]
fn a_cure_for_the_case_of_a_name_leaves_the_prefix_out() {
    #[derive(SpannerRow)]
    struct Person {
        first_name: String,
    }

    #[derive(SpannerRow)]
    struct Pair {
        #[spanner(flatten(prefix = "a_"))]
        a: Person,
        #[spanner(flatten(prefix = "b_"))]
        b: Option<Person>,
    }

    let error = misfit::<Pair>(&[("a_firstname", string()), ("b_FirstName", string())]);
    contains(
        &error,
        &[
            "there is `a_firstname`: use `rename = \"firstname\"`",
            "there is `b_FirstName`: use `rename = \"FirstName\"` or `rename_all = \"PascalCase\"`",
        ],
    );
    let error = misfit::<Pair>(&[("A_first_name", string())]);
    let cure = "it does not begin with the prefix `a_` of `flatten`; change the prefix, or name \
                the column `a_first_name` in the SQL";
    contains(&error, &[cure]);
}

/// Else a letter of the wrong case makes every row `None`, and nobody is told.
#[test]
fn absent_rows_whose_columns_are_there_in_another_case_are_told() {
    let columns = [("FromCity", string()), ("Id", int()), ("to_city", string())];
    let error = misfit::<Trip>(&columns);
    contains(
        &error,
        &[
            "field `Trip.to`: reads the column `ToCity`",
            "there is `to_city`: it does not begin with the prefix `To` of `flatten`; change the \
             prefix, or name the column `ToCity` in the SQL",
        ],
    );
    let columns = [
        ("FromCity", string()),
        ("Id", int()),
        ("from_geo_lat", int()),
    ];
    let error = misfit::<Trip>(&columns);
    contains(
        &error,
        &["field `Trip.from / Place.at`", "there is `from_geo_lat`"],
    );
}

#[derive(SpannerRow)]
struct Guarded<'a> {
    key: &'a str,
    #[spanner(flatten)]
    tags: Tags<'a>,
    #[spanner(flatten(prefix = "b_"))]
    blob: Option<Blob<'a>>,
}

#[derive(SpannerRow)]
struct Tags<'b> {
    tag: &'b str,
    notes: String,
}

#[derive(SpannerRow)]
struct Blob<'x> {
    data: &'x [u8],
}

#[test]
fn a_guard_gives_back_the_memory_of_flattened_rows_and_bytes_are_decoded() {
    fn is<T: ColumnType<Mode = M>, M>() {}
    is::<Guarded, Kept>();
    is::<Customer, Plain>();
    is::<Trip, Kept>();
    let columns = [
        ("b_data", bytes()),
        ("notes", string()),
        ("tag", string()),
        ("key", string()),
    ];
    let all = [
        row(["aGk=", LONG, "t", "k1"]),
        row(["-", "short", "t", "k2"]),
    ];
    let mut rows = reader::<Guarded>(&columns, all);
    let memory = {
        let first: Recycled<'_, Guarded> = rows.next().unwrap().unwrap();
        assert_eq!((first.key, first.tags.tag), ("k1", "t"));
        assert_eq!(first.blob.as_ref().map(|blob| blob.data), Some(&b"hi"[..]));
        first.tags.notes.as_ptr()
    };
    let second = rows.next().unwrap().unwrap();
    assert!(second.blob.is_none());
    assert_eq!(second.tags.notes, "short");
    assert_eq!(second.tags.notes.as_ptr(), memory, "the same memory");
}

#[derive(SpannerRow)]
struct Versioned<T> {
    version: i64,
    #[spanner(flatten)]
    value: T,
    #[spanner(flatten(prefix = "old_"))]
    before: Option<T>,
}

#[derive(SpannerRow)]
struct Listed<T> {
    #[spanner(flatten(prefix = "a_"))]
    versioned: Item<T>,
}

#[derive(SpannerRow)]
struct Item<T> {
    item: T,
}

#[test]
fn type_parameters_are_flattened() {
    fn owned<T: OwnedRow>() {}
    owned::<Versioned<Point>>();
    let columns = [
        ("version", int()),
        ("old_Lat", int()),
        ("Lat", int()),
        ("Lon", int()),
        ("old_Lon", int()),
    ];
    let rows: Vec<Versioned<Point>> = collect(&columns, [row(["1", "2", "3", "4", "5"])]).unwrap();
    assert_eq!(rows[0].version, 1);
    assert_eq!(rows[0].value, Point { lat: 3, lon: 4 });
    assert_eq!(rows[0].before, Some(Point { lat: 2, lon: 5 }));
    let rows: Vec<Listed<String>> = collect(&[("a_item", string())], [row(["x"])]).unwrap();
    assert_eq!(rows[0].versioned.item, "x");
}

#[derive(SpannerRow)]
struct Twice<T> {
    #[spanner(rename = "Lat")]
    latitude: i64,
    #[spanner(flatten)]
    value: T,
}

#[test]
fn two_fields_that_read_one_column_are_refused_when_bound() {
    let error = misfit::<Twice<Point>>(&[("Lat", int()), ("Lon", int())]);
    contains(
        &error,
        &[
            "field `Twice.value / Point.lat`: reads the column `Lat`, which the field \
             `Twice.latitude` reads too",
        ],
    );
}

#[derive(SpannerRow)]
struct InStruct<'a> {
    customers: Vec<Customer<'a>>,
}

#[test]
fn flattened_rows_in_struct_columns() {
    let customer = crate::support::structure([
        ("name", string()),
        ("zip", string()),
        ("id", int()),
        ("street", string()),
    ]);
    let columns = [("customers", Type::array(customer))];
    let value = crate::support::list([
        crate::support::list(row(["Ann", "-", "1", "Main"])),
        crate::support::list([text("Bob"), text("8000"), text("2"), text("High")]),
    ]);
    let mut rows = reader::<InStruct>(&columns, [vec![value]]);
    let read = rows.next().unwrap().unwrap();
    let read: Vec<_> = read
        .customers
        .iter()
        .map(|customer| (customer.id, customer.name, customer.address.zip))
        .collect();
    assert_eq!(read, [(1, "Ann", None), (2, "Bob", Some("8000"))]);
}

#[derive(SpannerRow)]
struct WithTuple<'a> {
    name: &'a str,
    #[spanner(flatten)]
    pair: (i64, &'a str),
}

#[test]
fn positions_in_a_flattened_tuple_are_those_of_the_result() {
    let columns = [("", int()), ("", string()), ("name", string())];
    let mut rows = reader::<WithTuple>(&columns, [row(["1", "x", "n"])]);
    let read = rows.next().unwrap().unwrap();
    assert_eq!((read.name, read.pair), ("n", (1, "x")));
}
