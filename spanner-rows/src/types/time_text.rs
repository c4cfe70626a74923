//! TIMESTAMP and DATE as Spanner writes them, read by fixed positions.

use super::integer::billionths;
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
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time", test))]
pub(crate) fn parse_day(text: &[u8]) -> Option<Day> {
    parse_ten(text.try_into().ok()?)
}

#[inline]
fn parse_ten(text: &[u8; 10]) -> Option<Day> {
    const FORM: Form = Form::new(*b"00-00-00");
    let (century, rest) = text.split_first_chunk()?;
    let rest = FORM.pairs(*rest.first_chunk()?)?;
    let year = u16::from(two(*century)?) * 100 + u16::from(rest[0]);
    let (month, day) = (rest[3], rest[6]);
    let in_month = matches!(day, 1..=28) && matches!(month, 1..=12)
        || day >= 1 && day <= days_in_month(year, month);
    (year >= 1 && in_month).then_some(Day { year, month, day })
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
    const CLOCK: Form = Form::new(*b"00:00:00");
    let (day, text) = text.split_first_chunk()?;
    let (b'T', text) = text.split_first()? else {
        return None;
    };
    let (clock, text) = text.split_first_chunk()?;
    let clock = CLOCK.pairs(*clock)?;
    let instant = Instant {
        day: parse_ten(day)?,
        hour: clock[0],
        minute: clock[3],
        second: clock[6],
        nanosecond: match text {
            [b'Z'] => 0,
            [b'.', fraction @ .., b'Z'] => billionths(fraction)?,
            _ => return None,
        },
    };
    let valid = instant.hour < 24 && instant.minute < 60 && instant.second < 60;
    valid.then_some(instant)
}

/// Eight bytes of which some are any digits and the others given: looked at as
/// one word, without a branch for each byte.
struct Form {
    /// Turns digits into their values and the given bytes into zeros.
    zeros: u64,
    /// Added to that, overflows into the high bit of every byte that is too large.
    most: u64,
}

impl Form {
    /// `0` stands for any digit.
    const fn new(form: [u8; 8]) -> Self {
        let mut most = [0x7f; 8];
        let mut i = 0;
        while i < form.len() {
            if form[i] == b'0' {
                most[i] = 0x7f - 9;
            }
            i += 1;
        }
        Self {
            zeros: u64::from_le_bytes(form),
            most: u64::from_le_bytes(most),
        }
    }

    /// The numbers of two digits, each at the place of its first digit.
    #[inline]
    fn pairs(&self, text: [u8; 8]) -> Option<[u8; 8]> {
        let values = u64::from_le_bytes(text) ^ self.zeros;
        // A byte that carries into the next one is found by its own high bit.
        if (values | values.wrapping_add(self.most)) & 0x8080_8080_8080_8080 != 0 {
            return None;
        }
        Some((values * 10 + (values >> 8)).to_le_bytes())
    }
}

#[inline]
fn two([tens, ones]: [u8; 2]) -> Option<u8> {
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
        let century = year / 100;
        365 * year + year / 4 - century + century / 4 + day_of_year - 719_468
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
