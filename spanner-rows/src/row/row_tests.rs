//! Rows read from hand-made buffers: binding, order, reuse, errors.

use std::borrow::Cow;

use super::binder::{BindField, Binder};
use super::binding::Binding;
use super::cursor::RowCursor;
use super::dynamic::Row;
use super::error::{DecodeError, DecodeErrorKind};
use super::mode::{Home, Kept};
use super::segment::{Segment, Shape};
use super::spec::ColumnSpec;
use super::traits::{ColumnType, FromColumn, SpannerRow};
use super::value::{OwnedValue, Value};
use crate::wire::value::VALUES_TAG;
use crate::wire::writer::put_value;
use crate::wire::{Field, RowType, Type, TypeCode, ValueWriter};

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

fn list(elements: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
    OwnedValue::List(elements.into_iter().collect())
}

/// Columns by name and type, and the values of their rows.
struct Result {
    row_type: RowType,
    segment: Segment,
}

fn result<const N: usize>(columns: [(&str, Type); N], rows: &[[OwnedValue; N]]) -> Result {
    let mut wire = Vec::new();
    let mut starts = vec![0];
    for row in rows {
        for value in row {
            put_value(&mut wire, VALUES_TAG, |out: ValueWriter<'_>| {
                value.write(out)
            });
        }
        starts.push(wire.len() as u32);
    }
    Result {
        row_type: RowType::new(columns.map(|(name, ty)| Field::new(name, ty))),
        segment: Segment::new(wire.into(), starts, None),
    }
}

