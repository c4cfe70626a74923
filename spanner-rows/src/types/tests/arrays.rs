use proptest::prelude::*;

use super::support::{raw, text, texts, through_wire, values};
use crate::row::dynamic::Row;
use crate::row::segment::{Segment, Shape};
use crate::row::traits::SpannerRow;
use crate::row::value::OwnedValue;
use crate::types::list::List;
use crate::types::numeric::Numeric;
use crate::wire::value::VALUES_TAG;
use crate::wire::writer::put_value;
use crate::wire::{Field, RowType, Type, TypeAnnotation, TypeCode};

fn list(elements: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
    OwnedValue::List(elements.into_iter().collect())
}

fn array(code: TypeCode) -> Type {
    Type::array(Type::new(code))
}

fn all<'row, T: crate::FromColumn<'row>>(list: List<'row, T>) -> Vec<T> {
    list.into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn lazily() {
    let values = values(
        array(TypeCode::String),
        [list([text("a"), text("größe")]), list([]), OwnedValue::Null],
    );
    values.read::<List<'_, &str>, _>(0, |value| {
        let list = value.unwrap();
        assert!(!list.is_empty());
        assert_eq!(format!("{list:?}"), r#"["a", "größe"]"#);
        assert_eq!(all(list), ["a", "größe"]);
        // Again from the start.
        assert_eq!((&list).into_iter().count(), 2);
    });
    values.read::<List<'_, &str>, _>(1, |value| {
        assert!(value.as_ref().unwrap().is_empty());
        assert_eq!(all(value.unwrap()), [""; 0]);
    });
    values.read::<List<'_, &str>, _>(2, |value| {
        assert!(value.unwrap_err().to_string().contains("`Option`"));
    });
    values.read::<Option<List<'_, &str>>, _>(2, |value| assert!(value.unwrap().is_none()));
}

#[test]
fn an_element_in_error_stands_alone() {
    let values = values(
        array(TypeCode::Int64),
        [list([text("1"), text("x"), OwnedValue::Null, text("4")])],
    );
    values.read::<List<'_, i64>, _>(0, |value| {
        let list = value.unwrap();
        let seen = list.iter().map(Result::ok).collect::<Vec<_>>();
        assert_eq!(seen, [Some(1), None, None, Some(4)]);
        let error = list.iter().nth(1).unwrap().unwrap_err().to_string();
        assert!(error.contains("decimal integer"), "{error}");
        assert!(error.starts_with("row 0, column 0 `v`, "), "{error}");
        let error = list.iter().nth(2).unwrap().unwrap_err().to_string();
        assert!(error.starts_with("row 0, column 0 `v`, "), "{error}");
    });
    values.read::<List<'_, Option<i64>>, _>(0, |value| {
        assert_eq!(value.unwrap().iter().nth(2).unwrap().unwrap(), None);
    });
    // In a vector it is an error of the whole value.
    values.read::<Vec<i64>, _>(0, |value| assert!(value.is_err()));
    values.read::<Box<[i64]>, _>(0, |value| assert!(value.is_err()));
}

#[test]
fn a_malformed_list_ends() {
    // One good element, then one that says that it is longer than the list.
    let wire = [0x32, 7, 0x0a, 3, 0x1a, 1, b'7', 0x0a, 9];
    raw(array(TypeCode::Int64), &wire).read::<List<'_, i64>, _>(0, |value| {
        let seen = value
            .as_ref()
            .unwrap()
            .iter()
            .take(5)
            .map(|element| element.ok());
        assert_eq!(seen.collect::<Vec<_>>(), [Some(7), None]);
        let error = value.unwrap().iter().nth(1).unwrap().unwrap_err();
        assert_eq!((error.row(), error.column()), (Some(0), Some(0)));
    });
}

#[test]
fn compared_once_with_the_column() {
    let error = texts(TypeCode::String, [""]).bind_error::<List<'_, &str>>();
    assert!(error.contains("it reads ARRAY"), "{error}");
    let values = values(array(TypeCode::String), []);
    let error = values.bind_error::<List<'_, i64>>();
    assert!(error.contains("it reads INT64"), "{error}");
    let error = values.bind_error::<Box<[i64]>>();
    assert!(error.contains("it reads INT64"), "{error}");
}

#[test]
fn bytes_are_decoded_in_lists() {
    let values = values(
        array(TypeCode::Bytes),
        [list([text("+/8="), text("!"), text("")])],
    );
    values.read::<List<'_, &[u8]>, _>(0, |value| {
        let list = value.unwrap();
        let seen = list.iter().map(Result::ok).collect::<Vec<_>>();
        assert_eq!(seen, [Some(&[0xfb, 0xff][..]), None, Some(&[][..])]);
    });
}

/// ARRAY of STRUCT with an ARRAY of STRUCT in it.
fn nested() -> (Type, OwnedValue) {
    let inner = Type::structure(RowType::new([
        Field::new("k", Type::new(TypeCode::String)),
        Field::new("n", Type::new(TypeCode::Numeric)),
    ]));
    let outer = Type::structure(RowType::new([
        Field::new("id", Type::new(TypeCode::Int64)),
        Field::new("parts", Type::array(inner)),
    ]));
    let part = |key: &str, number: &str| list([text(key), text(number)]);
    let value = list([
        list([text("1"), list([part("a", "1.5"), part("b", "2")])]),
        list([text("2"), list([])]),
        list([text("3"), OwnedValue::Null]),
    ]);
    (Type::array(outer), value)
}

