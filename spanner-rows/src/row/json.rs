//! The attribute `json`: a JSON column through serde. Without the feature
//! `serde_json` nothing has the trait, and the compiler says that.

use super::binder::BindField;
use super::cursor::RowCursor;
use super::error::DecodeError;
#[cfg(feature = "serde_json")]
use super::error::DecodeErrorKind;
#[cfg(feature = "serde_json")]
use super::traits::FromColumn;
#[cfg(feature = "serde_json")]
use crate::types::json::{Json, serialized};
use crate::wire::{Type, TypeCode, ValueWriter};

/// What the derive asks of the type of a field with `json`.
#[diagnostic::on_unimplemented(
    message = "`json` needs the feature `serde_json` of `spanner-rows`, and a type that serde can deserialize",
    label = "cannot be read from JSON"
)]
pub trait JsonField: Sized {
    /// How the column is bound.
    fn bind_field() -> BindField;

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// The text is not JSON of this type.
    fn read_field(cursor: &mut RowCursor<'_, '_>) -> Result<Self, DecodeError>;
}

#[cfg(feature = "serde_json")]
impl<T: serde::de::DeserializeOwned + Send + 'static> JsonField for T {
    fn bind_field() -> BindField {
        BindField::Column(<Json<T> as FromColumn<'_>>::bind)
    }

    /// NULL is read as JSON's `null`, which is `None` for an `Option` and an
    /// error for most other types.
    fn read_field(cursor: &mut RowCursor<'_, '_>) -> Result<Self, DecodeError> {
        cursor.read_by(|column| {
            if column.is_null() {
                return serde_json::from_str("null")
                    .map_err(|_| DecodeError::new(DecodeErrorKind::Null));
            }
            Json::<T>::read(column, &mut ()).map(|json| json.0)
        })
    }
}

/// What the derive of `SpannerEncode` asks of the type of a field with `json`.
#[diagnostic::on_unimplemented(
    message = "`json` needs the feature `serde_json` of `spanner-rows`, and a type that serde can serialize",
    label = "cannot be written as JSON"
)]
pub trait JsonEncode {
    /// JSON.
    #[must_use]
    fn column_type() -> Type {
        Type::new(TypeCode::Json)
    }

    /// Writes the value.
    fn write(&self, out: ValueWriter<'_>);
}

/// JSON's `null`, which is what serde makes of the `None` of an `Option`, is
/// written as NULL: so it is read.
#[cfg(feature = "serde_json")]
impl<T: serde::Serialize> JsonEncode for T {
    fn write(&self, out: ValueWriter<'_>) {
        let text = serialized(self);
        if text == "null" {
            out.null();
        } else {
            out.string(&text);
        }
    }
}
