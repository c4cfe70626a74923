//! TIMESTAMP as seconds and nanoseconds, without a library.

use std::fmt;
use std::str::FromStr;

use super::plain_type;
use super::time_text::{Instant, parse_instant};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

/// A point in time as Spanner keeps it: years 1 to 9999, nanoseconds.
///
/// Prefer `jiff::Timestamp` (feature `jiff`) to compute with. This type holds
/// the whole range, also the last day of the year 9999, which is a usual
/// sentinel and lies beyond what `jiff::Timestamp` can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
}

impl Timestamp {
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self {
        seconds: -62_135_596_800,
        nanoseconds: 0,
    };
    /// 9999-12-31T23:59:59.999999999Z.
    pub const MAX: Self = Self {
        seconds: 253_402_300_799,
        nanoseconds: 999_999_999,
    };

    /// A point in time by seconds since 1970-01-01T00:00:00Z and nanoseconds
    /// (0 to 999,999,999) after that; `None` outside of the years 1 to 9999.
    #[must_use]
    pub const fn new(seconds: i64, nanoseconds: u32) -> Option<Self> {
        if seconds < Self::MIN.seconds
            || seconds > Self::MAX.seconds
            || nanoseconds > Self::MAX.nanoseconds
        {
            return None;
        }
        Some(Self {
            seconds,
            nanoseconds,
        })
    }

    /// A point in time by nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).ok()?;
        Self::new(seconds, nanoseconds.rem_euclid(1_000_000_000) as u32)
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after [`seconds`](Self::seconds), 0 to 999,999,999.
    #[must_use]
    pub const fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }
}

plain_type!(Timestamp);

impl FromColumn<'_> for Timestamp {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Timestamp])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        read_instant(column).map(Self::from)
    }
}

#[inline(always)]
pub(crate) fn read_instant(column: Column<'_, '_>) -> Result<Instant, DecodeError> {
    let text = column.ascii()?;
    match parse_instant(text) {
        Some(instant) => Ok(instant),
        None => Err(not_a_timestamp(text)),
    }
}

#[cold]
fn not_a_timestamp(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(
        "it is not a timestamp in UTC (RFC 3339 with `Z`, years 1 to 9999)",
        &String::from_utf8_lossy(text),
    )
}

/// A TIMESTAMP that a type of another crate cannot hold.
#[cold]
pub(crate) fn not_held_by(holder: &str, column: Column<'_, '_>) -> DecodeError {
    DecodeError::with_excerpt(
        format_args!("`{holder}` does not hold it: read the column into `spanner_rows::Timestamp`"),
        column.text().unwrap_or_default(),
    )
}

/// RFC 3339 in UTC, with as many fraction digits as are needed.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.seconds.div_euclid(86_400);
        let second = self.seconds.rem_euclid(86_400);
        let (year, month, day) = civil(days);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
            second / 3_600,
            second / 60 % 60,
            second % 60
        )?;
        if self.nanoseconds > 0 {
            let digits = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Year, month and day of a number of days since 1970-01-01, in years that
/// start in March.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Reads what `Display` writes: RFC 3339 with `Z`, up to nine fraction digits.
impl FromStr for Timestamp {
    type Err = TimeRangeError;

    fn from_str(text: &str) -> Result<Self, TimeRangeError> {
        match parse_instant(text.as_bytes()) {
            Some(instant) => Ok(instant.into()),
            None => Err(TimeRangeError::new()),
        }
    }
}

impl From<Instant> for Timestamp {
    #[inline]
    fn from(instant: Instant) -> Self {
        Self {
            seconds: instant.seconds_since_epoch(),
            nanoseconds: instant.nanosecond,
        }
    }
}

/// A point in time that another type cannot hold, or text that is not one of the
/// years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRangeError(());

impl TimeRangeError {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for TimeRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a point in time within the range of the type")
    }
}

impl std::error::Error for TimeRangeError {}
