//! The Rust type of a column or a parameter that is no STRUCT.

use super::Library;
use crate::wire::{Type, TypeAnnotation, TypeCode};

/// What the user chose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    pub(super) owned: bool,
    /// For TIMESTAMP and DATE.
    pub(super) time: Option<Library>,
    /// Whether UUID is a type of the crate `uuid`, or text.
    pub(super) uuid: bool,
}

impl Choices {
    /// What the features of this crate suggest.
    pub(super) const fn of_features() -> Self {
        let time = if cfg!(feature = "jiff") {
            Some(Library::Jiff)
        } else if cfg!(feature = "chrono") {
            Some(Library::Chrono)
        } else if cfg!(feature = "time") {
            Some(Library::Time)
        } else {
            None
        };
        Self {
            owned: false,
            time,
            uuid: cfg!(feature = "uuid"),
        }
    }
}

/// A type in source, and what is to be said beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct RustType {
    pub(super) text: String,
    /// Whether it has the lifetime of the row.
    pub(super) borrows: bool,
    pub(super) note: Option<String>,
    /// A crate that the program then needs.
    pub(super) library: Option<&'static str>,
}

impl RustType {
    fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    fn of_library(library: &'static str, text: &str) -> Self {
        Self {
            library: Some(library),
            ..Self::plain(text)
        }
    }

    fn of_row(choices: Choices, borrowed: &str, owned: &str) -> Self {
        let text = if choices.owned { owned } else { borrowed };
        Self {
            borrows: !choices.owned,
            ..Self::plain(text)
        }
    }

    fn noted(mut self, note: String) -> Self {
        self.note = Some(note);
        self
    }
}

/// The type for a column of any type but ARRAY and STRUCT.
pub(super) fn scalar(ty: &Type, choices: Choices) -> RustType {
    let text = RustType::of_row(choices, "&'row str", "String");
    let bytes = RustType::of_row(choices, "&'row [u8]", "Vec<u8>");
    match (ty.code(), choices.time) {
        (TypeCode::Bool, _) => RustType::plain("bool"),
        (TypeCode::Int64, _) => RustType::plain("i64"),
        (TypeCode::Float64, _) => RustType::plain("f64"),
        (TypeCode::Float32, _) => RustType::plain("f32"),
        (TypeCode::String, _) => text,
        (TypeCode::Bytes, _) => bytes,
        (TypeCode::Timestamp, Some(Library::Chrono)) => {
            RustType::of_library("chrono", "chrono::DateTime<chrono::Utc>")
        }
        (TypeCode::Timestamp, Some(Library::Time)) => {
            RustType::of_library("time", "time::OffsetDateTime")
        }
        (TypeCode::Timestamp, Some(_)) => RustType::of_library("jiff", "jiff::Timestamp"),
        (TypeCode::Timestamp, None) => RustType::plain("spanner_rows::Timestamp"),
        (TypeCode::Date, Some(Library::Chrono)) => {
            RustType::of_library("chrono", "chrono::NaiveDate")
        }
        (TypeCode::Date, Some(Library::Time)) => RustType::of_library("time", "time::Date"),
        (TypeCode::Date, Some(_)) => RustType::of_library("jiff", "jiff::civil::Date"),
        (TypeCode::Date, None) => value(choices)
            .noted("DATE: the features `jiff`, `chrono` and `time` have a type for it".to_owned()),
        (TypeCode::Numeric, _) if ty.annotation() == TypeAnnotation::PgNumeric => RustType::of_row(
            choices,
            "spanner_rows::PgNumeric<&'row str>",
            "spanner_rows::PgNumeric",
        ),
        (TypeCode::Numeric, _) => RustType::plain("spanner_rows::Numeric"),
        (TypeCode::Json, _) => text.noted(
            "JSON: `spanner_rows::Json<T>` reads any type that serde deserialises".to_owned(),
        ),
        (TypeCode::Uuid, _) if choices.uuid => RustType::of_library("uuid", "uuid::Uuid"),
        (TypeCode::Uuid, _) => text,
        (TypeCode::Interval, _) => RustType::plain("spanner_rows::Interval"),
        (TypeCode::Proto, _) => bytes.noted(format!(
            "{ty}: `spanner_rows::Proto` reads messages of prost"
        )),
        (TypeCode::Enum, _) => RustType::plain("i64").noted(format!(
            "{ty}: `spanner_rows::ProtoEnum` reads enums of prost"
        )),
        _ => value(choices).noted(format!(
            "{ty}: this version of the crate has no type for it"
        )),
    }
}

fn value(choices: Choices) -> RustType {
    RustType::of_row(
        choices,
        "spanner_rows::Value<'row>",
        "spanner_rows::OwnedValue",
    )
}

/// A type that a parameter of this type can have.
pub(super) fn parameter(ty: &Type, choices: Choices) -> String {
    match (ty.code(), ty.element()) {
        (TypeCode::Array, Some(element)) => format!("Vec<{}>", parameter(element, choices)),
        (TypeCode::Struct, _) => "a struct that derives `SpannerEncode`".to_owned(),
        _ => {
            scalar(
                ty,
                Choices {
                    owned: true,
                    ..choices
                },
            )
            .text
        }
    }
}
