//! A value read over another leaves nothing of it.

use std::borrow::Cow;
use std::sync::Arc;

use super::support::{Owned, text, texts, values};
use crate::row::value::{OwnedValue, Value};
use crate::types::base64::Base64;
use crate::types::numeric::Numeric;
use crate::types::pg_numeric::PgNumeric;
use crate::wire::{Type, TypeCode};

/// Reads the values one over another; `None` stands for one that is in error.
fn check<T: Owned + Clone + PartialEq + std::fmt::Debug>(
    ty: impl Into<Type>,
    rows: impl IntoIterator<Item = (OwnedValue, Option<T>)>,
) {
    let (sent, expected): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let seen = values(ty, sent).over::<T>();
    let seen = seen.into_iter().map(Result::ok).collect::<Vec<_>>();
    assert_eq!(seen, expected);
}

fn list<const N: usize>(elements: [&str; N]) -> OwnedValue {
    OwnedValue::List(elements.into_iter().map(text).collect())
}

#[test]
fn null_after_a_value() {
    let number = |text: &str| Some(Some(text.parse::<Numeric>().unwrap()));
    check(
        TypeCode::Numeric,
        [
            (text("1.5"), number("1.5")),
            (OwnedValue::Null, Some(None)),
            (text("x"), None),
            (text("2"), number("2")),
        ],
    );
    let number = |text: &str| Some(Some(text.parse::<PgNumeric>().unwrap()));
    check(
        TypeCode::Numeric,
        [
            (text("123456789.123456789"), number("123456789.123456789")),
            (OwnedValue::Null, Some(None)),
            (text("7"), number("7")),
            (text("seven"), None),
            (text("NaN"), number("NaN")),
        ],
    );
    let shared = |text: &str| Some(Some(Arc::<str>::from(text)));
    check(
        TypeCode::String,
        [
            (text("abc"), shared("abc")),
            (OwnedValue::Null, Some(None)),
            (text(""), shared("")),
        ],
    );
}

#[test]
fn shorter_after_longer() {
    let boxed = |texts: &[&str]| Some(texts.iter().map(ToString::to_string).collect::<Box<[_]>>());
    let array = Type::array(Type::new(TypeCode::String));
    check(
        array,
        [
            (list(["a", "bb", "ccc"]), boxed(&["a", "bb", "ccc"])),
            (list(["d"]), boxed(&["d"])),
            (OwnedValue::List(vec![text("e"), OwnedValue::Null]), None),
            (list([]), boxed(&[])),
            (list(["f", "g", "h", "i"]), boxed(&["f", "g", "h", "i"])),
        ],
    );
    let bytes = |bytes: &'static [u8]| Some(Some(bytes::Bytes::from_static(bytes)));
    check(
        TypeCode::Bytes,
        [
            (text("YWJj"), bytes(b"abc")),
            (text("YQ=="), bytes(b"a")),
            (text("YQ"), None),
            (OwnedValue::Null, Some(None)),
        ],
    );
    let fixed = |bytes: [u8; 3]| Some(Some(bytes));
    check(
        TypeCode::Bytes,
        [
            (text("YWJj"), fixed(*b"abc")),
            (text("YQ=="), None),
            (OwnedValue::Null, Some(None)),
            (text("AAAA"), fixed([0; 3])),
        ],
    );
}

#[test]
fn elements_of_boxes_keep_their_memory() {
    use crate::row::traits::{ColumnType, FromColumn};
    let boxed: Box<[String]> = Box::new(["x".repeat(100), String::new()]);
    let before = boxed[0].as_ptr();
    let mut spare = vec![String::new(), String::new(), String::new()];
    boxed.recycle(&mut spare);
    assert_eq!(spare[0].as_ptr(), before);
    const { assert!(<Box<[String]> as ColumnType>::KEPT) };
    const { assert!(!<Box<[i64]> as ColumnType>::KEPT) };
}

