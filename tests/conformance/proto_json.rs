//! Messages and types in the JSON form of protobuf, as other clients' cases have them.

use serde_json::Value as Json;
use spanner_rows::testing::Message;
use spanner_rows::{Field, RowType, Type, TypeAnnotation, TypeCode};

use crate::json::add_values;

/// A `PartialResultSet`. Tokens are taken by their text: they are opaque.
pub(crate) fn message(json: &Json) -> Message {
    let mut message = Message::new();
    if let Some(metadata) = json.get("metadata") {
        message = message.row_type(&row_type(&metadata["rowType"]));
    }
    if let Some(values) = json["values"].as_array() {
        message = add_values(message, values);
    }
    if json["chunkedValue"] == true {
        message = message.chunked();
    }
    if let Some(token) = json["resumeToken"].as_str() {
        message = message.resume_token(token.to_owned());
    }
    if json["last"] == true {
        message = message.last();
    }
    message
}

fn row_type(json: &Json) -> RowType {
    let fields = json["fields"].as_array().into_iter().flatten();
    RowType::new(fields.map(|field| {
        let name = field["name"].as_str().unwrap_or_default();
        Field::new(name, type_of(&field["type"]))
    }))
}

fn type_of(json: &Json) -> Type {
    let ty = match json["code"].as_str().unwrap() {
        "ARRAY" => Type::array(type_of(&json["arrayElementType"])),
        "STRUCT" => Type::structure(row_type(&json["structType"])),
        "BOOL" => TypeCode::Bool.into(),
        "INT64" => TypeCode::Int64.into(),
        "FLOAT64" => TypeCode::Float64.into(),
        "STRING" => TypeCode::String.into(),
        "BYTES" => TypeCode::Bytes.into(),
        "TIMESTAMP" => TypeCode::Timestamp.into(),
        "NUMERIC" => TypeCode::Numeric.into(),
        "JSON" => TypeCode::Json.into(),
        other => panic!("unknown type code {other}"),
    };
    match json["typeAnnotation"].as_str() {
        Some("PG_NUMERIC") => ty.with_annotation(TypeAnnotation::PgNumeric),
        Some(other) => panic!("unknown annotation {other}"),
        None => ty,
    }
}
