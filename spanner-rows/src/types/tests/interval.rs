use proptest::prelude::*;

use super::support::{read, read_error, sent, through_wire};
use crate::types::interval::Interval;
use crate::wire::TypeCode;

const SECOND: i128 = 1_000_000_000;

fn interval(months: i32, days: i32, nanoseconds: i128) -> Interval {
    Interval::new(months, days, nanoseconds).expect("within the range")
}

#[test]
fn forms() {
    for (text, months, days, nanoseconds) in [
        ("P0Y", 0, 0, 0),
        ("PT0S", 0, 0, 0),
        ("P1Y2M3DT4H5M6.5S", 14, 3, 14_706 * SECOND + SECOND / 2),
        ("P-1Y3M", -9, 0, 0),
        ("P1Y-3M", 9, 0, 0),
        ("P-5D", 0, -5, 0),
        ("P2M", 2, 0, 0),
        ("PT2M", 0, 0, 120 * SECOND),
        ("PT-1H30M", 0, 0, -1_800 * SECOND),
        ("PT.5S", 0, 0, SECOND / 2),
        ("PT-.5S", 0, 0, -SECOND / 2),
        ("PT-0.5S", 0, 0, -SECOND / 2),
        ("PT0,000000001S", 0, 0, 1),
        ("PT1.123456789S", 0, 0, 1_123_456_789),
        ("P0001Y", 12, 0, 0),
        ("P10000Y", 120_000, 0, 0),
        ("P-10000Y", -120_000, 0, 0),
        ("P10001Y-12M", 120_000, 0, 0),
        ("P3660000D", 0, 3_660_000, 0),
        ("PT87840000H", 0, 0, Interval::MAX.nanoseconds),
        ("PT-87840000H", 0, 0, Interval::MIN.nanoseconds),
        ("PT316224000000S", 0, 0, Interval::MAX.nanoseconds),
        ("P000000000000000000000000012M", 12, 0, 0),
        ("P0000000000000000000Y", 0, 0, 0),
        ("P10000000000000Y-119999999999999M", 1, 0, 0),
        ("PT1000000000000H-60000000000000M", 0, 0, 0),
    ] {
        let expected = interval(months, days, nanoseconds);
        assert_eq!(text.parse(), Ok(expected), "{text}");
        assert_eq!(
            read::<Interval>(TypeCode::Interval, text).unwrap(),
            expected
        );
    }
}

#[test]
fn what_is_refused() {
    for text in [
        "",
        "P",
        "T",
        "PT",
        "P1YT",
        "1Y",
        "P1",
        "PY",
        "P-Y",
        "P1.5Y",
        "P1.5M",
        "P1.5D",
        "PT1.5H",
        "PT1,5M",
        "PT1.S",
        "PT.S",
        "PT-S",
        "PT1.1234567890S",
        "P1M2Y",
        "P1D1M",
        "PT1S1M",
        "PT1M1H",
        "P1Y1Y",
        "PT1S1S",
        "P1H",
        "PT1D",
        "PT1Y",
        "P1W",
        "P+1Y",
        "-P1Y",
        "P--1Y",
        "P1YT1H ",
        " P1Y",
        "p1y",
        "P1Y2",
        "PT1HT1M",
        "P1é",
        "P1Y P2M",
        "P120001M",
        "P-120001M",
        "P10000Y1M",
        "P3660001D",
        "P-3660001D",
        "PT316224000000.000000001S",
        "PT-316224000000.000000001S",
        "PT87840000H1S",
        "P9223372036854775807Y",
        "P99999999999999999999Y",
        "PT9223372036854775807H",
        "PT99999999999999999999S",
        "P768614336404564651Y1M",
    ] {
        assert!(text.parse::<Interval>().is_err(), "{text:?}");
        let error = read_error::<Interval>(TypeCode::Interval, text);
        assert!(error.contains("is not an interval"), "{error}");
    }
}

