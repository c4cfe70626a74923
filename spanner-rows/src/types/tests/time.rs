use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::support::{read, read_error, sent, through_wire};
use crate::types::timestamp::Timestamp;
use crate::wire::TypeCode;

const FIRST: &str = "0001-01-01T00:00:00Z";
const LAST: &str = "9999-12-31T23:59:59.999999999Z";

fn timestamps() -> impl Strategy<Value = Timestamp> {
    let nanoseconds = prop_oneof![
        Just(0),
        0_u32..1_000_000_000,
        (0_u32..1_000).prop_map(|ms| ms * 1_000_000)
    ];
    (
        Timestamp::MIN.seconds()..=Timestamp::MAX.seconds(),
        nanoseconds,
    )
        .prop_map(|(seconds, nanoseconds)| Timestamp::new(seconds, nanoseconds).unwrap())
}

#[test]
fn system_time() {
    let before = read::<SystemTime>(TypeCode::Timestamp, "1969-12-31T23:59:59.25Z").unwrap();
    assert_eq!(before, SystemTime::UNIX_EPOCH - Duration::from_millis(750));
    assert_eq!(sent(&before), "1969-12-31T23:59:59.25Z");
    for (text, expected) in [(FIRST, Timestamp::MIN), (LAST, Timestamp::MAX)] {
        let time = read::<SystemTime>(TypeCode::Timestamp, text).unwrap();
        assert_eq!(Timestamp::try_from(time), Ok(expected));
    }
    let beyond = SystemTime::try_from(Timestamp::MAX).unwrap() + Duration::from_nanos(1);
    assert!(Timestamp::try_from(beyond).is_err());
    assert!(read::<Timestamp>(TypeCode::Timestamp, &sent(&beyond)).is_err());
    let error = read_error::<SystemTime>(TypeCode::Timestamp, "2014-09-27");
    assert!(error.contains("is not a timestamp"), "{error}");
}

proptest! {
    #[test]
    fn reads_what_is_printed(value in timestamps()) {
        prop_assert_eq!(value.to_string().parse(), Ok(value));
        prop_assert_eq!(through_wire(&value).unwrap(), value);
        let time = SystemTime::try_from(value).unwrap();
        prop_assert_eq!(Timestamp::try_from(time), Ok(value));
        prop_assert_eq!(through_wire(&time).unwrap(), time);
    }

    #[test]
    fn any_text(text: String) {
        prop_assert!(text.parse::<Timestamp>().is_err());
    }
}

#[cfg(feature = "jiff")]
mod as_jiff {
    use jiff::civil::Date;
    use jiff::{Span, Timestamp as Instant};
    use proptest::prelude::*;

    use super::super::support::{read, read_error, sent, through_wire};
    use super::{Timestamp, timestamps};
    use crate::wire::TypeCode;

    proptest! {
        #[test]
        fn timestamp(value in timestamps()) {
            let text = value.to_string();
            if let Ok(expected) = text.parse::<Instant>() {
                prop_assert_eq!(read::<Instant>(TypeCode::Timestamp, &text).unwrap(), expected);
                prop_assert_eq!(Timestamp::try_from(expected), Ok(value));
                prop_assert_eq!(through_wire(&expected).unwrap(), expected);
            } else {
                prop_assert!(Instant::try_from(value).is_err());
            }
        }

        /// With and without a day, an hour and a minute of that number.
        #[test]
        fn nearly_a_timestamp(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z",
        ) {
            // The other library goes on before the year 1, and ends earlier.
            let expected = text.parse::<Instant>().ok();
            let expected = expected.and_then(|instant| Timestamp::try_from(instant).ok());
            if !text.starts_with("9999-12-3") {
                prop_assert_eq!(text.parse::<Timestamp>().ok(), expected, "{}", text);
            }
        }

        #[test]
        fn date(days in 0_i64..3_652_059) {
            let value = jiff::civil::date(1, 1, 1) + Span::new().days(days);
            let (year, month, day) = (value.year(), value.month(), value.day());
            prop_assert_eq!(sent(&value), format!("{year:04}-{month:02}-{day:02}"));
            prop_assert_eq!(through_wire(&value).unwrap(), value);
        }

        #[test]
        fn nearly_a_date(text in "[0-9]{3,5}-[01][0-9]-[0-3][0-9]") {
            let expected = text.parse::<Date>().ok().filter(|date| date.year() > 0);
            prop_assert_eq!(read::<Date>(TypeCode::Date, &text).ok(), expected, "{}", text);
        }

        #[test]
        fn any_text(text: String) {
            prop_assert!(read::<Date>(TypeCode::Date, &text).is_err());
        }
    }

    #[test]
    fn edges() {
        for text in ["0001-01-01", "9999-12-31", "2024-02-29"] {
            let date: Date = read(TypeCode::Date, text).unwrap();
            assert_eq!(sent(&date), text);
        }
        // What Spanner does not have is sent so that it refuses it.
        assert!(read::<Date>(TypeCode::Date, &sent(&Date::MIN)).is_err());
        for bad in ["2023-02-29", "0000-01-01", "2023-1-01", "10000-01-01", "x"] {
            let error = read_error::<Date>(TypeCode::Date, bad);
            assert!(error.contains("is not a date"), "{error}");
        }
    }
}

