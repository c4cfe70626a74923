//! Partitions of google-cloud-spanner, which serialises them as JSON.
//!
//! `{"version":1,"inner":{"Query":{…}}}`, or `"Read"`, where `{…}` is the request that
//! reads the part, as ProtoJSON with the numbers of enums. Here it becomes a message of
//! protocol buffers again, by the tables below.

use serde_json::{Map, Value};

use super::partition::Partition;
use super::partition_text::PartitionFormError;
use super::request::tag;
use crate::wire::writer::{ListWriter, ValueWriter, put_bytes, put_value, put_varint, with_length};

/// Versions of the form, 0 being the one from before there were versions.
const VERSIONS: [u64; 2] = [0, 1];

impl Partition {
    /// A partition that the official client (google-cloud-spanner) has serialised as JSON
    /// (`serde_json::to_string(&partition)`).
    ///
    /// The form is not promised by that client: this is the one of its versions up to
    /// 0.34, and one that has something unknown in it is refused. The read timestamp is
    /// not in it, so [`read_timestamp`](Self::read_timestamp) is `None`.
    ///
    /// # Errors
    ///
    /// The text is not such a partition.
    #[cfg_attr(docsrs, doc(cfg(feature = "serde_json")))]
    pub fn from_official_json(text: &str) -> Result<Self, PartitionFormError> {
        parse(text).map_err(PartitionFormError)
    }
}

fn parse(text: &str) -> Result<Partition, String> {
    let form: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let form = object(&form, "it")?;
    for key in form.keys() {
        if !["version", "inner"].contains(&key.as_str()) {
            return Err(format!("it has a `{key}`, which is not known"));
        }
    }
    match form.get("version").map_or(Some(0), Value::as_u64) {
        Some(version) if VERSIONS.contains(&version) => {}
        _ => return Err("its `version` is none that is known".to_owned()),
    }
    let inner = form.get("inner").ok_or("it has no `inner`")?;
    let mut inner = object(inner, "inner")?.iter();
    let mut request = Vec::new();
    match (inner.next(), inner.next()) {
        (Some((kind, query)), None) if kind == "Query" => {
            encode(object(query, "Query")?, &QUERY, &mut request)?;
            Partition::from_execute_sql_request(&request)
        }
        (Some((kind, read)), None) if kind == "Read" => {
            encode(object(read, "Read")?, &READ, &mut request)?;
            Partition::from_read_request(&request)
        }
        _ => return Err("it is neither of a `Query` nor of a `Read`".to_owned()),
    }
    .map_err(|PartitionFormError(text)| text)
}

/// A message: its fields by name.
struct Message(&'static [(&'static str, u32, Form)]);

