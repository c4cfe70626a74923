//! The columns of a result: `google.spanner.v1.StructType` and `Type`.

use std::fmt;
use std::sync::Arc;

use super::error::{WireError, WireErrorKind};
use super::reader::{Fields, MAX_DEPTH, Span};
use super::utf8;
#[cfg(any(feature = "client", test))]
use super::writer::{put_bytes, put_varint, with_length};

/// The columns of a result, or the fields of a STRUCT, in order
/// (`google.spanner.v1.StructType`).
///
/// Names may be empty and may repeat. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RowType {
    fields: Arc<[Field]>,
}

impl RowType {
    /// A row type of these fields.
    pub fn new(fields: impl IntoIterator<Item = Field>) -> Self {
        Self {
            fields: fields.into_iter().collect(),
        }
    }

    /// Whether this is the other one or equal to it: the first is cheap to tell.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.fields, &other.fields) || self == other
    }

    /// The fields, in the order of the values.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields, as for DML without THEN RETURN.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The position of the only field with this name; spelling counts.
    ///
    /// `None` when no field or more than one has it: a name that stands for two
    /// columns stands for neither.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut found = self.positions(name);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The positions of all fields with this name.
    pub fn positions(&self, name: &str) -> impl Iterator<Item = usize> {
        self.fields
            .iter()
            .enumerate()
            .filter(move |(_, field)| field.name() == name)
            .map(|(i, _)| i)
    }

    fn parse(buf: &[u8], span: Span, depth: usize) -> Result<Self, WireError> {
        let mut fields = Vec::new();
        parse_fields(buf, span, depth, &mut fields)?;
        Ok(Self::new(fields))
    }

    /// Appends the content of a `StructType` message.
    #[cfg(any(feature = "client", test))]
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for field in self.fields() {
            out.push(0x0a);
            with_length(out, |out| {
                put_bytes(out, 0x0a, field.name.as_bytes());
                out.push(0x12);
                with_length(out, |out| field.ty.encode(out));
            });
        }
    }
}

impl fmt::Debug for RowType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.fields()).finish()
    }
}

/// As GoogleSQL writes a STRUCT type: `STRUCT<id INT64, name STRING>`.
impl fmt::Display for RowType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("STRUCT<")?;
        for (i, field) in self.fields().iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if field.name().is_empty() {
                write!(f, "{}", field.ty())?;
            } else {
                write!(f, "{} {}", field.name(), field.ty())?;
            }
        }
        f.write_str(">")
    }
}

/// One column of a result or one field of a STRUCT
/// (`google.spanner.v1.StructType.Field`).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Field {
    name: Box<str>,
    ty: Type,
}

impl Field {
    /// A field with this name, which may be empty, and type.
    pub fn new(name: impl Into<Box<str>>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
        }
    }

    /// The name; empty for an expression without an alias.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type.
    #[must_use]
    pub const fn ty(&self) -> &Type {
        &self.ty
    }

    fn parse(buf: &[u8], span: Span, depth: usize) -> Result<Self, WireError> {
        let mut name = "";
        let mut ty = Type::new(TypeCode::Unspecified);
        let mut parts = Fields::new(buf, span);
        while let Some(part) = parts.next()? {
            match part.tag.field {
                1 => name = string(buf, part.message()?)?,
                2 => ty = Type::parse(buf, part.message()?, depth)?,
                _ => {}
            }
        }
        Ok(Self::new(name, ty))
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.name, self.ty)
    }
}

/// A Spanner type (`google.spanner.v1.Type`).
///
/// Equality leaves nothing out: code, element type, fields, annotation and the
/// name of the PROTO or ENUM type.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type {
    code: TypeCode,
    annotation: TypeAnnotation,
    element: Option<Arc<Self>>,
    fields: RowType,
    proto_type: Option<Arc<str>>,
}

impl Type {
    /// A type that its code alone describes.
    #[must_use]
    pub fn new(code: TypeCode) -> Self {
        Self {
            code,
            annotation: TypeAnnotation::Unspecified,
            element: None,
            fields: RowType::default(),
            proto_type: None,
        }
    }

    /// ARRAY of `element`.
    #[must_use]
    pub fn array(element: Self) -> Self {
        Self {
            element: Some(Arc::new(element)),
            ..Self::new(TypeCode::Array)
        }
    }

    /// STRUCT with these fields.
    #[must_use]
    pub fn structure(fields: RowType) -> Self {
        Self {
            fields,
            ..Self::new(TypeCode::Struct)
        }
    }

    /// The same type with a dialect's annotation, such as PG NUMERIC.
    #[must_use]
    pub fn with_annotation(mut self, annotation: TypeAnnotation) -> Self {
        self.annotation = annotation;
        self
    }

