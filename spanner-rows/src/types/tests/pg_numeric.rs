use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use proptest::prelude::*;

use super::support::{read, read_error, sent, texts, through_wire};
use crate::types::encode::ToColumn;
use crate::types::numeric::Numeric;
use crate::types::pg_numeric::PgNumeric;
use crate::wire::{Type, TypeAnnotation, TypeCode};

fn ty() -> Type {
    PgNumeric::<String>::column_type()
}

fn number(text: &str) -> PgNumeric<&str> {
    PgNumeric::new(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn hash(number: PgNumeric<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn only_nan_is_nan_and_only_equals_are_equal() {
    assert!(number("NaN").is_nan());
    let different = ["NaN", "0", "1", "-1", "10", "1.5", "0.1"];
    for (i, a) in different.into_iter().enumerate() {
        assert_eq!(number(a).is_nan(), a == "NaN", "{a}");
        for (j, b) in different.into_iter().enumerate() {
            assert_eq!(number(a) == number(b), i == j, "{a} {b}");
        }
    }
}

#[test]
fn keeps_the_text() {
    assert_eq!(ty().annotation(), TypeAnnotation::PgNumeric);
    let long = "123456789012345678901234567890123456789012345.00000000000000000001";
    let values = texts(ty(), [long, "NaN", "1.50"]);
    values.read::<PgNumeric<&str>, _>(0, |value| assert_eq!(value.unwrap().as_str(), long));
    values.read::<PgNumeric<&str>, _>(1, |value| assert!(value.unwrap().is_nan()));
    values.read::<PgNumeric, _>(2, |value| assert_eq!(value.unwrap().to_string(), "1.50"));
    assert_eq!(sent(&number(long)), long);
    assert_eq!(
        read::<PgNumeric>(TypeCode::Numeric, "7").unwrap().as_str(),
        "7"
    );
    for bad in ["", "nan", "Infinity", "1.2.3", "1e200001", "é"] {
        assert!(PgNumeric::new(bad).is_err(), "{bad}");
        let error = read_error::<PgNumeric>(ty(), bad);
        assert!(error.contains("is not a decimal number"), "{error}");
    }
}

#[test]
fn compared_by_value() {
    for (a, b) in [
        ("1.0", "1.00"),
        ("-0", "0.000"),
        ("1e2", "0100."),
        (".5", "5e-1"),
        ("NaN", "NaN"),
    ] {
        let (a, b) = (number(a), number(b));
        assert_eq!(a, b);
        assert_eq!(hash(a), hash(b), "{a} {b}");
    }
    let ascending = [
        "-1e10", "-10", "-9.5", "-9", "-0.1", "-0.01", "0", "0.01", "0.1", "0.11", "9", "9.05",
        "9.5", "10", "1e10", "NaN",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(number(a).cmp(&number(b)), i.cmp(&j), "{a} {b}");
        }
    }
}

#[test]
fn conversions() {
    assert_eq!(number("12.50").to_numeric(), "12.5".parse());
    assert!(PgNumeric::NAN.to_numeric().is_err());
    assert!(number("1e29").to_numeric().is_err());
    assert_eq!(PgNumeric::from(Numeric::MAX).to_numeric(), Ok(Numeric::MAX));
    assert_eq!(number("1.5").to_owned().into_inner(), "1.5");
}

proptest! {
    #[test]
    fn reads_what_is_sent(text in "-?[0-9]{1,80}(\\.[0-9]{1,80})?") {
        let number = PgNumeric::new(text).unwrap();
        let back = through_wire(&number).unwrap();
        prop_assert_eq!(back.as_str(), number.as_str());
        prop_assert_eq!(back, number);
    }

    /// The text is kept, exponents and zeros too.
    #[test]
    fn reads_what_is_printed(text in "NaN|[+-]?[0-9]{1,80}(\\.[0-9]{0,80})?([eE][+-]?[0-9]{1,4})?") {
        let number: PgNumeric = text.parse().unwrap();
        prop_assert_eq!(number.to_string(), text.as_str());
        prop_assert_eq!(read::<PgNumeric>(ty(), &text).unwrap().into_inner(), text.as_str());
        prop_assert_eq!(number.to_string().parse::<PgNumeric>().unwrap(), number);
    }

    #[test]
    fn any_text(text: String) {
        if let Ok(number) = PgNumeric::new(text.as_str()) {
            prop_assert_eq!(number.cmp(&number), std::cmp::Ordering::Equal);
        }
    }
}

#[cfg(feature = "bigdecimal")]
proptest! {
    #[test]
    fn order_agrees_with_bigdecimal(
        a in "-?[0-9]{1,4}(\\.[0-9]{0,4}0{0,2})?(e-?[0-9])?",
        b in "-?[0-9]{1,4}(\\.[0-9]{0,4}0{0,2})?(e-?[0-9])?",
    ) {
        use std::str::FromStr;
        let big = |text: &str| bigdecimal::BigDecimal::from_str(text).unwrap();
        let order = big(&a).cmp(&big(&b));
        prop_assert_eq!(number(&a).cmp(&number(&b)), order, "{} {}", a, b);
        prop_assert_eq!(number(&a) == number(&b), hash(number(&a)) == hash(number(&b)));
    }
}