/// What a field holds.
#[derive(Clone, Copy)]
enum Form {
    Text,
    /// Bytes.
    Base64,
    Bool,
    /// An integer, as a number or, where it has 64 bits, as text; the number of an enum.
    Integer,
    Message(&'static Message),
    /// `google.protobuf.Struct`
    Struct,
    /// `google.protobuf.ListValue`
    List,
    /// A map from text to messages.
    Map(&'static Message),
    Texts,
    Messages(&'static Message),
    Lists,
}

static QUERY: Message = Message(&[
    ("session", 1, Form::Text),
    ("transaction", 2, Form::Message(&SELECTOR)),
    ("sql", 3, Form::Text),
    ("params", 4, Form::Struct),
    ("paramTypes", 5, Form::Map(&TYPE)),
    ("resumeToken", 6, Form::Base64),
    ("queryMode", 7, Form::Integer),
    ("partitionToken", 8, Form::Base64),
    ("seqno", 9, Form::Integer),
    ("queryOptions", 10, Form::Message(&QUERY_OPTIONS)),
    ("requestOptions", 11, Form::Message(&REQUEST_OPTIONS)),
    ("directedReadOptions", 15, Form::Message(&DIRECTED_READS)),
    ("dataBoostEnabled", 16, Form::Bool),
    ("lastStatement", 17, Form::Bool),
]);

static READ: Message = Message(&[
    ("session", 1, Form::Text),
    ("transaction", 2, Form::Message(&SELECTOR)),
    ("table", 3, Form::Text),
    ("index", 4, Form::Text),
    ("columns", 5, Form::Texts),
    ("keySet", 6, Form::Message(&KEY_SET)),
    ("limit", 8, Form::Integer),
    ("resumeToken", 9, Form::Base64),
    ("partitionToken", 10, Form::Base64),
    ("requestOptions", 11, Form::Message(&REQUEST_OPTIONS)),
    ("directedReadOptions", 14, Form::Message(&DIRECTED_READS)),
    ("dataBoostEnabled", 15, Form::Bool),
    ("orderBy", 16, Form::Integer),
    ("lockHint", 17, Form::Integer),
]);

static SELECTOR: Message = Message(&[("id", 2, Form::Base64)]);

static TYPE: Message = Message(&[
    ("code", 1, Form::Integer),
    ("arrayElementType", 2, Form::Message(&TYPE)),
    ("structType", 3, Form::Message(&STRUCT_TYPE)),
    ("typeAnnotation", 4, Form::Integer),
    ("protoTypeFqn", 5, Form::Text),
]);

static STRUCT_TYPE: Message = Message(&[("fields", 1, Form::Messages(&FIELD))]);

static FIELD: Message = Message(&[("name", 1, Form::Text), ("type", 2, Form::Message(&TYPE))]);

static QUERY_OPTIONS: Message = Message(&[
    ("optimizerVersion", 1, Form::Text),
    ("optimizerStatisticsPackage", 2, Form::Text),
]);

static REQUEST_OPTIONS: Message = Message(&[
    ("priority", 1, Form::Integer),
    ("requestTag", 2, Form::Text),
    ("transactionTag", 3, Form::Text),
]);

static DIRECTED_READS: Message = Message(&[
    ("includeReplicas", 1, Form::Message(&REPLICAS)),
    ("excludeReplicas", 2, Form::Message(&REPLICAS)),
]);

static REPLICAS: Message = Message(&[
    ("replicaSelections", 1, Form::Messages(&REPLICA)),
    ("autoFailoverDisabled", 2, Form::Bool),
]);

static REPLICA: Message = Message(&[("location", 1, Form::Text), ("type", 2, Form::Integer)]);

static KEY_SET: Message = Message(&[
    ("keys", 1, Form::Lists),
    ("ranges", 2, Form::Messages(&KEY_RANGE)),
    ("all", 3, Form::Bool),
]);

static KEY_RANGE: Message = Message(&[
    ("startClosed", 1, Form::List),
    ("startOpen", 2, Form::List),
    ("endClosed", 3, Form::List),
    ("endOpen", 4, Form::List),
]);

/// Appends the fields of a message.
fn encode(
    json: &Map<String, Value>,
    message: &'static Message,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    for (key, value) in json {
        // The request would be another one without what is not known.
        let known = message.0.iter().find(|(name, ..)| name == key);
        let &(_, number, form) =
            known.ok_or_else(|| format!("it has a `{key}`, which is not known"))?;
        if !value.is_null() {
            field(key, value, number, form, out)?;
        }
    }
    Ok(())
}

fn field(
    key: &str,
    value: &Value,
    number: u32,
    form: Form,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    // Without the value, which may be private.
    let wrong = || format!("its `{key}` has a value of another kind");
    match form {
        Form::Text => put(out, number, value.as_str().ok_or_else(wrong)?.as_bytes()),
        Form::Base64 => {
            let text = value.as_str().ok_or_else(wrong)?;
            let bytes = base64_simd::STANDARD.decode_to_vec(text);
            put(out, number, &bytes.map_err(|_| wrong())?);
        }
        Form::Bool => put_integer(out, number, u64::from(value.as_bool().ok_or_else(wrong)?)),
        Form::Integer => {
            let text = value.as_str().and_then(|text| text.parse().ok());
            let integer: i64 = value.as_i64().or(text).ok_or_else(wrong)?;
            put_integer(out, number, integer as u64);
        }
        Form::Message(message) => {
            let mut content = Vec::new();
            encode(object(value, key)?, message, &mut content)?;
            put(out, number, &content);
        }
        Form::Struct => {
            let mut content = Vec::new();
            for (name, value) in object(value, key)? {
                let entry = entry(name, |out| {
                    let mut written = Ok(());
                    put_value(out, tag(2), |out| written = write(value, out));
                    written
                })?;
                put_bytes(&mut content, tag(1), &entry);
            }
            put(out, number, &content);
        }
        Form::Map(message) => {
            for (name, value) in object(value, key)? {
                let entry = entry(name, |out| {
                    field(name, value, 2, Form::Message(message), out)
                })?;
                put(out, number, &entry);
            }
        }
        Form::List => {
            let mut content = Vec::new();
            write_list(
                value.as_array().ok_or_else(wrong)?,
                &mut ListWriter::new(&mut content),
            )?;
            put(out, number, &content);
        }
        Form::Texts => each(key, value, number, Form::Text, out)?,
        Form::Messages(message) => each(key, value, number, Form::Message(message), out)?,
        Form::Lists => each(key, value, number, Form::List, out)?,
    }
    Ok(())
}

/// A repeated field.
fn each(
    key: &str,
    value: &Value,
    number: u32,
    form: Form,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let elements = value.as_array();
    let elements = elements.ok_or_else(|| format!("its `{key}` is not a list"))?;
    elements
        .iter()
        .try_for_each(|element| field(key, element, number, form, out))
}

/// An entry of a map.
fn entry(
    name: &str,
    value: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<Vec<u8>, String> {
    let mut entry = Vec::new();
    put_bytes(&mut entry, tag(1), name.as_bytes());
    value(&mut entry)?;
    Ok(entry)
}

/// A `google.protobuf.Value`.
fn write(value: &Value, out: ValueWriter<'_>) -> Result<(), String> {
    match value {
        Value::Null => out.null(),
        Value::Bool(value) => out.bool(*value),
        Value::Number(number) => {
            let number = number
                .as_f64()
                .ok_or_else(|| format!("{number} is no number"))?;
            out.number(number);
        }
        Value::String(text) => out.string(text),
        Value::Array(elements) => {
            let mut written = Ok(());
            out.list(|out| written = write_list(elements, out));
            written?;
        }
        Value::Object(_) => return Err("a value is an object, which Spanner has not".to_owned()),
    }
    Ok(())
}

fn write_list(elements: &[Value], out: &mut ListWriter<'_>) -> Result<(), String> {
    for element in elements {
        let mut written = Ok(());
        out.element(|out| written = write(element, out));
        written?;
    }
    Ok(())
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("`{what}` is not an object"))
}

/// A length-delimited field, whose tag may have two bytes.
fn put(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    put_varint(out, u64::from(number << 3 | 2));
    with_length(out, |out| out.extend_from_slice(content));
}

fn put_integer(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number << 3));
    put_varint(out, value);
}
