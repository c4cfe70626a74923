//! BYTES and PROTO as the base64 text that was sent.

use std::fmt;

use super::encode::to_column;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::{Column, not_base64};
use crate::row::error::DecodeError;
use crate::row::mode::Plain;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode, base64};

/// BYTES or PROTO as the base64 text that was sent, borrowed and not decoded.
///
/// For values that are passed on as base64, or that are rarely looked at. Whether it
/// is base64 shows when it is decoded.
///
/// ```
/// use spanner_rows::Base64;
///
/// let value = Base64::new("+/8=");
/// assert_eq!(value.decode()?, [0xfb, 0xff]);
/// # Ok::<(), spanner_rows::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Base64<'row> {
    text: &'row str,
}

impl<'row> Base64<'row> {
    /// Takes text that may be padded standard base64.
    #[must_use]
    pub const fn new(text: &'row str) -> Self {
        Self { text }
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'row str {
        self.text
    }

    /// The number of bytes for which the text stands; `None` when its length or its
    /// padding is not that of base64.
    #[must_use]
    pub fn decoded_len(self) -> Option<usize> {
        base64::decoded_len(self.text.as_bytes())
    }

    /// The bytes, in fresh memory.
    ///
    /// # Errors
    ///
    /// The text is not padded standard base64.
    pub fn decode(self) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = Vec::new();
        self.decode_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Appends the bytes to `out`; after an error nothing is appended.
    ///
    /// # Errors
    ///
    /// The text is not padded standard base64.
    pub fn decode_into(self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        if base64::append(self.text.as_bytes(), out) {
            Ok(())
        } else {
            Err(not_base64(self.text.as_bytes()))
        }
    }
}

impl fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text)
    }
}

impl ColumnType for Base64<'_> {
    type Spare = ();
    type Mode = Plain;
    type Static = Base64<'static>;
    type At<'row> = Base64<'row>;
}

impl<'row> FromColumn<'row> for Base64<'row> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, &[TypeCode::Bytes, TypeCode::Proto])
    }

    #[inline]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.text().map(Self::new)
    }
}

to_column! {
    Base64<'_>: Bytes, |value, out| out.string(value.text);
}
