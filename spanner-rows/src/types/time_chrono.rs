//! TIMESTAMP and DATE as types of the `chrono` crate (feature `chrono`).

use chrono::{DateTime, NaiveDate, Utc};

use super::encode::{ToColumn, to_column};
use super::plain_type;
use super::time_text::read_day;
use super::timestamp::{TimeRangeError, Timestamp, not_held_by, read_instant};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode, ValueWriter};

plain_type!(DateTime<Utc>, NaiveDate);

to_column! {
    NaiveDate: Date, |value, out| out.string(&value.to_string());
}

/// A point in time outside of the years 1 to 9999 is written as it is, and Spanner
/// refuses it.
impl ToColumn for DateTime<Utc> {
    fn column_type() -> Type {
        Type::new(TypeCode::Timestamp)
    }

    fn write(&self, out: ValueWriter<'_>) {
        match Timestamp::try_from(*self) {
            Ok(timestamp) => timestamp.write(out),
            Err(_) => out.string(&self.to_string()),
        }
    }
}

/// The whole range of TIMESTAMP.
impl FromColumn<'_> for DateTime<Utc> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Timestamp])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let instant = read_instant(column)?;
        match Self::from_timestamp(instant.seconds_since_epoch(), instant.nanosecond) {
            Some(time) => Ok(time),
            None => Err(not_held_by("chrono::DateTime<Utc>", column)),
        }
    }
}

/// The whole range of DATE.
impl FromColumn<'_> for NaiveDate {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Date])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        read_day(column, |day| {
            Self::from_ymd_opt(day.year.into(), day.month.into(), day.day.into())
        })
    }
}

impl From<Timestamp> for DateTime<Utc> {
    fn from(timestamp: Timestamp) -> Self {
        // Years 1 to 9999 lie well within what chrono holds.
        Self::from_timestamp(timestamp.seconds(), timestamp.nanoseconds()).unwrap_or_default()
    }
}

/// Fails outside of the years 1 to 9999; a leap second becomes the second after it.
impl TryFrom<DateTime<Utc>> for Timestamp {
    type Error = TimeRangeError;

    fn try_from(time: DateTime<Utc>) -> Result<Self, TimeRangeError> {
        let nanoseconds = time.timestamp_subsec_nanos();
        // chrono counts on within a leap second.
        let carry = nanoseconds / 1_000_000_000;
        Self::new(
            time.timestamp() + i64::from(carry),
            nanoseconds % 1_000_000_000,
        )
        .ok_or(TimeRangeError::new())
    }
}
