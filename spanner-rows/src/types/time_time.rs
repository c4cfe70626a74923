//! TIMESTAMP and DATE as types of the `time` crate (feature `time`).

use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time};

use super::encode::ToColumn;
use super::plain_type;
use super::time_text::{Day, read_day};
use super::timestamp::{TimeRangeError, Timestamp, not_held_by, read_instant};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode, ValueWriter};

plain_type!(OffsetDateTime, Date);

/// The whole range of TIMESTAMP, with offset zero.
impl FromColumn<'_> for OffsetDateTime {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Timestamp])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let instant = read_instant(column)?;
        let time = Time::from_hms_nano(
            instant.hour,
            instant.minute,
            instant.second,
            instant.nanosecond,
        );
        match (date(instant.day), time) {
            (Some(date), Ok(time)) => Ok(PrimitiveDateTime::new(date, time).assume_utc()),
            _ => Err(not_held_by("time::OffsetDateTime", column)),
        }
    }
}

/// The whole range of DATE.
impl FromColumn<'_> for Date {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Date])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        read_day(column, date)
    }
}

#[inline]
fn date(day: Day) -> Option<Date> {
    let month = Month::try_from(day.month).ok()?;
    Date::from_calendar_date(day.year.into(), month, day.day).ok()
}

/// Sent in UTC, whatever the offset. A point in time outside of the years 1 to 9999 is
/// written as it is, and Spanner refuses it.
impl ToColumn for OffsetDateTime {
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

impl ToColumn for Date {
    fn column_type() -> Type {
        Type::new(TypeCode::Date)
    }

    fn write(&self, out: ValueWriter<'_>) {
        let (year, month, day) = self.to_calendar_date();
        out.string(&format!("{year:04}-{:02}-{day:02}", u8::from(month)));
    }
}

impl From<Timestamp> for OffsetDateTime {
    fn from(timestamp: Timestamp) -> Self {
        let nanoseconds = i32::try_from(timestamp.nanoseconds()).unwrap_or_default();
        // Years 1 to 9999 lie within what `time` holds.
        Self::UNIX_EPOCH.saturating_add(Duration::new(timestamp.seconds(), nanoseconds))
    }
}

/// Fails outside of the years 1 to 9999.
impl TryFrom<OffsetDateTime> for Timestamp {
    type Error = TimeRangeError;

    fn try_from(time: OffsetDateTime) -> Result<Self, TimeRangeError> {
        Self::new(time.unix_timestamp(), time.nanosecond()).ok_or(TimeRangeError::new())
    }
}