/// What one giant value took is not held for the rest of the stream.
#[test]
fn giant_values_give_their_memory_back() {
    const GIANT: usize = 2 << 20;
    fn after_a_giant<T: Owned>(
        ty: impl Into<Type>,
        giant: OwnedValue,
        small: OwnedValue,
        capacity: impl Fn(&T) -> usize,
    ) {
        let rows = values(ty, [giant, small.clone(), small]);
        rows.over_with::<T>(|i, value| match i {
            0 => assert!(capacity(value) >= GIANT, "row {i}: {}", capacity(value)),
            _ => assert!(capacity(value) < GIANT / 4, "row {i}: {}", capacity(value)),
        });
    }
    let giant = text(&"a".repeat(GIANT));
    after_a_giant(TypeCode::String, giant.clone(), text("b"), String::capacity);
    after_a_giant(
        TypeCode::String,
        giant,
        text("b"),
        |value: &Option<String>| value.as_ref().unwrap().capacity(),
    );
    let giant = text(&"AAAA".repeat(GIANT / 3 + 1));
    after_a_giant(TypeCode::Bytes, giant, text("AAAA"), Vec::<u8>::capacity);
    let array = Type::array(Type::new(TypeCode::String));
    let giant = OwnedValue::List(vec![text(""); GIANT / 8]);
    let capacity = |value: &Vec<String>| value.capacity() * size_of::<String>();
    after_a_giant(array, giant, list(["a", "b"]), capacity);
}

/// So does the memory of the elements that it had.
#[test]
fn giant_arrays_give_that_of_their_elements_back() {
    use crate::row::traits::{ColumnType, FromColumn};
    let mut spare = <Vec<String> as ColumnType>::Spare::default();
    FromColumn::recycle(vec![String::from("a"); 1 << 17], &mut spare);
    assert_eq!(spare.kept(), 1 << 17);
    FromColumn::recycle(vec![String::from("a"); 2], &mut spare);
    assert_eq!(spare.kept(), 2);
}

/// Borrowed values too: no field is ever left with what an earlier row had.
#[test]
fn what_borrows_is_set() {
    let words = texts(TypeCode::String, ["a", "longer, of another buffer's worth"]);
    let long = "longer, of another buffer's worth";
    words.read_and_set::<&str, _>(0, 1, |value| assert_eq!(value, long));
    words.read_and_set::<&str, _>(1, 0, |value| assert_eq!(value, "a"));
    words.read_and_set::<Option<&str>, _>(0, 1, |value| assert_eq!(value, Some(long)));
    words.read_and_set::<Cow<'_, str>, _>(0, 1, |value| assert_eq!(value, long));
    words.read_and_set::<Option<Cow<'_, str>>, _>(0, 1, |value| {
        assert!(matches!(value, Some(Cow::Borrowed(text)) if text == long));
    });
    words.read_and_set::<Value<'_>, _>(0, 1, |value| assert_eq!(value, Value::String(long)));
    let bytes = texts(TypeCode::Bytes, ["AAAA", "/w=="]);
    bytes.read_and_set::<&[u8], _>(0, 1, |value| assert_eq!(value, [0xff]));
    bytes.read_and_set::<Option<&[u8]>, _>(0, 1, |value| assert_eq!(value, Some(&[0xff][..])));
    bytes.read_and_set::<Cow<'_, [u8]>, _>(0, 1, |value| assert_eq!(*value, [0xff]));
    bytes.read_and_set::<Base64<'_>, _>(0, 1, |value| assert_eq!(value.as_str(), "/w=="));
    let lists = values(
        Type::array(TypeCode::String.into()),
        [list(["a", "b"]), list(["c"])],
    );
    lists.read_and_set::<Vec<&str>, _>(0, 1, |value| assert_eq!(value, ["c"]));
    lists.read_and_set::<Vec<Cow<'_, str>>, _>(0, 1, |value| assert_eq!(value, ["c"]));
    lists.read_and_set::<Vec<&str>, _>(1, 0, |value| assert_eq!(value, ["a", "b"]));
}

/// What is left of a longer array goes back to where it was, element by element.
#[test]
fn every_element_keeps_its_own_memory() {
    let long = "l".repeat(200);
    let column = [
        list([&*long; 5]),
        list(["one"]),
        list(["a", "b", "c", "d", "e"]),
    ];
    let column = values(Type::array(Type::new(TypeCode::String)), column);
    column.over_with::<Vec<String>>(|i, strings| {
        let kept = strings.iter().all(|text| text.capacity() >= long.len());
        assert!(
            kept,
            "row {i}: {:?}",
            strings.iter().map(String::capacity).collect::<Vec<_>>()
        );
    });
}
