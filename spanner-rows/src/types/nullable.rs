//! `Option`: columns that can be NULL.

use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::Type;

/// NULL is `None`. The memory of a value before a NULL is kept for the next one.
impl<T: ColumnType> ColumnType for Option<T> {
    type Spare = T::Spare;
    type Mode = T::Mode;
    type Static = Option<T::Static>;
    type At<'row> = Option<T::At<'row>>;
    const KEPT: bool = T::KEPT;
}

impl<'row, T: FromColumn<'row>> FromColumn<'row> for Option<T> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        T::bind(ty, binder)
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, spare: &mut T::Spare) -> Result<Self, DecodeError> {
        if column.is_null() {
            Ok(None)
        } else {
            T::read(column, spare).map(Some)
        }
    }

    #[inline(always)]
    fn set(&mut self, column: Column<'_, 'row>, spare: &mut T::Spare) -> Result<(), DecodeError> {
        match self {
            _ if column.is_null() => {
                if let Some(value) = self.take() {
                    value.recycle(spare);
                }
                Ok(())
            }
            Some(value) => value.set(column, spare),
            None => {
                *self = Some(T::read(column, spare)?);
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn recycle(self, spare: &mut T::Spare) {
        if let Some(value) = self {
            value.recycle(spare);
        }
    }
}
