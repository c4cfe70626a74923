//! TIMESTAMP and DATE as Spanner writes them, read by fixed positions.

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
use crate::row::{column::Column, error::DecodeError};

/// The fields of a TIMESTAMP in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) day: Day,
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    pub(crate) nanosecond: u32,
}

/// A day of the proleptic Gregorian calendar, years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: u16,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

/// Reads `YYYY-MM-DD`.
#[inline]
pub(crate) fn parse_day(text: &[u8]) -> Option<Day> {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *text else {
        return None;
    };
    let year = u16::from(two(y0, y1)?) * 100 + u16::from(two(y2, y3)?);
    let day = Day {
        year,
        month: two(m0, m1)?,
        day: two(d0, d1)?,
    };
    let valid = year >= 1 && day.day >= 1 && day.day <= days_in_month(year, day.month);
    valid.then_some(day)
}

/// Reads a DATE into the type that `make` makes of it.
#[inline(always)]
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
pub(crate) fn read_day<T>(
    column: Column<'_, '_>,
    make: impl FnOnce(Day) -> Option<T>,
) -> Result<T, DecodeError> {
    let text = column.ascii()?;
    match parse_day(text).and_then(make) {
        Some(day) => Ok(day),
        None => Err(not_a_date(text)),
    }
}

#[cold]
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
fn not_a_date(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(
        "it is not a date (YYYY-MM-DD, years 1 to 9999)",
        &String::from_utf8_lossy(text),
    )
}

/// Reads `YYYY-MM-DDThh:mm:ss[.f]Z` with one to nine fraction digits.
pub(crate) fn parse_instant(text: &[u8]) -> Option<Instant> {
    let (day, time) = text.split_at_checked(10)?;
    let [b'T', h0, h1, b':', m0, m1, b':', s0, s1, rest @ ..] = time else {
        return None;
    };
    let instant = Instant {
        day: parse_day(day)?,
        hour: two(*h0, *h1)?,
        minute: two(*m0, *m1)?,
        second: two(*s0, *s1)?,
        nanosecond: match rest {
            [b'Z'] => 0,
            [b'.', fraction @ .., b'Z'] => parse_fraction(fraction)?,
            _ => return None,
        },
    };
    let valid = instant.hour < 24 && instant.minute < 60 && instant.second < 60;
    valid.then_some(instant)
}

/// One to nine digits behind the point, as nanoseconds.
fn parse_fraction(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut padded = [b'0'; 9];
    padded.get_mut(..digits.len())?.copy_from_slice(digits);
    let mut value = 0;
    for digit in padded {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u32::from(digit);
    }
    Some(value)
}

#[inline]
fn two(tens: u8, ones: u8) -> Option<u8> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| tens * 10 + ones)
}

const fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 0,
    }
}

impl Day {
    /// Days since 1970-01-01, counted in years that start in March, so that the
    /// leap day comes last.
    pub(crate) const fn since_epoch(self) -> i32 {
        let (year, month) = (self.year as i32, self.month as i32);
        let year = if month <= 2 { year - 1 } else { year };
        let month = if month <= 2 { month + 9 } else { month - 3 };
        let day_of_year = (153 * month + 2) / 5 + self.day as i32 - 1;
        365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468
    }
}

impl Instant {
    /// Whole seconds since 1970-01-01T00:00:00Z; the nanoseconds count up from there.
    pub(crate) const fn seconds_since_epoch(self) -> i64 {
        self.day.since_epoch() as i64 * 86_400
            + self.hour as i64 * 3_600
            + self.minute as i64 * 60
            + self.second as i64
    }
}
