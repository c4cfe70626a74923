//! Days and times by the calendar's rules, written down once more.

use crate::types::time_text::{Day, parse_day, parse_instant};
use crate::types::timestamp::Timestamp;

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(400) => 29,
        2 if year.is_multiple_of(100) => 28,
        2 if year.is_multiple_of(4) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[test]
fn every_day_follows_the_one_before() {
    let mut checked = 0;
    for years in [1..=5, 99..=101, 399..=401, 1896..=2105, 9_995..=9_999] {
        let mut before: Option<i32> = None;
        for year in years {
            for month in 0..=13 {
                for day in 0..=32 {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    let parsed = parse_day(text.as_bytes());
                    if day < 1 || day > days_in(year, month) {
                        assert_eq!(parsed, None, "{text}");
                        continue;
                    }
                    let parsed = parsed.expect("a day");
                    let expected = Day {
                        year: year as u16,
                        month: month as u8,
                        day: day as u8,
                    };
                    assert_eq!(parsed, expected);
                    let since = parsed.since_epoch();
                    if let Some(before) = before.replace(since) {
                        assert_eq!(since, before + 1, "{text}");
                    }
                    let midnight = Timestamp::new(i64::from(since) * 86_400, 0).unwrap();
                    assert_eq!(midnight.to_string(), format!("{text}T00:00:00Z"));
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 70_000);
    assert_eq!(parse_day(b"1970-01-01").unwrap().since_epoch(), 0);
    for year in ["0000-01-01", "0000-12-31"] {
        assert_eq!(parse_day(year.as_bytes()), None);
    }
}

#[test]
fn hours_minutes_and_seconds_have_an_end() {
    for hour in 0..=99 {
        for (minute, second) in [
            (0, 0),
            (59, 59),
            (60, 0),
            (0, 60),
            (61, 61),
            (99, 0),
            (0, 99),
        ] {
            let text = format!("2024-02-29T{hour:02}:{minute:02}:{second:02}Z");
            let valid = hour < 24 && minute < 60 && second < 60;
            assert_eq!(parse_instant(text.as_bytes()).is_some(), valid, "{text}");
        }
    }
}

#[test]
fn fractions_of_one_to_nine_digits() {
    for len in 0..=11 {
        for digit in ['0', '1', '9'] {
            let digits = digit.to_string().repeat(len);
            let text = format!("2024-02-29T12:30:45.{digits}Z");
            let expected = (1..=9)
                .contains(&len)
                .then(|| format!("{digits:0<9}").parse::<u32>().unwrap());
            let parsed = parse_instant(text.as_bytes()).map(|instant| instant.nanosecond);
            assert_eq!(parsed, expected, "{text}");
        }
    }
}

/// In every place every byte that does not belong there, those next to the digits first.
#[test]
fn any_other_byte_is_refused() {
    let good = b"2024-02-29T12:30:45.123456789Z";
    assert!(parse_instant(good).is_some());
    for at in 0..good.len() {
        for byte in 0..=255 {
            let mut text = *good;
            text[at] = byte;
            let fits = match good[at] {
                b'0'..=b'9' => byte.is_ascii_digit(),
                other => byte == other,
            };
            if !fits {
                assert_eq!(parse_instant(&text), None, "{byte:#x} at {at}");
                if at < 10 {
                    assert_eq!(parse_day(&text[..10]), None);
                }
            }
        }
    }
}
