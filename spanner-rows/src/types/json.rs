//! JSON and JSONB as types of `serde_json`, or deserialised (feature `serde_json`).
//!
//! As text, JSON is read like STRING.

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::value::RawValue;

use super::encode::{ToColumn, to_column};
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::mode::Plain;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode, ValueWriter};

/// STRING too: much JSON is kept in columns from before the type was there.
const ACCEPTED: &[TypeCode] = &[TypeCode::Json, TypeCode::String];

/// A document, deserialised into `T`, which owns what it holds.
///
/// Reads JSON, JSONB of the PostgreSQL dialect, and STRING that holds JSON. SQL's NULL is
/// not JSON's `null`: `Option<Json<T>>` takes the one, `Json<Option<T>>` the other.
/// Allocates what `T` allocates, anew for every row. For a `T` that borrows see
/// [`BorrowedJson`].
///
/// As a parameter, a `T` that serde cannot serialise as JSON (a map whose keys are
/// not text) is sent as text that says so, and Spanner refuses it. It is GoogleSQL's
/// JSON, which the PostgreSQL dialect does not take: there send the text, and cast it
/// to JSONB in SQL (`$1::jsonb`).
///
/// ```
/// use spanner_rows::{Json, SpannerRow};
///
/// #[derive(serde::Deserialize)]
/// struct Settings { theme: String }
///
/// # #[cfg(feature = "derive")]
/// #[derive(SpannerRow)]
/// struct User { id: i64, settings: Option<Json<Settings>> }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned + Send + 'static> ColumnType for Json<T> {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl<T: DeserializeOwned + Send + 'static> FromColumn<'_> for Json<T> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        deserialize(column).map(Self)
    }
}

/// The type of a document that borrows from the buffer of the result.
///
/// Implement it for your type to read it as [`BorrowedJson`]: it names the same type
/// with other lifetimes, which Rust cannot do by itself.
pub trait JsonDocument {
    /// The type with `'row` in place of its lifetime.
    type At<'row>: Deserialize<'row> + JsonDocument<Static = Self::Static> + Send;
    /// The type with `'static` in place of its lifetime.
    type Static: Send + 'static;
}

/// A document, deserialised into a `T` that borrows from the buffer of the result.
///
/// Serde borrows `&str` only where the text has no escapes, and fails otherwise; use
/// `Cow<str>` with `#[serde(borrow)]` unless you know the text.
///
/// ```
/// use std::borrow::Cow;
/// use spanner_rows::{BorrowedJson, JsonDocument, SpannerRow};
///
/// #[derive(serde::Deserialize)]
/// struct Settings<'a> {
///     #[serde(borrow)]
///     theme: Cow<'a, str>,
/// }
///
/// impl JsonDocument for Settings<'_> {
///     type At<'row> = Settings<'row>;
///     type Static = Settings<'static>;
/// }
///
/// # #[cfg(feature = "derive")]
/// #[derive(SpannerRow)]
/// struct User<'row> { id: i64, settings: BorrowedJson<Settings<'row>> }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BorrowedJson<T>(pub T);

impl<T: JsonDocument> ColumnType for BorrowedJson<T> {
    type Spare = ();
    type Mode = Plain;
    type Static = BorrowedJson<T::Static>;
    type At<'row> = BorrowedJson<T::At<'row>>;
}

impl<'row, T: JsonDocument + Deserialize<'row> + Send> FromColumn<'row> for BorrowedJson<T> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        deserialize(column).map(Self)
    }
}

plain_type!(serde_json::Value);

/// Numbers beyond `i64`, `u64` and `f64` lose digits; the text and `&RawValue` do not.
/// Allocates for every document.
impl FromColumn<'_> for serde_json::Value {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        deserialize(column)
    }
}

/// The text, checked to be JSON; borrows from the buffer of the result. With
/// `serde_json::from_str(raw.get())` any type can be read from it later, borrowing
/// from the same buffer.
/// For a document with objects or arrays inside of others, serde_json's check allocates
/// once; `&str` leaves the check out.
impl ColumnType for &RawValue {
    type Spare = ();
    type Mode = Plain;
    type Static = &'static RawValue;
    type At<'row> = &'row RawValue;
}

impl<'row> FromColumn<'row> for &'row RawValue {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, ACCEPTED)
    }

    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        deserialize(column)
    }
}

fn deserialize<'row, T: Deserialize<'row>>(column: Column<'_, 'row>) -> Result<T, DecodeError> {
    let text = column.text()?;
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => Err(not_deserialised(&error, text)),
    }
}

#[cold]
fn not_deserialised(error: &serde_json::Error, text: &str) -> DecodeError {
    DecodeError::with_excerpt(error, text)
}

to_column! {
    serde_json::Value: Json, |value, out| out.string(&value.to_string());
    RawValue: Json, |value, out| out.string(value.get());
}

/// A document as text. Where there is none, text that no server takes for JSON and
/// that says why.
pub(crate) fn serialized(value: &(impl Serialize + ?Sized)) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        Err(error) => format!("cannot be serialised: {error}"),
    }
}

macro_rules! to_json {
    ($($name:ident)+) => {
        $(impl<T: Serialize> ToColumn for $name<T> {
            fn column_type() -> Type {
                Type::new(TypeCode::Json)
            }

            fn write(&self, out: ValueWriter<'_>) {
                out.string(&serialized(&self.0));
            }
        })+
    };
}

to_json!(Json BorrowedJson);
