//! FLOAT64 and FLOAT32.

use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

plain_type!(f64, f32);

impl FromColumn<'_> for f64 {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Float64, TypeCode::Float32])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        column.number()
    }
}

/// FLOAT32 only: a FLOAT64 would be rounded.
impl FromColumn<'_> for f32 {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Float32])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        // A FLOAT32 is sent widened, so this gives back the exact value.
        column.number().map(|value| value as Self)
    }
}