#[cfg(feature = "chrono")]
mod as_chrono {
    use chrono::{DateTime, Datelike, Days, NaiveDate, Utc};
    use proptest::prelude::*;

    use super::super::support::{read, read_error, sent, through_wire};
    use super::{FIRST, LAST, Timestamp, timestamps};
    use crate::wire::TypeCode;

    proptest! {
        #[test]
        fn timestamp(value in timestamps()) {
            let text = value.to_string();
            let expected = DateTime::parse_from_rfc3339(&text).unwrap().to_utc();
            prop_assert_eq!(read::<DateTime<Utc>>(TypeCode::Timestamp, &text).unwrap(), expected);
            prop_assert_eq!(DateTime::from(value), expected);
            prop_assert_eq!(Timestamp::try_from(expected), Ok(value));
            prop_assert_eq!(through_wire(&expected).unwrap(), expected);
        }

        #[test]
        fn date(days in 0_u64..3_652_059) {
            let value = NaiveDate::from_ymd_opt(1, 1, 1).unwrap() + Days::new(days);
            prop_assert_eq!(through_wire(&value).unwrap(), value);
            let (year, month, day) = (value.year(), value.month(), value.day());
            prop_assert_eq!(sent(&value), format!("{year:04}-{month:02}-{day:02}"));
        }
    }

    #[test]
    fn edges() {
        for (text, expected) in [(FIRST, Timestamp::MIN), (LAST, Timestamp::MAX)] {
            let time = read::<DateTime<Utc>>(TypeCode::Timestamp, text).unwrap();
            assert_eq!(Timestamp::try_from(time), Ok(expected));
        }
        assert!(Timestamp::try_from(DateTime::<Utc>::MAX_UTC).is_err());
        assert!(Timestamp::try_from(DateTime::<Utc>::MIN_UTC).is_err());
        let refused = sent(&DateTime::<Utc>::MAX_UTC);
        assert!(refused.parse::<Timestamp>().is_err(), "{refused}");
        let leap = DateTime::from_timestamp(1_483_228_799, 1_500_000_000).unwrap();
        let after = Timestamp::new(1_483_228_800, 500_000_000).unwrap();
        assert_eq!(Timestamp::try_from(leap), Ok(after));
        for bad in ["2023-02-29", "0000-01-01", "2023-1-01", "10000-01-01", "x"] {
            let error = read_error::<NaiveDate>(TypeCode::Date, bad);
            assert!(error.contains("is not a date"), "{error}");
        }
    }
}

#[cfg(feature = "time")]
mod as_time {
    use proptest::prelude::*;
    use time::{Date, Duration, OffsetDateTime};

    use super::super::support::{read, read_error, sent, through_wire};
    use super::{FIRST, LAST, Timestamp, timestamps};
    use crate::wire::TypeCode;

    proptest! {
        #[test]
        fn timestamp(value in timestamps()) {
            let nanoseconds = i128::from(value.seconds()) * 1_000_000_000 + i128::from(value.nanoseconds());
            let expected = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap();
            let read = read::<OffsetDateTime>(TypeCode::Timestamp, &value.to_string()).unwrap();
            prop_assert_eq!(read, expected);
            prop_assert!(read.offset().is_utc());
            prop_assert_eq!(OffsetDateTime::from(value), expected);
            prop_assert_eq!(Timestamp::try_from(expected), Ok(value));
            prop_assert_eq!(through_wire(&expected).unwrap(), expected);
        }

        #[test]
        fn date(days in 0_i64..3_652_059) {
            let value = Date::from_calendar_date(1, time::Month::January, 1).unwrap() + Duration::days(days);
            prop_assert_eq!(through_wire(&value).unwrap(), value);
            prop_assert_eq!(sent(&value), value.to_string());
        }
    }

    #[test]
    fn edges() {
        for (text, expected) in [(FIRST, Timestamp::MIN), (LAST, Timestamp::MAX)] {
            let time = read::<OffsetDateTime>(TypeCode::Timestamp, text).unwrap();
            assert_eq!(Timestamp::try_from(time), Ok(expected));
        }
        let before = Date::MIN.midnight().assume_utc();
        assert!(Timestamp::try_from(before).is_err());
        assert!(sent(&before).parse::<Timestamp>().is_err());
        let offset = time::UtcOffset::from_hms(2, 0, 0).unwrap();
        let there = OffsetDateTime::UNIX_EPOCH.to_offset(offset);
        assert_eq!(sent(&there), "1970-01-01T00:00:00Z");
        for bad in ["2023-02-29", "0000-01-01", "2023-00-01", "x"] {
            let error = read_error::<Date>(TypeCode::Date, bad);
            assert!(error.contains("is not a date"), "{error}");
        }
    }
}
