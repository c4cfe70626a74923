//! INTERVAL as `jiff::Span` (feature `jiff`).

use jiff::Span;

use super::encode::ToColumn;
use super::interval::Interval;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode, ValueWriter};

plain_type!(Span);

/// A `Span` has one sign for all its parts; an INTERVAL whose parts differ in sign is
/// an error, and [`Interval`] holds it.
impl FromColumn<'_> for Span {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Interval])
    }

    #[inline]
    fn read(column: Column<'_, '_>, spare: &mut ()) -> Result<Self, DecodeError> {
        let interval = Interval::read(column, spare)?;
        match Self::try_from(interval) {
            Ok(span) => Ok(span),
            Err(error) => Err(not_a_span(&error, column)),
        }
    }
}

#[cold]
fn not_a_span(error: &jiff::Error, column: Column<'_, '_>) -> DecodeError {
    DecodeError::with_excerpt(
        format_args!(
            "`jiff::Span` does not hold it ({error}): read the column into `spanner_rows::Interval`"
        ),
        column.text().unwrap_or_default(),
    )
}

/// Weeks are sent as days, and what is shorter than a second as its fraction.
impl ToColumn for Span {
    fn column_type() -> Type {
        Interval::column_type()
    }

    fn write(&self, out: ValueWriter<'_>) {
        Interval::from(*self).write(out);
    }
}

/// Months become years and months, nanoseconds become hours, minutes, seconds and
/// nanoseconds. Fails when parts differ in sign.
impl TryFrom<Interval> for Span {
    type Error = jiff::Error;

    fn try_from(interval: Interval) -> Result<Self, jiff::Error> {
        const SECOND: i128 = 1_000_000_000;
        let Interval {
            months,
            days,
            nanoseconds,
        } = interval;
        let signs = [i128::from(months), i128::from(days), nanoseconds];
        if signs.iter().any(|part| *part > 0) && signs.iter().any(|part| *part < 0) {
            return Err(jiff::Error::from_args(format_args!(
                "its parts differ in sign"
            )));
        }
        // Saturated values are out of the span's range and reported as such.
        let whole = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
        Self::new()
            .try_years(months / 12)?
            .try_months(months % 12)?
            .try_days(days)?
            .try_hours(whole(nanoseconds / (3_600 * SECOND)))?
            .try_minutes(whole(nanoseconds / (60 * SECOND) % 60))?
            .try_seconds(whole(nanoseconds / SECOND % 60))?
            .try_nanoseconds(whole(nanoseconds % SECOND))
    }
}

/// Years are twelve months, weeks seven days, and hours and shorter units nanoseconds.
/// A span can be longer than Spanner's 10,000 years.
impl From<Span> for Interval {
    fn from(span: Span) -> Self {
        let units = [
            (i64::from(span.get_hours()), 3_600_000_000_000),
            (span.get_minutes(), 60_000_000_000),
            (span.get_seconds(), 1_000_000_000),
            (span.get_milliseconds(), 1_000_000),
            (span.get_microseconds(), 1_000),
            (span.get_nanoseconds(), 1),
        ];
        Self {
            // Spans hold at most 19,998 years: far within an i32.
            months: i32::from(span.get_years()) * 12 + span.get_months(),
            days: span.get_weeks() * 7 + span.get_days(),
            nanoseconds: units
                .iter()
                .map(|(count, unit)| i128::from(*count) * unit)
                .sum(),
        }
    }
}