impl Result {
    fn shape<T: SpannerRow>(&self) -> Shape {
        Shape::bind::<T>(self.row_type.clone()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn bind_error<T: SpannerRow>(&self) -> String {
        Shape::bind::<T>(self.row_type.clone())
            .expect_err("must not fit")
            .to_string()
    }

    /// Decodes row `i` with fresh memory and hands it to `look`.
    fn row<T: SpannerRow, R>(
        &self,
        i: usize,
        look: impl FnOnce(std::result::Result<T::Row<'_>, DecodeError>) -> R,
    ) -> R {
        let shape = self.shape::<T>();
        look(self.segment.read(&shape, i, i as u64, |cursor| {
            T::decode(cursor, &mut T::Spare::default())
        }))
    }
}

fn ty(code: TypeCode) -> Type {
    Type::new(code)
}

#[test]
fn scalars_of_every_form() {
    let result = result(
        [
            ("b", ty(TypeCode::Bool)),
            ("i", ty(TypeCode::Int64)),
            ("f", ty(TypeCode::Float64)),
            ("g", ty(TypeCode::Float32)),
            ("s", ty(TypeCode::String)),
            ("y", ty(TypeCode::Bytes)),
        ],
        &[[
            OwnedValue::Bool(true),
            text("-42"),
            text("-Infinity"),
            OwnedValue::Number(f64::from(0.1f32)),
            text("größe"),
            text("+/8="),
        ]],
    );
    result.row::<(bool, i64, f64, f32, &str, &[u8]), _>(0, |row| {
        let row = row.unwrap();
        assert_eq!(
            row,
            (
                true,
                -42,
                f64::NEG_INFINITY,
                0.1,
                "größe",
                &[0xfb, 0xff][..]
            )
        );
    });
    result.row::<(bool, i64, f64, f32, String, Vec<u8>), _>(0, |row| {
        let row = row.unwrap();
        assert_eq!(
            (row.4.as_str(), row.5.as_slice()),
            ("größe", &[0xfb, 0xff][..])
        );
    });
    result.row::<(bool, i64, f64, f32, Cow<'_, str>, Cow<'_, [u8]>), _>(0, |row| {
        let row = row.unwrap();
        assert!(matches!(row.4, Cow::Borrowed("größe")));
        assert!(matches!(row.5, Cow::Borrowed(&[0xfb, 0xff])));
    });
}

/// A struct matched by name whose fields come in another order than the columns.
#[derive(Debug, PartialEq)]
struct Turned {
    last: String,
    first: i64,
}

impl SpannerRow for Turned {
    const COLUMNS: &'static [ColumnSpec] = &[
        ColumnSpec::named("last", "z"),
        ColumnSpec::named("first", "a").or_named(&["b"]),
    ];
    type Row<'row> = Self;
    type Lent<'row> = &'row mut Self;
    type Spare = (String, ());
    type Home = Home<Self, Self::Spare>;
    type Mode = Kept;

    fn bind(row_type: &RowType, binder: &mut Binder<'_>) -> Binding {
        let fields = [
            BindField::Column(<String as FromColumn<'_>>::bind),
            BindField::Column(<i64 as FromColumn<'_>>::bind),
        ];
        binder.row("Turned", Self::COLUMNS, &fields, row_type)
    }

    fn decode<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> std::result::Result<Self, DecodeError> {
        Ok(Self {
            last: cursor.read(&mut spare.0)?,
            first: cursor.read(&mut spare.1)?,
        })
    }

    fn update<'row>(
        row: &mut Self,
        cursor: &mut RowCursor<'_, 'row>,
        spare: &mut Self::Spare,
    ) -> std::result::Result<(), DecodeError> {
        cursor.set(&mut row.last, &mut spare.0)?;
        cursor.set(&mut row.first, &mut spare.1)
    }

    fn recycle(row: Self, spare: &mut Self::Spare) {
        row.last.recycle(&mut spare.0);
    }

    fn lend<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        home: &'row mut Self::Home,
    ) -> std::result::Result<&'row mut Self, DecodeError> {
        home.lend(cursor)
    }
}

#[test]
fn columns_in_another_order_are_looked_up() {
    let result = result(
        [
            ("x", ty(TypeCode::String)),
            ("b", ty(TypeCode::Int64)),
            ("y", ty(TypeCode::Bool)),
            ("z", ty(TypeCode::String)),
        ],
        &[
            [text("-"), text("1"), OwnedValue::Null, text("one")],
            [text("-"), text("2"), OwnedValue::Null, text("two")],
        ],
    );
    for (i, (last, first)) in [("one", 1), ("two", 2)].into_iter().enumerate() {
        result.row::<Turned, _>(i, |row| {
            let last = last.to_owned();
            assert_eq!(row.unwrap(), Turned { last, first });
        });
    }
}

#[test]
fn a_row_lent_from_its_home_keeps_its_memory() {
    let long = "a text of some length";
    let result = result(
        [("z", ty(TypeCode::String)), ("a", ty(TypeCode::Int64))],
        &[
            [text(long), text("1")],
            [text("short"), text("2")],
            [text(long), text("x")],
        ],
    );
    let shape = result.shape::<Turned>();
    let mut home = <Turned as SpannerRow>::Home::default();
    let mut place = std::ptr::null();
    for i in 0..2 {
        let row = result
            .segment
            .read(&shape, i, i as u64, |cursor| {
                Turned::lend(cursor, &mut home)
            })
            .unwrap();
        if i > 0 {
            assert_eq!(row.last.as_ptr(), place);
            assert_eq!(row.last, "short");
        }
        place = row.last.as_ptr();
    }
    let error = result
        .segment
        .read(&shape, 2, 2, |cursor| {
            Turned::lend(cursor, &mut home).map(|_| ())
        })
        .unwrap_err();
    assert_eq!(
        (error.row(), error.column(), error.column_name()),
        (Some(2), Some(1), "a")
    );
    assert_eq!(error.field(), "Turned.first");
}

#[test]
fn memory_survives_a_null_and_a_shorter_list() {
    type T = (Option<String>, Vec<Option<String>>);
    let array = Type::array(ty(TypeCode::String));
    let long = || text("long enough to be on the heap");
    let result = result(
        [("s", ty(TypeCode::String)), ("l", array)],
        &[
            [long(), list([long(), long(), long()])],
            [OwnedValue::Null, list([OwnedValue::Null])],
            [long(), list([long(), long(), long()])],
        ],
    );
    let shape = result.shape::<T>();
    let mut spare = <T as SpannerRow>::Spare::default();
    let mut places = Vec::new();
    for i in 0..3 {
        let row = result
            .segment
            .read(&shape, i, 0, |cursor| T::decode(cursor, &mut spare))
            .unwrap();
        match i {
            1 => assert_eq!(row, (None, vec![None])),
            _ => places.push((
                row.0.as_deref().map(str::as_ptr),
                row.1.as_ptr(),
                row.1
                    .iter()
                    .flatten()
                    .map(|s| s.as_ptr())
                    .collect::<Vec<_>>(),
            )),
        }
        FromColumn::recycle(row, &mut spare);
    }
    assert_eq!(places[0], places[1]);

    // The same through `update`.
    let mut row = (None, Vec::new());
    let mut places = Vec::new();
    for i in 0..3 {
        result
            .segment
            .read(&shape, i, 0, |cursor| {
                T::update(&mut row, cursor, &mut spare)
            })
            .unwrap();
        match i {
            1 => assert_eq!(row, (None, vec![None])),
            _ => places.push((row.0.as_deref().map(str::as_ptr), row.1.as_ptr())),
        }
    }
    assert_eq!(places[0], places[1]);
}

#[test]
fn a_vector_of_borrows_keeps_its_memory() {
    type T<'a> = (Vec<&'a str>,);
    let array = Type::array(ty(TypeCode::String));
    let result = result(
        [("l", array)],
        &[[list([text("a"), text("b")])], [list([text("c")])]],
    );
    let shape = result.shape::<T<'_>>();
    let mut spare = <T<'_> as SpannerRow>::Spare::default();
    let mut places = Vec::new();
    for (i, expected) in [vec!["a", "b"], vec!["c"]].into_iter().enumerate() {
        let row = result
            .segment
            .read(&shape, i, 0, |cursor| T::decode(cursor, &mut spare))
            .unwrap();
        assert_eq!(row.0, expected);
        places.push(row.0.as_ptr() as usize);
        FromColumn::recycle(row, &mut spare);
    }
    assert_eq!(places[0], places[1]);
}

