//! Text: STRING, and the types whose values are text of their own (JSON, UUID).

use std::borrow::Cow;
use std::sync::Arc;

use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::cursor::RowCursor;
use crate::row::error::DecodeError;
use crate::row::mode::{Kept, Plain};
use crate::row::text::put_text;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode};

const ACCEPTED: &[TypeCode] = &[TypeCode::String, TypeCode::Json, TypeCode::Uuid];

/// Borrows from the buffer of the result.
impl ColumnType for &str {
    type Spare = ();
    type Mode = Plain;
    type Static = &'static str;
    type At<'row> = &'row str;

    #[inline(always)]
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        (): &mut (),
    ) -> Result<&'row str, DecodeError> {
        cursor.read_text()
    }

    #[inline(always)]
    fn set_field<'row>(
        field: &mut &'row str,
        cursor: &mut RowCursor<'_, 'row>,
        (): &mut (),
    ) -> Result<(), DecodeError> {
        *field = cursor.read_text()?;
        Ok(())
    }
}

impl<'row> FromColumn<'row> for &'row str {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<str>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.text()
    }
}

/// Always borrows when read; owned values come from the user's own changes.
impl ColumnType for Cow<'_, str> {
    type Spare = ();
    type Mode = Plain;
    type Static = Cow<'static, str>;
    type At<'row> = Cow<'row, str>;

    #[inline(always)]
    fn read_field<'row>(
        cursor: &mut RowCursor<'_, 'row>,
        (): &mut (),
    ) -> Result<Cow<'row, str>, DecodeError> {
        cursor.read_text().map(Cow::Borrowed)
    }
}

impl<'row> FromColumn<'row> for Cow<'row, str> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.text().map(Cow::Borrowed)
    }
}

/// Keeps its capacity from row to row; above 1 MiB only while values need it.
impl ColumnType for String {
    type Spare = Self;
    type Mode = Kept;
    type Static = Self;
    type At<'row> = Self;

    #[inline(always)]
    fn set_field(
        field: &mut Self,
        cursor: &mut RowCursor<'_, '_>,
        _: &mut Self,
    ) -> Result<(), DecodeError> {
        cursor.copy_text(field)
    }
}

impl FromColumn<'_> for String {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, spare: &mut Self) -> Result<Self, DecodeError> {
        let text = column.text()?;
        let mut value = std::mem::take(spare);
        put_text(&mut value, text);
        Ok(value)
    }

    #[inline(always)]
    fn set(&mut self, column: Column<'_, '_>, _: &mut Self) -> Result<(), DecodeError> {
        put_text(self, column.text()?);
        Ok(())
    }

    #[inline(always)]
    fn recycle(self, spare: &mut Self) {
        *spare = self;
    }
}

/// Allocates for every value: a box has no capacity to keep.
impl ColumnType for Box<str> {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for Box<str> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        column.text().map(Self::from)
    }
}

/// Allocates for every value: it may be shared with what outlives the row.
impl ColumnType for Arc<str> {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for Arc<str> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        column.text().map(Self::from)
    }
}
