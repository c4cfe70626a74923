//! BYTES and PROTO, which come as base64.

use std::borrow::Cow;

use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::{Column, not_base64};
use crate::row::error::DecodeError;
use crate::row::memory::is_excessive;
use crate::row::mode::{Kept, Plain};
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode, base64};

const ACCEPTED: &[TypeCode] = &[TypeCode::Bytes, TypeCode::Proto];

/// Borrows from memory of the stream or batch into which the base64 is decoded.
impl ColumnType for &[u8] {
    type Spare = ();
    type Mode = Plain;
    type Static = &'static [u8];
    type At<'row> = &'row [u8];
}

impl<'row> FromColumn<'row> for &'row [u8] {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.bytes::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.bytes()
    }
}

/// Borrows like `&[u8]`.
impl ColumnType for Cow<'_, [u8]> {
    type Spare = ();
    type Mode = Plain;
    type Static = Cow<'static, [u8]>;
    type At<'row> = Cow<'row, [u8]>;
}

impl<'row> FromColumn<'row> for Cow<'row, [u8]> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.bytes::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.bytes().map(Cow::Borrowed)
    }
}

/// Keeps its capacity from row to row; above 1 MiB only while values need it.
impl ColumnType for Vec<u8> {
    type Spare = Self;
    type Mode = Kept;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for Vec<u8> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, spare: &mut Self) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        let mut value = std::mem::take(spare);
        decode_into(text, &mut value)?;
        Ok(value)
    }

    #[inline(always)]
    fn set(&mut self, column: Column<'_, '_>, _: &mut Self) -> Result<(), DecodeError> {
        decode_into(column.ascii()?, self)
    }

    #[inline]
    fn recycle(self, spare: &mut Self) {
        *spare = self;
    }
}

/// Allocates for every value.
impl ColumnType for bytes::Bytes {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for bytes::Bytes {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        Vec::<u8>::read(column, &mut Vec::new()).map(Self::from)
    }
}

/// Allocates for every value: a box has no capacity to keep.
impl ColumnType for Box<[u8]> {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for Box<[u8]> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        Vec::<u8>::read(column, &mut Vec::new()).map(Self::from)
    }
}

/// Values of another length than `N` are an error.
impl<const N: usize> ColumnType for [u8; N] {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl<const N: usize> FromColumn<'_> for [u8; N] {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, ACCEPTED)
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        match base64::decoded_len(text) {
            Some(len) if len == N => {}
            Some(len) => return Err(wrong_length(text, len, N)),
            None => return Err(not_base64(text)),
        }
        let mut value = [0; N];
        if base64::decode(text, &mut value) {
            Ok(value)
        } else {
            Err(not_base64(text))
        }
    }
}

#[cold]
fn wrong_length(text: &[u8], len: usize, wanted: usize) -> DecodeError {
    DecodeError::with_excerpt(
        format_args!("it has {len} bytes, the array has {wanted}"),
        &String::from_utf8_lossy(text),
    )
}

fn decode_into(text: &[u8], value: &mut Vec<u8>) -> Result<(), DecodeError> {
    if is_excessive(value.capacity(), text.len()) {
        *value = Vec::new();
    }
    value.clear();
    if base64::append(text, value) {
        Ok(())
    } else {
        Err(not_base64(text))
    }
}
