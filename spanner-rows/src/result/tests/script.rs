//! Scripts of whole results in JSON, and running them.

use serde_json::Value;

use super::support::{Driver, Row};
use crate::error::{Code, Status};
use crate::result::reader::ResultReader;
use crate::result::retry::RetrySettings;
use crate::row::dynamic::Row as DynamicRow;
use crate::row::segment::Shape;
use crate::row::traits::SpannerRow;
use crate::row::value::OwnedValue;
use crate::wire::samples::{Sample, SampleMessage, SampleMetadata, SampleStats};
use crate::wire::{Field, RowType, Type, TypeCode};

/// A file of `tests/data`.
pub(super) fn data(name: &str) -> Value {
    let path = format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

pub(super) fn list(json: &Value) -> &[Value] {
    json.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(json: &Value) -> &str {
    json.as_str().unwrap_or_default()
}

/// A value in the format that all the files share.
pub(super) fn sample(json: &Value) -> Sample {
    match json {
        Value::Null => Sample::Null,
        Value::Bool(value) => Sample::Bool(*value),
        Value::Number(value) => Sample::Number(value.as_f64().unwrap()),
        Value::String(text) => Sample::text(text),
        Value::Array(elements) => Sample::List(elements.iter().map(sample).collect()),
        Value::Object(object) if object.contains_key("$struct_value") => Sample::Struct,
        Value::Object(object) if object.contains_key("$unset") => Sample::Unset,
        Value::Object(object) => panic!("not a value: {object:?}"),
    }
}

pub(super) fn samples(json: &Value) -> Vec<Sample> {
    list(json).iter().map(sample).collect()
}

pub(super) fn rows(json: &Value) -> Vec<Row> {
    list(json).iter().map(samples).collect()
}

/// Columns written as `["name TYPE", …]`.
pub(super) fn columns(json: &Value) -> RowType {
    RowType::new(list(json).iter().map(|column| field(text(column))))
}

fn field(text: &str) -> Field {
    let (name, ty) = text.split_once(' ').unwrap_or(("", text));
    Field::new(name, type_of(ty))
}

/// A type as GoogleSQL writes it; `$CODE_n` for one that is not known.
pub(super) fn type_of(text: &str) -> Type {
    if let Some(element) = inside(text, "ARRAY") {
        return Type::array(type_of(element));
    }
    if let Some(fields) = inside(text, "STRUCT") {
        return Type::structure(RowType::new(split_fields(fields).into_iter().map(field)));
    }
    if let Some(code) = text.strip_prefix("$CODE_") {
        return TypeCode::Unknown(code.parse().unwrap()).into();
    }
    let code = match text {
        "UNTYPED" => TypeCode::Unspecified,
        name => (1..20)
            .map(TypeCode::from_number)
            .find(|code| code.to_string() == name)
            .unwrap_or_else(|| panic!("no type {name:?}")),
    };
    code.into()
}

fn inside<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name)?
        .strip_prefix('<')?
        .strip_suffix('>')
}

fn split_fields(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|field| !field.is_empty())
    .collect()
}

/// A status by the name of its code, as `{"code": …, "message": …}`.
fn status(json: &Value) -> Option<Status> {
    let name = text(&json["code"]);
    let code = (1..17)
        .map(Code::from_number)
        .find(|code| code.to_string() == name);
    match code {
        Some(code) => {
            let delay = json["retry_delay_ms"].as_u64();
            let status = Status::new(code, text(&json["message"]));
            Some(status.with_retry_delay(delay.map(std::time::Duration::from_millis)))
        }
        None => {
            assert_eq!(name, "OK");
            None
        }
    }
}

pub(super) enum Event {
    Message(Box<SampleMessage>),
    /// Bytes that no sample describes.
    Raw(Vec<u8>),
    Status(Option<Status>),
}

/// One call: the token that the client must send, and what it gets.
pub(super) struct Attempt {
    pub(super) token: Vec<u8>,
    /// The transaction selector that the client must send.
    pub(super) transaction: Option<String>,
    pub(super) events: Vec<Event>,
}

/// The attempts of a case of `chunk-cases.json`.
pub(super) fn attempts(case: &Value) -> Vec<Attempt> {
    let row_type = columns(&case["columns"]);
    let attempt = |json: &Value| {
        let request = &json["expect_request"];
        let token = text(&request["resume_token"]);
        let mut first = token.is_empty();
        let mut message = |json: &Value| {
            let first = std::mem::take(&mut first);
            message(json, first, &row_type)
        };
        Attempt {
            token: token.into(),
            transaction: request["transaction"].as_str().map(str::to_owned),
            events: list(&json["events"])
                .iter()
                .map(|event| match event.get("status") {
                    Some(json) => Event::Status(status(json)),
                    None => Event::Message(Box::new(message(event))),
                })
                .collect(),
        }
    };
    list(&case["attempts"]).iter().map(attempt).collect()
}

fn message(json: &Value, first: bool, row_type: &RowType) -> SampleMessage {
    let row_type = match &json["metadata"] {
        Value::Bool(true) => Some(row_type.clone()),
        Value::Array(_) => Some(columns(&json["metadata"])),
        _ if first && json["no_metadata"] != true => Some(row_type.clone()),
        _ => None,
    };
    let stats = json.get("stats").map(|stats| SampleStats {
        exact: stats["row_count_exact"].as_i64(),
        query_stats: stats["query_stats"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), sample(value)))
            .collect(),
        ..SampleStats::default()
    });
    SampleMessage {
        metadata: row_type.map(|row_type| SampleMetadata {
            row_type: Some(row_type),
            transaction_id: text(&json["transaction_id"]).into(),
            ..SampleMetadata::default()
        }),
        values: samples(&json["values"]),
        chunked: json["chunked_value"] == true,
        token: text(&json["resume_token"]).into(),
        stats,
        precommit: json.get("precommit").map(|token| {
            let seq = token["seq"].as_i64().unwrap() as i32;
            (text(&token["token"]).into(), seq)
        }),
        last: json["last"] == true,
    }
}