#[test]
fn structs_and_arrays_of_structs_are_tuples() {
    let inner = RowType::new([
        Field::new("id", ty(TypeCode::Int64)),
        Field::new("data", ty(TypeCode::Bytes)),
    ]);
    let structure = Type::structure(inner);
    let result = result(
        [("s", structure.clone()), ("l", Type::array(structure))],
        &[[
            list([text("1"), text("YQ==")]),
            list([list([text("2"), text("YmI=")]), OwnedValue::Null]),
        ]],
    );
    type Pair<'a> = (i64, &'a [u8]);
    result.row::<(Pair<'_>, Vec<Option<Pair<'_>>>), _>(0, |row| {
        let row = row.unwrap();
        assert_eq!(row.0, (1, &b"a"[..]));
        assert_eq!(row.1, [Some((2, &b"bb"[..])), None]);
    });
}

#[test]
fn a_struct_with_another_number_of_values_is_an_error() {
    let structure = Type::structure(RowType::new([
        Field::new("a", ty(TypeCode::String)),
        Field::new("b", ty(TypeCode::String)),
    ]));
    let result = result([("s", structure)], &[[list([text("only")])]]);
    result.row::<((&str, &str),), _>(0, |row| {
        let error = row.unwrap_err().to_string();
        assert!(
            error.contains("the STRUCT has 2 fields, 1 values came"),
            "{error}"
        );
    });
}

