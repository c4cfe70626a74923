use proptest::prelude::*;

use super::support::{read, read_error, sent, through_wire};
use crate::types::numeric::Numeric;
use crate::wire::{Type, TypeAnnotation, TypeCode};

fn pg() -> Type {
    Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric)
}

#[test]
fn forms() {
    for (text, scaled) in [
        ("0", 0),
        ("-0", 0),
        ("-0.000", 0),
        ("0e100000", 0),
        ("1", 1_000_000_000),
        ("+7.", 7_000_000_000),
        (".5", 500_000_000),
        ("-.5", -500_000_000),
        ("0.000000001", 1),
        ("-0.000000001", -1),
        ("1e3", 1_000_000_000_000),
        ("1E+3", 1_000_000_000_000),
        ("12.5e-8", 125),
        ("1000000000000e-21", 1),
        ("0.0000000010000000000", 1),
        (
            "00000000000000000000000000000000000000000001",
            1_000_000_000,
        ),
        (
            "99999999999999999999999999999.999999999",
            10_i128.pow(38) - 1,
        ),
        (
            "-99999999999999999999999999999.999999999",
            1 - 10_i128.pow(38),
        ),
        ("1e28", 10_i128.pow(37)),
        (
            "12345678901234567890.1",
            12_345_678_901_234_567_890_100_000_000,
        ),
        ("1234567890123456789", 1_234_567_890_123_456_789_000_000_000),
    ] {
        assert_eq!(text.parse().map(Numeric::scaled), Ok(scaled), "{text}");
        let read: Numeric = read(TypeCode::Numeric, text).unwrap();
        assert_eq!(read.scaled(), scaled, "{text}");
        assert_eq!(self::read::<Numeric>(pg(), text).unwrap(), read);
    }
}

#[test]
fn what_is_refused() {
    for text in [
        "",
        "-",
        "+",
        ".",
        "-.",
        "e",
        "e1",
        "1e",
        "1e+",
        ".e1",
        "1.2.3",
        "1,5",
        " 1",
        "1 ",
        "--1",
        "+-1",
        "0x1",
        "1_000",
        "1e1.5",
        "1e999999999999",
        "Infinity",
        "nan",
        "١",
        "1.-5",
        "1.+5",
        "12345678.1234567:",
    ] {
        assert!(text.parse::<Numeric>().is_err(), "{text:?}");
        let error = read_error::<Numeric>(TypeCode::Numeric, text);
        assert!(error.contains("is not a decimal number"), "{error}");
    }
    for text in [
        "100000000000000000000000000000",
        "-100000000000000000000000000000.5",
        "1e29",
        "0.0000000001",
        "1.0000000000000000001",
        "1e-10",
        "NaN",
    ] {
        assert!(text.parse::<Numeric>().is_err(), "{text:?}");
        let error = read_error::<Numeric>(pg(), text);
        assert!(error.contains("spanner_rows::PgNumeric"), "{error}");
    }
}

#[test]
fn printed() {
    for (scaled, text) in [
        (0, "0"),
        (1, "0.000000001"),
        (-500_000_000, "-0.5"),
        (10_000_000_000, "10"),
        (-12_340_000_000, "-12.34"),
        (10_i128.pow(37), "10000000000000000000000000000"),
        (
            10_i128.pow(38) - 1,
            "99999999999999999999999999999.999999999",
        ),
    ] {
        let number = Numeric::from_scaled(scaled).unwrap();
        assert_eq!(number.to_string(), text);
        assert_eq!(sent(&number), text);
    }
    let number: Numeric = "-1.5".parse().unwrap();
    assert_eq!(
        format!("[{number:>8}|{number:<6}|{number:07}]"),
        "[    -1.5|-1.5  |-0001.5]"
    );
}

#[test]
fn the_range_is_that_of_the_type() {
    assert_eq!(Numeric::from_scaled(10_i128.pow(38)), None);
    assert_eq!(Numeric::from_scaled(-(10_i128.pow(38))), None);
    assert_eq!(Numeric::from_scaled(i128::MIN), None);
    assert_eq!(
        Numeric::from_scaled(Numeric::MAX.scaled()),
        Some(Numeric::MAX)
    );
    assert!(Numeric::try_from(i128::MAX).is_err());
    assert!(Numeric::try_from(10_i128.pow(29)).is_err());
    assert!(Numeric::MIN < Numeric::ZERO && Numeric::ZERO < Numeric::MAX);
}

#[test]
fn integers() {
    assert_eq!(Numeric::from(i64::MIN).to_string(), i64::MIN.to_string());
    assert_eq!(i64::try_from(Numeric::from(i64::MAX)), Ok(i64::MAX));
    assert_eq!(u8::try_from(Numeric::from(255_u8)), Ok(255));
    assert!(u8::try_from(Numeric::from(256_i64)).is_err());
    assert!(u64::try_from(Numeric::from(-1_i32)).is_err());
    assert!(i64::try_from("1.5".parse::<Numeric>().unwrap()).is_err());
}

fn numbers() -> impl Strategy<Value = Numeric> {
    (any::<i128>(), 0_u32..128)
        .prop_map(|(number, shift)| (number >> shift) % 10_i128.pow(38))
        .prop_map(|scaled| Numeric::from_scaled(scaled).unwrap())
}

