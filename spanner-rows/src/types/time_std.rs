//! TIMESTAMP as `std::time::SystemTime`.

use std::time::{Duration, SystemTime};

use super::encode::ToColumn;
use super::plain_type;
use super::timestamp::{TimeRangeError, Timestamp, not_held_by};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode, ValueWriter};

plain_type!(SystemTime);

/// The whole range of TIMESTAMP on Unix; elsewhere, what the platform's `SystemTime`
/// cannot hold exactly (Windows: tenths of microseconds, from 1601 on) is an error.
impl FromColumn<'_> for SystemTime {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Timestamp])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, spare: &mut ()) -> Result<Self, DecodeError> {
        let timestamp = Timestamp::read(column, spare)?;
        match Self::try_from(timestamp) {
            // A coarser platform drops the digits that it does not have.
            Ok(time) if Timestamp::try_from(time) == Ok(timestamp) => Ok(time),
            _ => Err(not_held_by("std::time::SystemTime", column)),
        }
    }
}

/// A point in time outside of the years 1 to 9999 is sent as the text of its distance
/// from 1970, which Spanner refuses.
impl ToColumn for SystemTime {
    fn column_type() -> Type {
        Type::new(TypeCode::Timestamp)
    }

    fn write(&self, out: ValueWriter<'_>) {
        match Timestamp::try_from(*self) {
            Ok(timestamp) => timestamp.write(out),
            Err(_) => out.string(&format!("{self:?}")),
        }
    }
}

/// Fails only where the platform's `SystemTime` cannot hold the point in time.
impl TryFrom<Timestamp> for SystemTime {
    type Error = TimeRangeError;

    fn try_from(timestamp: Timestamp) -> Result<Self, TimeRangeError> {
        let seconds = Duration::from_secs(timestamp.seconds().unsigned_abs());
        let whole = if timestamp.seconds() < 0 {
            Self::UNIX_EPOCH.checked_sub(seconds)
        } else {
            Self::UNIX_EPOCH.checked_add(seconds)
        };
        whole
            .and_then(|time| time.checked_add(Duration::from_nanos(timestamp.nanoseconds().into())))
            .ok_or(TimeRangeError::new())
    }
}

/// Fails outside of the years 1 to 9999.
impl TryFrom<SystemTime> for Timestamp {
    type Error = TimeRangeError;

    fn try_from(time: SystemTime) -> Result<Self, TimeRangeError> {
        let since = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanos| -nanos),
        };
        since
            .ok()
            .and_then(Self::from_nanoseconds)
            .ok_or(TimeRangeError::new())
    }
}
