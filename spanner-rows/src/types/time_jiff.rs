//! TIMESTAMP and DATE as types of the `jiff` crate (feature `jiff`).

use super::encode::to_column;
use super::plain_type;
use super::time_text::read_day;
use super::timestamp::{TimeRangeError, Timestamp, read_instant};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

plain_type!(jiff::Timestamp, jiff::civil::Date);

to_column! {
    jiff::Timestamp: Timestamp, |value, out| out.string(&value.to_string());
    jiff::civil::Date: Date, |value, out| out.string(&value.to_string());
}

/// Up to 9999-12-30T22:00:00.999999999Z, where `jiff::Timestamp` ends.
impl FromColumn<'_> for jiff::Timestamp {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Timestamp])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let instant = read_instant(column)?;
        match Self::new(instant.seconds_since_epoch(), instant.nanosecond as i32) {
            Ok(timestamp) => Ok(timestamp),
            Err(_) => Err(beyond_jiff(column)),
        }
    }
}

#[cold]
fn beyond_jiff(column: Column<'_, '_>) -> DecodeError {
    DecodeError::with_excerpt(
        format_args!(
            "`jiff::Timestamp` ends at {}: read the column into `spanner_rows::Timestamp`",
            jiff::Timestamp::MAX
        ),
        column.text().unwrap_or_default(),
    )
}

impl FromColumn<'_> for jiff::civil::Date {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Date])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        read_day(column, |day| {
            Self::new(day.year as i16, day.month as i8, day.day as i8).ok()
        })
    }
}

/// Fails for the last 26 hours of the year 9999.
impl TryFrom<Timestamp> for jiff::Timestamp {
    type Error = jiff::Error;

    fn try_from(timestamp: Timestamp) -> Result<Self, jiff::Error> {
        Self::new(timestamp.seconds(), timestamp.nanoseconds() as i32)
    }
}

/// Fails before the year 1.
impl TryFrom<jiff::Timestamp> for Timestamp {
    type Error = TimeRangeError;

    fn try_from(timestamp: jiff::Timestamp) -> Result<Self, Self::Error> {
        Self::from_nanoseconds(timestamp.as_nanosecond()).ok_or(TimeRangeError::new())
    }
}
