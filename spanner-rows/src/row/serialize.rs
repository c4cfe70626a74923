//! Rows and values through serde.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::dynamic::Row;
use super::value::{OwnedValue, Value};
use crate::wire::{Field, Type, TypeCode};

/// As a map from the names of the columns to their values, in the order of the result.
///
/// The types of the columns decide: INT64 and ENUM are integers, FLOAT64 and FLOAT32 numbers
/// (`NaN` and the infinities text), ARRAYs sequences, STRUCTs maps; everything else is
/// text as Spanner sends it, BYTES as base64 and JSON as its document. Where
/// columns have the same name, it stands there as often.
///
/// ```
/// use spanner_rows::testing::Message;
/// use spanner_rows::{OwnedValue, RetrySettings, Row, RowReader, Type, TypeCode};
///
/// let mut rows = RowReader::<Row>::new(&RetrySettings::default());
/// let columns = [("id", Type::new(TypeCode::Int64)), ("name", Type::new(TypeCode::String))];
/// let values = ["7", "Marc"].map(|text| OwnedValue::String(text.to_owned()));
/// rows.receive(Message::new().columns(columns).values(values).last().encode());
/// let row = rows.next()?.unwrap();
/// assert_eq!(serde_json::to_string(&row).unwrap(), r#"{"id":7,"name":"Marc"}"#);
/// # Ok::<(), spanner_rows::Error>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (field, value) in self.row_type().fields().iter().zip(self.values()) {
            let value = value.map_err(|error| in_column(field, error))?;
            let ty = field.ty();
            let written = map.serialize_entry(field.name(), &Typed { value, ty });
            written.map_err(|error| in_column(field, error))?;
        }
        map.end()
    }
}

#[cold]
fn in_column<E: serde::ser::Error>(field: &Field, error: impl fmt::Display) -> E {
    E::custom(format_args!("column `{}`: {error}", field.name()))
}

/// A value with its type.
struct Typed<'a> {
    value: Value<'a>,
    ty: &'a Type,
}

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.value, self.ty.code()) {
            (Value::String(text), TypeCode::Int64 | TypeCode::Enum) => {
                let Ok(number) = text.parse() else {
                    return Err(S::Error::custom(format_args!("{text:?} is no {}", self.ty)));
                };
                serializer.serialize_i64(number)
            }
            (Value::List(values), TypeCode::Struct) => {
                let fields = self.ty.fields().fields();
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                let mut values = values.iter();
                for field in fields {
                    let Some(value) = values.next() else {
                        return Err(in_column(field, "the STRUCT has no value for it"));
                    };
                    let ty = field.ty();
                    map.serialize_entry(field.name(), &Typed { value, ty })?;
                }
                map.end()
            }
            (Value::List(elements), TypeCode::Array) => match self.ty.element() {
                Some(ty) => {
                    let typed = |value| Typed { value, ty };
                    serializer.collect_seq(elements.iter().map(typed))
                }
                None => self.value.serialize(serializer),
            },
            (value, _) => value.serialize(serializer),
        }
    }
}

/// As it was sent: INT64 and most other types as text, ARRAYs and STRUCTs as sequences.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list.iter()),
        }
    }
}

/// As [`Value`].
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for OwnedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
        }
    }
}

/// What [`Serialize`] makes of it, from a format that describes itself (JSON, not bincode).
/// An integer becomes INT64's text.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de> Deserialize<'de> for OwnedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfAnyForm)
    }
}

struct OfAnyForm;

impl<'de> Visitor<'de> for OfAnyForm {
    type Value = OwnedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string or a sequence of these")
    }

    fn visit_unit<E>(self) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Null)
    }

    fn visit_none<E>(self) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<OwnedValue, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<OwnedValue, E> {
        Ok(OwnedValue::String(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<OwnedValue, E> {
        Ok(OwnedValue::String(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<OwnedValue, E> {
        Ok(match value {
            value if value.is_nan() => OwnedValue::String("NaN".to_owned()),
            f64::INFINITY => OwnedValue::String("Infinity".to_owned()),
            f64::NEG_INFINITY => OwnedValue::String("-Infinity".to_owned()),
            value => OwnedValue::Number(value),
        })
    }

    fn visit_str<E>(self, text: &str) -> Result<OwnedValue, E> {
        Ok(OwnedValue::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<OwnedValue, E> {
        Ok(OwnedValue::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<OwnedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(OwnedValue::List(list))
    }
}