proptest! {
    #[test]
    fn reads_what_is_printed(number in numbers()) {
        prop_assert_eq!(number.to_string().parse(), Ok(number));
        prop_assert_eq!(through_wire(&number).unwrap(), number);
        prop_assert_eq!(number.to_f64_lossy(), number.to_string().parse::<f64>().unwrap());
    }

    #[test]
    fn order_is_that_of_the_value(a in numbers(), b in numbers()) {
        prop_assert_eq!(a.cmp(&b), a.scaled().cmp(&b.scaled()));
    }

    #[test]
    fn any_text(text: String) {
        let _ = text.parse::<Numeric>();
        let _ = read::<Numeric>(TypeCode::Numeric, &text);
    }
}

#[cfg(feature = "bigdecimal")]
mod against_bigdecimal {
    use std::str::FromStr;

    use bigdecimal::num_bigint::ToBigInt;
    use bigdecimal::{BigDecimal, num_bigint::BigInt};
    use proptest::prelude::*;

    use super::super::support::{read, read_error, through_wire};
    use super::{Numeric, numbers, pg};
    use crate::wire::TypeCode;

    /// The scaled integer, worked out by the other library.
    fn expected(text: &str) -> Option<i128> {
        let scaled = BigDecimal::from_str(text).ok()? * BigDecimal::from(1_000_000_000);
        let whole = scaled.is_integer().then(|| scaled.to_bigint())??;
        let value = i128::try_from(whole).ok()?;
        (value.abs() < 10_i128.pow(38)).then_some(value)
    }

    proptest! {
        #[test]
        fn numeric(text in "[+-]?[0-9]{1,31}(\\.[0-9]{1,12}|\\.[0-9]{0,8}0{0,4})?([eE][+-]?[0-9]{1,2})?") {
            prop_assert_eq!(text.parse().ok().map(Numeric::scaled), expected(&text), "{}", text);
        }

        #[test]
        fn without_digits_before_the_point(text in "-?\\.[0-9]{1,11}(e[0-9])?") {
            prop_assert_eq!(text.parse().ok().map(Numeric::scaled), expected(&text), "{}", text);
        }

        #[test]
        fn column(text in "-?[0-9]{1,60}(\\.[0-9]{1,40})?") {
            let number = BigDecimal::from_str(&text).unwrap();
            let read: BigDecimal = read(pg(), &text).unwrap();
            prop_assert_eq!(read.as_bigint_and_exponent(), number.as_bigint_and_exponent());
        }

        #[test]
        fn conversions(number in numbers()) {
            let big = BigDecimal::from(number);
            prop_assert_eq!(&big, &BigDecimal::new(BigInt::from(number.scaled()), 9));
            prop_assert_eq!(Numeric::try_from(&big), Ok(number));
            prop_assert_eq!(through_wire(&big).unwrap(), big);
        }

        #[test]
        fn any_text(text: String) {
            let _ = read::<BigDecimal>(TypeCode::Numeric, &text);
        }
    }

    #[test]
    fn not_a_number() {
        let error = read_error::<BigDecimal>(pg(), "NaN");
        assert!(error.contains("spanner_rows::PgNumeric"), "{error}");
    }
}

#[cfg(feature = "rust_decimal")]
mod against_rust_decimal {
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    use super::super::support::{read, read_error, through_wire};
    use super::{Numeric, numbers, pg};
    use crate::wire::TypeCode;

    proptest! {
        #[test]
        fn column(text in "-?[0-9]{1,29}(\\.[0-9]{1,14})?") {
            let expected = Decimal::from_str_exact(&text);
            let read = read::<Decimal>(pg(), &text);
            match (expected, read) {
                (Ok(expected), Ok(read)) => {
                    prop_assert_eq!(expected, read);
                    if text.len() < 20 {
                        prop_assert_eq!(expected.scale(), read.scale());
                    }
                }
                // Zeros at the end that are too many do not matter to us.
                (Err(_), Ok(read)) => {
                    prop_assert_eq!(text.parse::<Numeric>(), Numeric::try_from(read));
                }
                (Err(_), Err(error)) => {
                    prop_assert!(error.to_string().contains("read the column into"), "{}", error);
                }
                (Ok(_), Err(error)) => prop_assert!(false, "{text}: {error}"),
            }
        }

        #[test]
        fn conversions(number in numbers()) {
            match Decimal::try_from(number) {
                Ok(decimal) => {
                    prop_assert_eq!(Numeric::try_from(decimal), Ok(number));
                    prop_assert_eq!(through_wire(&decimal).unwrap(), decimal);
                }
                Err(_) => prop_assert!(number.scaled().unsigned_abs() >= 1 << 96),
            }
        }

        #[test]
        fn any_text(text: String) {
            let _ = read::<Decimal>(TypeCode::Numeric, &text);
        }
    }

    #[test]
    fn what_does_not_fit_says_what_does() {
        let most = "99999999999999999999999999999.999999999";
        let error = read_error::<Decimal>(TypeCode::Numeric, most);
        assert!(error.contains("spanner_rows::Numeric"), "{error}");
        let error = read_error::<Decimal>(pg(), "NaN");
        assert!(error.contains("spanner_rows::PgNumeric"), "{error}");
        let zero = read::<Decimal>(pg(), "0.0000000000").unwrap();
        assert_eq!((zero, zero.scale()), (Decimal::ZERO, 10));
        assert!(read::<Decimal>(pg(), "1_000").is_err());
        assert_eq!(
            read::<Decimal>(TypeCode::Numeric, "1e3").unwrap(),
            Decimal::from(1_000)
        );
        assert_eq!(
            read::<Decimal>(TypeCode::Numeric, "70000000000000000000000000000.000").unwrap(),
            Decimal::from_str_exact("70000000000000000000000000000").unwrap()
        );
    }
}
