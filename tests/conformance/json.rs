//! The notations of the case files: types as GoogleSQL text, values as JSON.

use serde_json::Value as Json;
use spanner_rows::testing::Message;
use spanner_rows::{Field, OwnedValue, RowType, Type, TypeAnnotation, TypeCode};

/// Reads a column, `name TYPE`; the name may be empty.
pub(crate) fn column(text: &str) -> Field {
    let (name, ty) = text.split_once(' ').expect("`name TYPE`");
    Field::new(name, type_of(ty))
}

/// Reads a type, with an optional annotation behind a space.
pub(crate) fn type_of(text: &str) -> Type {
    let mut parser = Parser(text);
    let ty = parser.ty();
    match parser.0.trim() {
        "" => ty,
        "PG_NUMERIC" => ty.with_annotation(TypeAnnotation::PgNumeric),
        "PG_JSONB" => ty.with_annotation(TypeAnnotation::PgJsonb),
        rest => panic!("`{rest}` behind the type in `{text}`"),
    }
}

struct Parser<'a>(&'a str);

impl Parser<'_> {
    fn ty(&mut self) -> Type {
        let word = self.word();
        match word.as_str() {
            "ARRAY" => {
                self.expect("<");
                let element = self.ty();
                self.expect(">");
                Type::array(element)
            }
            "STRUCT" => {
                self.expect("<");
                let mut fields = Vec::new();
                while !self.take(">") {
                    let name = self.word();
                    self.expect(" ");
                    fields.push(Field::new(name, self.ty()));
                    let _ = self.take(", ");
                }
                Type::structure(RowType::new(fields))
            }
            scalar => Type::new(code(scalar)),
        }
    }

    fn word(&mut self) -> String {
        let end = self
            .0
            .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word.to_owned()
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) {
        assert!(self.take(text), "`{text}` expected before `{}`", self.0);
    }
}

fn code(text: &str) -> TypeCode {
    match text {
        "BOOL" => TypeCode::Bool,
        "INT64" => TypeCode::Int64,
        "FLOAT64" => TypeCode::Float64,
        "FLOAT32" => TypeCode::Float32,
        "TIMESTAMP" => TypeCode::Timestamp,
        "DATE" => TypeCode::Date,
        "STRING" => TypeCode::String,
        "BYTES" => TypeCode::Bytes,
        "NUMERIC" => TypeCode::Numeric,
        "JSON" => TypeCode::Json,
        "PROTO" => TypeCode::Proto,
        "ENUM" => TypeCode::Enum,
        "INTERVAL" => TypeCode::Interval,
        "UUID" => TypeCode::Uuid,
        "UNTYPED" => TypeCode::Unspecified,
        other => match other.strip_prefix("$CODE_") {
            Some(number) => TypeCode::from_number(number.parse().expect("a type code")),
            None => panic!("unknown type `{other}`"),
        },
    }
}

/// The value that a JSON value stands for.
pub(crate) fn value(json: &Json) -> OwnedValue {
    match json {
        Json::Null => OwnedValue::Null,
        Json::Bool(value) => OwnedValue::Bool(*value),
        Json::Number(number) => OwnedValue::Number(number.as_f64().expect("a number")),
        Json::String(text) => OwnedValue::String(text.clone()),
        Json::Array(elements) => OwnedValue::List(elements.iter().map(value).collect()),
        Json::Object(_) => panic!("{json} is not a value that Spanner sends"),
    }
}

/// Adds values to a message; two notations stand for kinds that valid data
/// never has.
pub(crate) fn add_values(message: Message, values: &[Json]) -> Message {
    /// `google.protobuf.Value.struct_value`, an empty object.
    const STRUCT_VALUE: &[u8] = &[0x2a, 0];
    values.iter().fold(message, |message, json| match json {
        Json::Object(object) if object.contains_key("$unset") => message.raw_value(&b""[..]),
        Json::Object(object) if object.contains_key("$struct_value") => {
            message.raw_value(STRUCT_VALUE)
        }
        json => message.values([value(json)]),
    })
}
