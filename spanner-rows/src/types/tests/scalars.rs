//! The types whose form on the wire is that of protobuf's own values.

use proptest::prelude::*;

use super::support::{text, through_wire, values};
use crate::row::value::OwnedValue;
use crate::wire::{Type, TypeCode};

/// As the service sends it: a number, or the name of a special one.
fn float(value: f64) -> OwnedValue {
    if value.is_nan() {
        text("NaN")
    } else if value.is_infinite() {
        text(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        OwnedValue::Number(value)
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

proptest! {
    #[test]
    fn every_float64(bits: u64) {
        let value = f64::from_bits(bits);
        let read = values(TypeCode::Float64, [float(value)]).read::<f64, _>(0, Result::unwrap);
        prop_assert!(same(read, value), "{read} {value}");
        let through = through_wire(&value).unwrap();
        prop_assert!(same(through, value), "{through} {value}");
    }

    /// A FLOAT32 is sent widened to 64 bits and comes back exactly.
    #[test]
    fn every_float32(bits: u32) {
        let value = f32::from_bits(bits);
        let sent = float(f64::from(value));
        let read = values(TypeCode::Float32, [sent]).read::<f32, _>(0, Result::unwrap);
        prop_assert!(same(read.into(), value.into()), "{read} {value}");
        let through = through_wire(&value).unwrap();
        prop_assert!(same(through.into(), value.into()), "{through} {value}");
    }

    #[test]
    fn every_text(value: String) {
        prop_assert_eq!(&through_wire(&value).unwrap(), &value);
        let column = values(TypeCode::String, [text(&value)]);
        column.read::<&str, _>(0, |read| assert_eq!(read.unwrap(), value));
        column.over_with::<String>(|_, read| assert_eq!(*read, value));
    }

    /// Texts of all lengths one over another, as a stream sets a kept row: ASCII,
    /// which is checked for many rows at once and copied in one piece, and not.
    #[test]
    fn texts_over_one_another(
        texts in prop_oneof![
            prop::collection::vec("[a-z\u{12}\u{1a}]{0,70}", 1..20),
            prop::collection::vec("[a-zż]{0,140}", 1..20),
        ],
    ) {
        let column = values(TypeCode::String, texts.iter().map(|value| text(value)));
        column.over_with::<String>(|i, read| assert_eq!(*read, texts[i]));
    }
}

#[test]
fn both_bools() {
    for value in [true, false] {
        assert_eq!(through_wire(&value).unwrap(), value);
        let column = values(TypeCode::Bool, [OwnedValue::Bool(value)]);
        assert_eq!(column.read::<bool, _>(0, Result::unwrap), value);
    }
}

#[test]
fn numbers_of_an_enum_have_32_bits() {
    for number in [i32::MIN, -3, 0, 7, i32::MAX] {
        let column = values(TypeCode::Enum, [text(&number.to_string())]);
        assert_eq!(column.read::<i32, _>(0, Result::unwrap), number);
    }
    for number in [i64::from(i32::MIN) - 1, i64::from(i32::MAX) + 1] {
        let column = values(TypeCode::Enum, [text(&number.to_string())]);
        let error = column.read::<i32, _>(0, Result::unwrap_err).to_string();
        assert!(
            error.contains("32 bits") && error.contains(&number.to_string()),
            "{error}"
        );
    }
    // What is said of an INT64 names the cure, which is another one inside of an array.
    let misfit = values(TypeCode::Int64, []).bind::<i32>().unwrap_err();
    assert!(
        misfit.to_string().contains("try_from = \"i64\""),
        "{misfit}"
    );
    let array = Type::array(Type::new(TypeCode::Int64));
    let misfit = values(array, []).bind::<Vec<i32>>().unwrap_err();
    assert!(
        misfit.to_string().contains("make the elements `i64`"),
        "{misfit}"
    );
}
