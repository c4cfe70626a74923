//! UUID as `uuid::Uuid` (feature `uuid`).

use uuid::Uuid;

use super::encode::to_column;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

plain_type!(Uuid);

to_column! {
    Uuid: Uuid, |value, out| {
        out.string(value.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
    };
}

/// Reads UUID, and STRING that holds one, in lower or upper case with hyphens.
///
/// As a parameter it is a UUID; compare with a STRING column by `value.to_string()`.
impl FromColumn<'_> for Uuid {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Uuid, TypeCode::String])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        match parse(text) {
            Some(value) => Ok(value),
            None => Err(not_a_uuid(text)),
        }
    }
}

/// Parses 8-4-4-4-12 hexadecimal digits of either case.
#[inline]
fn parse(text: &[u8]) -> Option<Uuid> {
    let mut bytes = [0; 16];
    let out = uuid_simd::AsOut::as_out(&mut bytes);
    uuid_simd::parse_hyphenated(text, out).ok()?;
    Some(Uuid::from_bytes(bytes))
}

#[cold]
fn not_a_uuid(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(
        "it is not a UUID (8-4-4-4-12 hexadecimal digits)",
        &String::from_utf8_lossy(text),
    )
}