#[test]
fn printed() {
    for (value, text) in [
        (Interval::ZERO, "P0Y"),
        (
            interval(14, 3, 14_706 * SECOND + SECOND / 2),
            "P1Y2M3DT4H5M6.5S",
        ),
        (interval(-9, 0, 0), "P-9M"),
        (interval(-14, 2, 0), "P-1Y-2M2D"),
        (interval(0, 0, -1), "PT-0.000000001S"),
        (interval(0, 0, -5_400 * SECOND), "PT-1H-30M"),
        (interval(0, 1, 60 * SECOND + 10), "P1DT1M0.00000001S"),
        (Interval::MAX, "P10000Y3660000DT87840000H"),
    ] {
        assert_eq!(value.to_string(), text);
        assert_eq!(sent(&value), text);
        assert_eq!(text.parse(), Ok(value));
    }
    // Beyond the range too, printing is exact.
    let beyond = Interval {
        months: i32::MIN,
        days: i32::MIN,
        nanoseconds: i128::MIN,
    };
    assert!(
        beyond
            .to_string()
            .starts_with("P-178956970Y-8M-2147483648DT-")
    );
}

fn intervals() -> impl Strategy<Value = Interval> {
    let nanoseconds = (
        Interval::MIN.nanoseconds..=Interval::MAX.nanoseconds,
        0_u32..70,
    )
        .prop_map(|(nanoseconds, shift)| nanoseconds >> shift);
    (-120_000..=120_000, -3_660_000..=3_660_000, nanoseconds)
        .prop_map(|(months, days, nanoseconds)| interval(months, days, nanoseconds))
}

proptest! {
    #[test]
    fn reads_what_is_printed(value in intervals()) {
        prop_assert_eq!(value.to_string().parse(), Ok(value));
        prop_assert_eq!(through_wire(&value).unwrap(), value);
    }

    #[test]
    fn any_text(text: String) {
        let _ = text.parse::<Interval>();
    }

    #[test]
    fn nearly_an_interval(text in "P[-0-9YMDTHS.,]{0,24}") {
        if let Ok(value) = text.parse::<Interval>() {
            prop_assert_eq!(value.to_string().parse(), Ok(value));
        }
    }
}

#[cfg(feature = "jiff")]
mod as_a_span {
    use jiff::{Span, SpanFieldwise};
    use proptest::prelude::*;

    use super::super::support::{read, read_error, through_wire};
    use super::{Interval, interval, intervals};
    use crate::wire::TypeCode;

    #[test]
    fn parts() {
        let span = read::<Span>(TypeCode::Interval, "P1Y2M3DT4H5M6.5S").unwrap();
        let expected = Span::new()
            .years(1)
            .months(2)
            .days(3)
            .hours(4)
            .minutes(5)
            .seconds(6)
            .nanoseconds(500_000_000);
        assert_eq!(SpanFieldwise(span), SpanFieldwise(expected));
        let weeks = Span::new().weeks(-2).milliseconds(-5).microseconds(-7);
        assert_eq!(Interval::from(weeks), interval(0, -14, -5_007_000));
    }

    #[test]
    fn one_sign_for_all() {
        let error = read_error::<Span>(TypeCode::Interval, "P1Y-3D");
        assert!(error.contains("spanner_rows::Interval"), "{error}");
        assert!(Span::try_from(interval(1, 0, -1)).is_err());
        assert!(Span::try_from(Interval::MAX).is_ok());
        assert!(Span::try_from(Interval::MIN).is_ok());
    }

    proptest! {
        #[test]
        fn and_back(value in intervals()) {
            if let Ok(span) = Span::try_from(value) {
                prop_assert_eq!(Interval::from(span), value);
                let back = through_wire(&span).unwrap();
                prop_assert_eq!(SpanFieldwise(back), SpanFieldwise(span));
            }
        }

        /// The other library reads intervals without signs in the same way.
        #[test]
        fn parsed_alike(text in "P([0-9]{1,4}Y)?([0-9]{1,5}M)?([0-9]{1,6}D)?(T([0-9]{1,6}H)?([0-9]{1,6}M)?([0-9]{1,7}([.,][0-9]{1,9})?S)?)?") {
            let span = text.parse::<Span>().ok().map(Interval::from);
            // Spans are longer.
            let span = span.and_then(|it| Interval::new(it.months, it.days, it.nanoseconds));
            prop_assert_eq!(text.parse().ok(), span, "{}", text);
        }
    }
}