#[test]
fn null_into_a_plain_field_names_the_cure() {
    let result = result([("Name", ty(TypeCode::String))], &[[OwnedValue::Null]]);
    result.row::<(String,), _>(0, |row| {
        let error = row.unwrap_err();
        assert_eq!(*error.kind(), DecodeErrorKind::Null);
        let text = error.to_string();
        assert!(
            text.contains("column 0 `Name`") && text.contains("`Option`"),
            "{text}"
        );
    });
    result.row::<(Option<&str>,), _>(0, |row| assert_eq!(row.unwrap(), (None,)));
}

#[test]
fn base64_that_is_broken_fails_in_its_row_only() {
    let result = result(
        [("y", ty(TypeCode::Bytes))],
        &[
            [text("YQ==")],
            [text("YQ=")],
            [text("Y!==")],
            [text("Yg==")],
        ],
    );
    let read = |i| result.row::<(&[u8],), _>(i, |row| row.map(|row| row.0.to_vec()).ok());
    assert_eq!(
        [read(0), read(1), read(2), read(3)],
        [Some(b"a".to_vec()), None, None, Some(b"b".to_vec())]
    );
}

#[test]
fn text_that_is_not_utf8_fails_in_its_row_only() {
    let mut wire = Vec::new();
    let mut starts = vec![0];
    for row in [&b"ok"[..], &b"\xff\xfe"[..], &b"\xc3\xa4"[..]] {
        for _ in 0..3 {
            wire.extend_from_slice(&[VALUES_TAG, row.len() as u8 + 2, 0x1a, row.len() as u8]);
            wire.extend_from_slice(row);
        }
        starts.push(wire.len() as u32);
    }
    let result = Result {
        row_type: RowType::new(["a", "b", "c"].map(|n| Field::new(n, ty(TypeCode::String)))),
        segment: Segment::new(wire.into(), starts, None),
    };
    let read = |i| {
        result.row::<(&str, &str, &str), _>(i, |row| row.map(|row| [row.0, row.1, row.2].concat()))
    };
    assert_eq!(read(0).unwrap(), "okokok");
    assert!(read(1).unwrap_err().to_string().contains("not UTF-8"));
    assert_eq!(read(2).unwrap(), "äää");
}

#[test]
fn all_that_does_not_fit_is_said_at_once() {
    let result = result([("A", ty(TypeCode::Int64)), ("z", ty(TypeCode::Bool))], &[]);
    let error = result.bind_error::<Turned>();
    assert!(
        error.contains("`Turned.last`") && error.contains("BOOL"),
        "{error}"
    );
    assert!(
        error.contains("`Turned.first`") && error.contains("there is `A`"),
        "{error}"
    );
}

#[test]
fn a_name_that_stands_for_two_columns_is_refused() {
    let result = result(
        [("z", ty(TypeCode::String)), ("z", ty(TypeCode::String))],
        &[],
    );
    assert!(
        result
            .bind_error::<Turned>()
            .contains("two columns have that name (0 and 1)")
    );
}

#[test]
fn rows_without_a_struct() {
    let result = result(
        [
            ("id", ty(TypeCode::Int64)),
            ("x", ty(TypeCode::Bytes)),
            ("x", ty(TypeCode::Float64)),
            ("u", Type::new(TypeCode::Unknown(99))),
        ],
        &[[
            text("7"),
            text("YQ=="),
            OwnedValue::Number(0.5),
            list([text("a"), OwnedValue::Null]),
        ]],
    );
    result.row::<Row<'_>, _>(0, |row| {
        let row = row.unwrap();
        assert_eq!(row.get::<i64>("id").unwrap(), 7);
        assert_eq!(row.get::<&[u8]>(1).unwrap(), b"a");
        assert_eq!(row.value("u").unwrap(), list([text("a"), OwnedValue::Null]));
        assert_eq!(row.values().map(std::result::Result::unwrap).count(), 4);
        assert!(
            row.get::<f64>("x")
                .unwrap_err()
                .to_string()
                .contains("two columns")
        );
        assert!(
            row.get::<f64>("no")
                .unwrap_err()
                .to_string()
                .contains("no column `no`")
        );
        assert!(
            row.get::<bool>(0)
                .unwrap_err()
                .to_string()
                .contains("INT64")
        );
        assert_eq!(row.value(2).unwrap(), Value::Number(0.5));
        assert!(row.value(4).is_err());
    });
}

