//! PROTO and ENUM as types that prost generates (feature `prost`).

use prost::{Message, Name};

use super::encode::ToColumn;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::mode::{Kept, Plain};
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode, ValueWriter};

/// A message that a PROTO value holds, or a BYTES value into which it was put.
///
/// The message's memory is used again from row to row, as far as prost does so when it
/// clears and merges. `&[u8]` and `Vec<u8>` read it undecoded.
///
/// The name of the column's type is not compared with `M`'s: a message of another type
/// is an error only where its bytes do not fit. As a parameter the type goes by
/// [`prost::Name`], which prost generates with `enable_type_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Proto<M>(pub M);

impl<M: Message + Default + 'static> ColumnType for Proto<M> {
    type Spare = M;
    type Mode = Kept;
    type Static = Self;
    type At<'row> = Self;
}

impl<M: Message + Default + 'static> FromColumn<'_> for Proto<M> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.bytes::<Self>(ty, &[TypeCode::Proto, TypeCode::Bytes])
    }

    fn read(column: Column<'_, '_>, spare: &mut M) -> Result<Self, DecodeError> {
        let mut value = Self(std::mem::take(spare));
        value.set(column, spare)?;
        Ok(value)
    }

    fn set(&mut self, column: Column<'_, '_>, _: &mut M) -> Result<(), DecodeError> {
        let bytes = column.bytes()?;
        self.0.clear();
        match self.0.merge(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(not_a_message(&error)),
        }
    }

    fn recycle(self, spare: &mut M) {
        *spare = self.0;
    }
}

#[cold]
fn not_a_message(error: &prost::DecodeError) -> DecodeError {
    DecodeError::invalid(error)
}

impl<M: Message + Name> ToColumn for Proto<M> {
    fn column_type() -> Type {
        Type::new(TypeCode::Proto).with_proto_type(M::full_name())
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.base64(&self.0.encode_to_vec());
    }
}

/// A value of an ENUM column as `E`, an enum that prost generates.
///
/// A number that `E` does not know is an error; plain `i32` and `i64` read every one.
///
/// As a parameter it is sent as INT64; compare it in SQL with `CAST(@p AS my.Enum)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtoEnum<E>(pub E);

impl<E: TryFrom<i32> + Send + 'static> ColumnType for ProtoEnum<E> {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl<E: TryFrom<i32> + Send + 'static> FromColumn<'_> for ProtoEnum<E> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Enum])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, spare: &mut ()) -> Result<Self, DecodeError> {
        let number = i32::read(column, spare)?;
        match E::try_from(number) {
            Ok(value) => Ok(Self(value)),
            Err(_) => Err(unknown(number)),
        }
    }
}

#[cold]
fn unknown(number: i32) -> DecodeError {
    DecodeError::with_excerpt(
        "the enum has no value of this number: read the column into `i32`",
        &number.to_string(),
    )
}

impl<E: Into<i32> + Copy> ToColumn for ProtoEnum<E> {
    fn column_type() -> Type {
        Type::new(TypeCode::Int64)
    }

    fn write(&self, out: ValueWriter<'_>) {
        let number: i32 = self.0.into();
        out.string(&number.to_string());
    }
}
