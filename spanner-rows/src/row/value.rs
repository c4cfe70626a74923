//! A value as it was sent, without a Rust type: borrowed and owned.

use std::fmt;

use super::binder::Binder;
use super::binding::Binding;
use super::column::{Column, unexpected};
use super::error::DecodeError;
use super::mode::Plain;
use super::traits::{ColumnType, FromColumn};
use crate::wire::reader::Span;
use crate::wire::value::{self, Elements, Kind};
use crate::wire::{Type, ValueWriter, WireError, utf8};

/// A value in the form in which Spanner sends it, borrowed from the row.
///
/// Every value of every type can be read into it, also of types that this
/// version does not know. Which form a type has is written at
/// `google.spanner.v1.TypeCode`: INT64, NUMERIC, TIMESTAMP, BYTES (as base64)
/// and most others are strings, ARRAY and STRUCT are lists. To read a value as
/// its type, use [`Row::get`](crate::Row::get) or a derived struct.
#[derive(Clone, Copy, PartialEq)]
pub enum Value<'row> {
    /// NULL.
    Null,
    /// A BOOL.
    Bool(bool),
    /// A FLOAT64 or FLOAT32 that is finite.
    Number(f64),
    /// Any other scalar; also `NaN`, `Infinity` and `-Infinity`.
    String(&'row str),
    /// An ARRAY or a STRUCT.
    List(ValueList<'row>),
}

impl<'row> Value<'row> {
    /// The same value with memory of its own.
    #[must_use]
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Self::Null => OwnedValue::Null,
            Self::Bool(value) => OwnedValue::Bool(value),
            Self::Number(value) => OwnedValue::Number(value),
            Self::String(text) => OwnedValue::String(text.to_owned()),
            Self::List(list) => OwnedValue::List(list.iter().map(Self::to_owned).collect()),
        }
    }

    /// Whether this is NULL.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn read(wire: &'row [u8], span: Span) -> Result<Self, DecodeError> {
        let kind = value::read(wire, span)?;
        if matches!(kind, Kind::List(_)) {
            // Checked to the bottom once, so that reading elements cannot fail.
            if let Some(strange) = value::check(wire, span)? {
                return Err(unexpected(SENT, strange));
            }
        }
        Self::of(wire, kind)
    }

    fn of(wire: &'row [u8], kind: Kind) -> Result<Self, DecodeError> {
        Ok(match kind {
            Kind::Null => Self::Null,
            Kind::Bool(value) => Self::Bool(value),
            Kind::Number(value) => Self::Number(value),
            Kind::String(span) => {
                let bytes = wire.get(span.start..span.end).unwrap_or_default();
                match utf8::text(bytes) {
                    Some(text) => Self::String(text),
                    None => {
                        let kind = crate::wire::WireErrorKind::Utf8;
                        return Err(WireError::new(kind, span.start).into());
                    }
                }
            }
            Kind::List(span) => Self::List(ValueList {
                wire,
                start: span.start,
                end: span.end,
            }),
            other => return Err(unexpected(SENT, other)),
        })
    }
}

/// What a value without a type may be.
const SENT: &str = "a value that Spanner sends";

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// NULL, numbers and lists as in JSON, strings quoted.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::String(text) => write!(f, "{text:?}"),
            Self::List(list) => {
                f.write_str("[")?;
                for (i, element) in list.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// The elements of an ARRAY or the fields of a STRUCT, read when they are asked for.
#[derive(Clone, Copy)]
pub struct ValueList<'row> {
    wire: &'row [u8],
    start: usize,
    end: usize,
}

impl<'row> ValueList<'row> {
    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'row>> + use<'row> {
        let wire = self.wire;
        let span = Span {
            start: self.start,
            end: self.end,
        };
        let mut elements = Elements::of_list(wire, span);
        std::iter::from_fn(move || {
            let span = elements.next().ok().flatten()?;
            let kind = value::read(wire, span).ok()?;
            Value::of(wire, kind).ok()
        })
    }
}

impl PartialEq for ValueList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for ValueList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A value in the form in which Spanner sends it, with memory of its own.
///
/// See [`Value`] for what each form stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedValue {
    /// NULL.
    Null,
    /// A BOOL.
    Bool(bool),
    /// A FLOAT64 or FLOAT32 that is finite.
    Number(f64),
    /// Any other scalar; also `NaN`, `Infinity` and `-Infinity`.
    String(String),
    /// An ARRAY or a STRUCT.
    List(Vec<Self>),
}

impl OwnedValue {
    /// Writes the value in wire form.
    pub fn write(&self, out: ValueWriter<'_>) {
        match self {
            Self::Null => out.null(),
            Self::Bool(value) => out.bool(*value),
            Self::Number(value) => out.number(*value),
            Self::String(text) => out.string(text),
            Self::List(elements) => out.list(|list| {
                for element in elements {
                    list.element(|out| element.write(out));
                }
            }),
        }
    }
}

impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => fmt::Display::fmt(&Value::Null, f),
            Self::Bool(value) => fmt::Display::fmt(&Value::Bool(*value), f),
            Self::Number(value) => fmt::Display::fmt(&Value::Number(*value), f),
            Self::String(text) => fmt::Display::fmt(&Value::String(text), f),
            Self::List(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        value.to_owned()
    }
}

impl PartialEq<OwnedValue> for Value<'_> {
    fn eq(&self, other: &OwnedValue) -> bool {
        match (self, other) {
            (Self::Null, OwnedValue::Null) => true,
            (Self::Bool(a), OwnedValue::Bool(b)) => a == b,
            (Self::Number(a), OwnedValue::Number(b)) => a == b,
            (Self::String(a), OwnedValue::String(b)) => a == b,
            (Self::List(a), OwnedValue::List(b)) => {
                a.iter().map(Value::to_owned).eq(b.iter().cloned())
            }
            _ => false,
        }
    }
}

/// Reads every value of every type.
impl ColumnType for Value<'_> {
    type Spare = ();
    type Mode = Plain;
    type Static = Value<'static>;
    type At<'row> = Value<'row>;
}

impl<'row> FromColumn<'row> for Value<'row> {
    fn bind(_: &Type, _: &mut Binder<'_>) -> Binding {
        Binding::default()
    }

    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        column.value()
    }
}

/// Reads every value of every type; allocates for strings and lists.
impl ColumnType for OwnedValue {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for OwnedValue {
    fn bind(_: &Type, _: &mut Binder<'_>) -> Binding {
        Binding::default()
    }

    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        column.value().map(Value::to_owned)
    }
}

impl<'row> Column<'_, 'row> {
    /// The value as it was sent, whatever its type.
    ///
    /// # Errors
    ///
    /// The bytes are malformed, or the kind is one that Spanner never sends.
    pub fn value(&self) -> Result<Value<'row>, DecodeError> {
        Value::read(self.page().wire(), self.span())
    }
}