    /// The same PROTO or ENUM type with the full name of its definition.
    #[must_use]
    pub fn with_proto_type(mut self, name: impl Into<Arc<str>>) -> Self {
        self.proto_type = Some(name.into());
        self
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> TypeCode {
        self.code
    }

    /// The dialect's annotation.
    #[must_use]
    pub const fn annotation(&self) -> TypeAnnotation {
        self.annotation
    }

    /// The element type of an ARRAY.
    #[must_use]
    pub fn element(&self) -> Option<&Self> {
        self.element.as_deref()
    }

    /// The fields of a STRUCT; empty for other types.
    #[must_use]
    pub const fn fields(&self) -> &RowType {
        &self.fields
    }

    /// The full name of a PROTO's or ENUM's definition.
    #[must_use]
    pub fn proto_type(&self) -> Option<&str> {
        self.proto_type.as_deref()
    }

    pub(crate) fn parse(buf: &[u8], span: Span, depth: usize) -> Result<Self, WireError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(WireError::new(WireErrorKind::TooDeep, span.start));
        };
        let mut ty = Self::new(TypeCode::Unspecified);
        let mut parts = Fields::new(buf, span);
        while let Some(part) = parts.next()? {
            match part.tag.field {
                1 => ty.code = TypeCode::from_number(part.integer()? as i32),
                2 => ty.element = Some(Arc::new(Self::parse(buf, part.message()?, depth)?)),
                3 => ty.fields = RowType::parse(buf, part.message()?, depth)?,
                4 => ty.annotation = TypeAnnotation::from_number(part.integer()? as i32),
                5 => ty.proto_type = Some(string(buf, part.message()?)?.into()),
                _ => {}
            }
        }
        Ok(ty)
    }

    /// Appends the content of a `Type` message.
    #[cfg(any(feature = "client", test))]
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(0x08);
        put_varint(out, i64::from(self.code.number()) as u64);
        if let Some(element) = self.element() {
            out.push(0x12);
            with_length(out, |out| element.encode(out));
        }
        if self.code == TypeCode::Struct {
            out.push(0x1a);
            with_length(out, |out| self.fields.encode(out));
        }
        if self.annotation != TypeAnnotation::Unspecified {
            out.push(0x20);
            put_varint(out, i64::from(self.annotation.number()) as u64);
        }
        if let Some(name) = self.proto_type() {
            put_bytes(out, 0x2a, name.as_bytes());
        }
    }
}

impl From<TypeCode> for Type {
    fn from(code: TypeCode) -> Self {
        Self::new(code)
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As GoogleSQL writes the type: `ARRAY<STRUCT<id INT64>>`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.element(), self.proto_type()) {
            (TypeCode::Array, Some(element), _) => write!(f, "ARRAY<{element}>")?,
            (TypeCode::Struct, ..) => write!(f, "{}", self.fields)?,
            (code, _, Some(name)) => write!(f, "{code}<{name}>")?,
            (code, ..) => write!(f, "{code}")?,
        }
        match self.annotation {
            TypeAnnotation::Unspecified => Ok(()),
            annotation => write!(f, " ({annotation})"),
        }
    }
}

/// Declares an enum of the protocol with a variant for numbers yet unknown.
macro_rules! wire_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A number that this version of the crate does not know.
            Unknown(i32),
        }

        impl $name {
            /// The variant of this number.
            #[must_use]
            pub const fn from_number(number: i32) -> Self {
                match number {
                    $($number => Self::$variant,)*
                    _ => Self::Unknown(number),
                }
            }

            /// The number in the protocol.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Unknown(number) => number,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($text),)*
                    Self::Unknown(number) => write!(f, "unknown type {number}"),
                }
            }
        }
    };
}

wire_enum! {
    /// `google.spanner.v1.TypeCode`.
    TypeCode {
        /// No type was given.
        Unspecified = 0 "unspecified type",
        /// A boolean.
        Bool = 1 "BOOL",
        /// A 64-bit signed integer.
        Int64 = 2 "INT64",
        /// A 64-bit floating-point number.
        Float64 = 3 "FLOAT64",
        /// A point in time with nanoseconds, years 1 to 9999.
        Timestamp = 4 "TIMESTAMP",
        /// A day of the calendar, years 1 to 9999.
        Date = 5 "DATE",
        /// Text.
        String = 6 "STRING",
        /// Bytes, sent as base64.
        Bytes = 7 "BYTES",
        /// A list of values of one type.
        Array = 8 "ARRAY",
        /// A fixed number of values, each with a name and a type.
        Struct = 9 "STRUCT",
        /// An exact decimal.
        Numeric = 10 "NUMERIC",
        /// JSON text.
        Json = 11 "JSON",
        /// A serialised protocol buffer, sent as base64.
        Proto = 13 "PROTO",
        /// A value of a protocol buffer enum.
        Enum = 14 "ENUM",
        /// A 32-bit floating-point number.
        Float32 = 15 "FLOAT32",
        /// Months, days and nanoseconds.
        Interval = 16 "INTERVAL",
        /// A universally unique identifier.
        Uuid = 17 "UUID",
    }
}

wire_enum! {
    /// `google.spanner.v1.TypeAnnotationCode`: how a dialect understands a type.
    TypeAnnotation {
        /// The type as GoogleSQL understands it.
        Unspecified = 0 "no annotation",
        /// PostgreSQL NUMERIC: of any length, or `NaN`.
        PgNumeric = 2 "PG NUMERIC",
        /// PostgreSQL JSONB.
        PgJsonb = 3 "PG JSONB",
        /// PostgreSQL OID.
        PgOid = 4 "PG OID",
    }
}

pub(crate) fn string(buf: &[u8], span: Span) -> Result<&str, WireError> {
    utf8::text(span.of(buf)).ok_or_else(|| WireError::new(WireErrorKind::Utf8, span.start))
}

/// Reads a `StructType` that stands alone and appends its fields.
pub(super) fn parse_row_type(
    buf: &[u8],
    span: Span,
    fields: &mut Vec<Field>,
) -> Result<(), WireError> {
    parse_fields(buf, span, MAX_DEPTH, fields)
}

fn parse_fields(
    buf: &[u8],
    span: Span,
    depth: usize,
    fields: &mut Vec<Field>,
) -> Result<(), WireError> {
    let mut parts = Fields::new(buf, span);
    while let Some(part) = parts.next()? {
        if part.tag.field == 1 {
            fields.push(Field::parse(buf, part.message()?, depth)?);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "row_type_tests.rs"]
mod tests;