/// The reader that the configuration of a case asks for.
pub(super) fn reader(case: &Value) -> ResultReader {
    let config = &case["config"];
    let mut settings = RetrySettings::new();
    if let Some(messages) = config["max_held_messages"].as_u64() {
        settings = settings.hold_messages(messages as usize);
    }
    match config["transaction"].as_str() {
        Some("begin") => ResultReader::new(settings).expecting_transaction_id(),
        None => ResultReader::new(settings),
        Some(other) => panic!("transaction {other:?}"),
    }
}

/// Runs a script to its end, checking each request.
pub(super) fn run(reader: ResultReader, attempts: Vec<Attempt>) -> Driver {
    let mut driver = Driver::new(reader);
    let mut next = Some(Vec::new());
    for attempt in attempts {
        let token = next.take().expect("one attempt more than expected");
        assert_eq!(token, attempt.token, "resume token of the request");
        if let Some(expected) = &attempt.transaction {
            let selector = match driver.reader.transaction_id() {
                None => "begin".to_owned(),
                Some(id) => format!("id:{}", String::from_utf8_lossy(id)),
            };
            assert_eq!(&selector, expected, "transaction of the request");
        }
        let mut ended = false;
        for event in attempt.events {
            assert!(!ended, "events after the status");
            match event {
                Event::Message(message) => {
                    driver.receive(&message);
                }
                Event::Raw(bytes) => driver.receive_raw(bytes),
                Event::Status(None) => {
                    driver.end();
                    ended = true;
                }
                Event::Status(Some(status)) => {
                    next = driver.fail(status);
                    ended = true;
                }
            }
        }
        if !ended {
            driver.end();
        }
    }
    assert_eq!(next, None, "an attempt fewer than expected");
    assert!(driver.reader.is_finished());
    driver
}

/// The same rows by way of the row layer, as a user reads them without a struct.
pub(super) fn owned_rows(
    reader: &ResultReader,
    batch: &crate::result::assembler::Batch,
) -> Vec<Vec<OwnedValue>> {
    let shape = Shape::bind::<DynamicRow<'_>>(reader.row_type().unwrap().clone()).unwrap();
    let mut rows = Vec::new();
    for segment in batch.joined.iter().chain([&batch.rows]) {
        for i in 0..segment.rows() {
            let row = segment
                .read(&shape, i, 0, |cursor| {
                    let row = DynamicRow::decode(cursor, &mut ())?;
                    row.values()
                        .map(|value| value.map(OwnedValue::from))
                        .collect::<Result<Vec<_>, _>>()
                })
                .unwrap();
            rows.push(row);
        }
    }
    rows
}

/// What a sample is for the row layer.
pub(super) fn owned(sample: &Sample) -> OwnedValue {
    match sample {
        Sample::Null => OwnedValue::Null,
        Sample::Bool(value) => OwnedValue::Bool(*value),
        Sample::Number(value) => OwnedValue::Number(*value),
        Sample::Text(text) => OwnedValue::String(text.clone()),
        Sample::List(elements) => OwnedValue::List(elements.iter().map(owned).collect()),
        Sample::Struct | Sample::Unset => panic!("no value: {sample:?}"),
    }
}

/// The scripts of `bug-cases.json` and the messages of the shared acceptance cases:
/// `PartialResultSet` in the JSON form of protobuf.
pub(super) mod proto_json {
    use super::*;

    pub(in super::super) fn attempts(wire: &Value) -> Vec<Attempt> {
        list(wire)
            .iter()
            .map(|attempt| Attempt {
                token: decode_base64(&attempt["expectResumeToken"]),
                transaction: None,
                events: list(&attempt["events"])
                    .iter()
                    .filter_map(|event| match event.get("error") {
                        Some(json) => Some(Event::Status(status(json))),
                        None if event.get("sleep_ms").is_some() => None,
                        None => Some(Event::Message(Box::new(message(event)))),
                    })
                    .collect(),
            })
            .collect()
    }

    pub(in super::super) fn message(json: &Value) -> SampleMessage {
        SampleMessage {
            metadata: json.get("metadata").map(|metadata| SampleMetadata {
                row_type: Some(row_type(&metadata["rowType"])),
                ..SampleMetadata::default()
            }),
            values: samples(&json["values"]),
            chunked: json["chunkedValue"] == true,
            token: decode_base64(&json["resumeToken"]),
            last: json["last"] == true,
            ..SampleMessage::default()
        }
    }

    fn row_type(json: &Value) -> RowType {
        RowType::new(
            list(&json["fields"])
                .iter()
                .map(|field| Field::new(text(&field["name"]), type_of(&field["type"]))),
        )
    }

    fn type_of(json: &Value) -> Type {
        match text(&json["code"]) {
            "ARRAY" => Type::array(type_of(&json["arrayElementType"])),
            "STRUCT" => Type::structure(row_type(&json["structType"])),
            name => super::type_of(name),
        }
    }

    fn decode_base64(json: &Value) -> Vec<u8> {
        base64_simd::STANDARD.decode_to_vec(text(json)).unwrap()
    }
}