#[test]
fn a_type_keeps_no_lifetime_of_a_row() {
    fn of<T: ColumnType>() -> &'static str
    where
        T::Static: 'static,
    {
        std::any::type_name::<T::Static>()
    }
    assert_eq!(
        of::<Vec<&str>>(),
        std::any::type_name::<Vec<&'static str>>()
    );
}

/// Text that holds base64, as a type of a user's own.
struct Encoded<'row>(&'row [u8]);

impl ColumnType for Encoded<'_> {
    type Spare = ();
    type Mode = super::mode::Plain;
    type Static = Encoded<'static>;
    type At<'row> = Encoded<'row>;
}

impl<'row> FromColumn<'row> for Encoded<'row> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.bytes::<Self>(ty, &[TypeCode::Bytes, TypeCode::String])
    }

    fn read(
        column: super::column::Column<'_, 'row>,
        _: &mut (),
    ) -> std::result::Result<Self, DecodeError> {
        column.bytes().map(Encoded)
    }
}

#[test]
fn base64_in_text_is_decoded_for_who_binds_it_and_else_refused() {
    let result = result(
        [("t", ty(TypeCode::String)), ("b", ty(TypeCode::Bytes))],
        &[[text("AQID"), text("BAUG")]],
    );
    result.row::<(Encoded<'_>, Encoded<'_>), _>(0, |row| {
        let row = row.unwrap();
        assert_eq!((row.0.0, row.1.0), (&[1, 2, 3][..], &[4, 5, 6][..]));
    });
    result.row::<Row<'_>, _>(0, |row| {
        let row = row.unwrap();
        assert_eq!(row.get::<Encoded<'_>>("b").unwrap().0, [4, 5, 6]);
        let error = row.get::<Encoded<'_>>("t").err().unwrap().to_string();
        assert!(error.contains("BYTES and PROTO only"), "{error}");
    });
}

#[test]
fn bytes_in_structs_of_a_row_without_a_struct() {
    let structure = Type::structure(RowType::new([
        Field::new("a", ty(TypeCode::Int64)),
        Field::new("b", ty(TypeCode::Bytes)),
    ]));
    let result = result(
        [("l", Type::array(structure))],
        &[[list([
            list([text("1"), text("YQ==")]),
            list([text("2"), text("YmI=")]),
        ])]],
    );
    result.row::<Row<'_>, _>(0, |row| {
        let row = row.unwrap();
        let pairs = row.get::<Vec<(i64, &[u8])>>(0).unwrap();
        assert_eq!(pairs, [(1, &b"a"[..]), (2, &b"bb"[..])]);
    });
}

#[test]
fn very_wide_rows_of_bytes_take_no_longer_for_each_column() {
    const COLUMNS: usize = 20_000;
    let mut wire = Vec::new();
    for _ in 0..COLUMNS {
        put_value(&mut wire, VALUES_TAG, |out: ValueWriter<'_>| {
            out.base64(b"x")
        });
    }
    let end = wire.len() as u32;
    let fields = (0..COLUMNS).map(|i| Field::new(format!("c{i}"), ty(TypeCode::Bytes)));
    let result = Result {
        row_type: RowType::new(fields),
        segment: Segment::new(wire.into(), vec![0, end], None),
    };
    let started = std::time::Instant::now();
    result.row::<Row<'_>, _>(0, |row| {
        assert_eq!(row.unwrap().get::<&[u8]>(COLUMNS - 1).unwrap(), b"x");
    });
    // Each column against each other would be 400 million steps.
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}
