//! INTERVAL: months, days and nanoseconds, kept apart.

use std::fmt;
use std::str::FromStr;

use super::encode::to_column;
use super::interval_text::parse;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

/// An INTERVAL: months, days and nanoseconds, each with a sign of its own.
///
/// They stay apart, because a month has no fixed number of days and a day no fixed
/// number of hours; so two intervals are equal when all three are, and there is no
/// order. The fields can hold more than Spanner does: 10,000 years of either sign
/// ([`MIN`](Self::MIN) to [`MAX`](Self::MAX), each field by itself). Parsing checks that,
/// and Spanner refuses a parameter beyond it.
///
/// ```
/// use spanner_rows::Interval;
///
/// let interval: Interval = "P1Y-2M3DT-4H0.5S".parse()?;
/// assert_eq!((interval.months, interval.days), (10, 3));
/// assert_eq!(interval.nanoseconds, -14_399_500_000_000);
/// assert_eq!(interval.to_string(), "P10M3DT-3H-59M-59.5S");
/// # Ok::<(), spanner_rows::IntervalError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Months, -120,000 to 120,000; years are twelve of them.
    pub months: i32,
    /// Days, -3,660,000 to 3,660,000.
    pub days: i32,
    /// Nanoseconds, -316,224,000,000,000,000,000 to 316,224,000,000,000,000,000.
    pub nanoseconds: i128,
}

impl Interval {
    /// The empty interval.
    pub const ZERO: Self = Self {
        months: 0,
        days: 0,
        nanoseconds: 0,
    };
    /// Each part at its greatest.
    pub const MAX: Self = Self {
        months: 120_000,
        days: 3_660_000,
        nanoseconds: 316_224_000_000_000_000_000,
    };
    /// Each part at its least.
    pub const MIN: Self = Self {
        months: -Self::MAX.months,
        days: -Self::MAX.days,
        nanoseconds: -Self::MAX.nanoseconds,
    };

    /// An interval of these parts; `None` when one is out of Spanner's range.
    #[must_use]
    pub const fn new(months: i32, days: i32, nanoseconds: i128) -> Option<Self> {
        let within = months >= Self::MIN.months
            && months <= Self::MAX.months
            && days >= Self::MIN.days
            && days <= Self::MAX.days
            && nanoseconds >= Self::MIN.nanoseconds
            && nanoseconds <= Self::MAX.nanoseconds;
        if !within {
            return None;
        }
        Some(Self {
            months,
            days,
            nanoseconds,
        })
    }
}

plain_type!(Interval);

to_column! {
    Interval: Interval, |value, out| out.string(&value.to_string());
}

impl FromColumn<'_> for Interval {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Interval])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        match parse(text) {
            Some(value) => Ok(value),
            None => Err(not_an_interval(text)),
        }
    }
}

#[cold]
fn not_an_interval(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(IntervalError(()), &String::from_utf8_lossy(text))
}

/// ISO 8601: years and months, days, hours, minutes and seconds, of which those that
/// are zero are left out; `P0Y` when all are.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u128 = 1_000_000_000;
        if *self == Self::ZERO {
            return f.write_str("P0Y");
        }
        f.write_str("P")?;
        let parts = [
            (self.months / 12, 'Y'),
            (self.months % 12, 'M'),
            (self.days, 'D'),
        ];
        for (value, unit) in parts.into_iter().filter(|(value, _)| *value != 0) {
            write!(f, "{value}{unit}")?;
        }
        if self.nanoseconds == 0 {
            return Ok(());
        }
        f.write_str("T")?;
        let sign = if self.nanoseconds < 0 { "-" } else { "" };
        let seconds = self.nanoseconds.unsigned_abs() / SECOND;
        let fraction = self.nanoseconds.unsigned_abs() % SECOND;
        for (value, unit) in [(seconds / 3_600, 'H'), (seconds / 60 % 60, 'M')] {
            if value > 0 {
                write!(f, "{sign}{value}{unit}")?;
            }
        }
        match (seconds % 60, fraction) {
            (0, 0) => Ok(()),
            (seconds, 0) => write!(f, "{sign}{seconds}S"),
            (seconds, mut fraction) => {
                let mut digits = 9;
                while fraction.is_multiple_of(10) {
                    fraction /= 10;
                    digits -= 1;
                }
                write!(f, "{sign}{seconds}.{fraction:0digits$}S")
            }
        }
    }
}

/// ISO 8601 as Spanner writes it: `P1Y2M3DT4H5M6.5S`, each part with a sign of its
/// own, a fraction of up to nine digits in the seconds only.
///
/// # Errors
///
/// It is another text, or a sum of parts is out of range.
impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Self, IntervalError> {
        parse(text.as_bytes()).ok_or(IntervalError(()))
    }
}

/// Text that is not an INTERVAL, or one that another type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalError(());

impl fmt::Display for IntervalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "it is not an interval (ISO 8601 such as `P1Y2M3DT4H5M6.5S`, at most 10,000 years)",
        )
    }
}

impl std::error::Error for IntervalError {}