type Outer<'row> = (i64, Option<List<'row, (&'row str, Numeric)>>);

fn check_nested(outer: List<'_, Outer<'_>>) {
    let seen = all(outer)
        .into_iter()
        .map(|(id, parts)| (id, parts.map(all)))
        .collect::<Vec<_>>();
    let number = |text: &str| text.parse::<Numeric>().unwrap();
    assert_eq!(
        seen,
        [
            (1, Some(vec![("a", number("1.5")), ("b", number("2"))])),
            (2, Some(vec![])),
            (3, None),
        ]
    );
}

#[test]
fn lists_of_rows_with_lists() {
    let (ty, value) = nested();
    values(ty, [value]).read::<List<'_, Outer<'_>>, _>(0, |value| check_nested(value.unwrap()));
}

/// What `Row::get` lends lives as long as the row, also what it binds.
#[test]
fn from_a_row_without_a_struct() {
    let (ty, value) = nested();
    let mut wire = Vec::new();
    put_value(&mut wire, VALUES_TAG, |out| value.write(out));
    put_value(&mut wire, VALUES_TAG, |out| out.string("7"));
    let end = wire.len() as u32;
    let segment = Segment::new(wire.into(), vec![0, end], None);
    let row_type = RowType::new([
        Field::new("v", ty),
        Field::new("i", Type::new(TypeCode::Int64)),
    ]);
    let shape = Shape::bind::<Row<'_>>(row_type).unwrap();
    let kept = segment
        .read(&shape, 0, 0, |cursor| {
            let row = <Row<'_> as SpannerRow>::decode(cursor, &mut ())?;
            row.get::<List<'_, Outer<'_>>>("v")
        })
        .unwrap();
    check_nested(kept);
    let row = segment
        .read(&shape, 0, 0, |cursor| {
            <Row<'_> as SpannerRow>::decode(cursor, &mut ())
        })
        .unwrap();
    // Several types for a column, each found again.
    for _ in 0..2 {
        assert_eq!(row.get::<i64>(1).unwrap(), 7);
        assert_eq!(row.get::<Option<i64>>("i").unwrap(), Some(7));
        assert!(row.get::<&str>(1).is_err());
        assert!(row.get::<i64>(0).is_err());
        assert!(row.get::<i64>(2).is_err());
        check_nested(row.get(0).unwrap());
    }
}

#[test]
fn binding_on_demand_from_many_threads() {
    let mut wire = Vec::new();
    put_value(&mut wire, VALUES_TAG, |out| out.string("7"));
    let end = wire.len() as u32;
    let segment = Segment::new(wire.into(), vec![0, end], None);
    let row_type = RowType::new([Field::new("i", Type::new(TypeCode::Int64))]);
    let shape = Shape::bind::<Row<'_>>(row_type).unwrap();
    let start = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (segment, shape, start) = (&segment, &shape, &start);
            scope.spawn(move || {
                let row = segment
                    .read(shape, 0, 0, |cursor| {
                        <Row<'_> as SpannerRow>::decode(cursor, &mut ())
                    })
                    .unwrap();
                start.wait();
                for i in 0..100 {
                    if (i + thread) % 2 == 0 {
                        assert_eq!(row.get::<i64>(0).unwrap(), 7);
                    } else {
                        assert_eq!(row.get::<Option<i64>>(0).unwrap(), Some(7));
                    }
                }
            });
        }
    });
}

#[test]
fn oids_are_integers() {
    let oid = Type::new(TypeCode::Int64).with_annotation(TypeAnnotation::PgOid);
    texts(oid.clone(), ["4294967295"]).read::<i64, _>(0, |value| {
        assert_eq!(value.unwrap(), 4_294_967_295);
    });
    values(Type::array(oid), [list([text("1")])]).read::<Vec<i64>, _>(0, |value| {
        assert_eq!(value.unwrap(), [1]);
    });
}

#[test]
fn unknown_types_are_values() {
    let unknown = Type::new(TypeCode::from_number(99));
    let values = texts(unknown, ["?"]);
    values.read::<OwnedValue, _>(0, |value| assert_eq!(value.unwrap(), text("?")));
    assert!(values.bind::<String>().is_err());
    assert!(values.bind::<Numeric>().is_err());
}

proptest! {
    #[test]
    fn boxes_and_vectors(elements: Vec<Option<i64>>) {
        prop_assert_eq!(&through_wire(&elements).unwrap(), &elements);
        let boxed = elements.clone().into_boxed_slice();
        prop_assert_eq!(through_wire(&boxed).unwrap(), boxed);
        let wire = list(elements.iter().map(|element| match element {
            Some(element) => text(&element.to_string()),
            None => OwnedValue::Null,
        }));
        values(array(TypeCode::Int64), [wire]).read::<List<'_, Option<i64>>, _>(0, |value| {
            assert_eq!(all(value.unwrap()), elements);
        });
    }
}
