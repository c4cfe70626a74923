//! Serialised messages, behind one that names the columns: the rows are those that a
//! decoder made with prost, an assembler that copies, and other libraries' parsers give,
//! or there is an error where they have one.

use std::fmt::Debug;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use spanner_rows::{OwnedValue, RetrySettings, Row, RowReader, SpannerRow};

use crate::frames;
use crate::model::{self, Assembler, Value};
use crate::wire::{self, Type};

/// `google.spanner.v1.PartialResultSet`, without statistics.
#[derive(Clone, PartialEq, Message)]
struct PartialResultSet {
    /// Not read; the message that names the columns comes first.
    #[prost(bytes = "vec", tag = "1")]
    metadata: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    values: Vec<ProtoValue>,
    #[prost(bool, tag = "3")]
    chunked_value: bool,
    #[prost(bytes = "vec", tag = "4")]
    resume_token: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    stats: Vec<u8>,
    #[prost(message, optional, tag = "8")]
    precommit_token: Option<PrecommitToken>,
    #[prost(bool, tag = "9")]
    last: bool,
}

#[derive(Clone, PartialEq, Message)]
struct PrecommitToken {
    #[prost(bytes = "vec", tag = "1")]
    token: Vec<u8>,
    #[prost(int32, tag = "2")]
    seq_num: i32,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoValue {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    kind: Option<Kind>,
}

/// Strings as bytes: half of a letter may stand in each of two messages.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(int32, tag = "1")]
    Null(i32),
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(bytes, tag = "3")]
    Text(Vec<u8>),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(bytes, tag = "5")]
    Struct(Vec<u8>),
    #[prost(message, tag = "6")]
    List(ProtoList),
}

#[derive(Clone, PartialEq, Message)]
struct ProtoList {
    #[prost(message, repeated, tag = "1")]
    values: Vec<ProtoValue>,
}

impl From<ProtoValue> for Value {
    fn from(value: ProtoValue) -> Self {
        match value.kind {
            Some(Kind::Null(_)) => Self::Null,
            Some(Kind::Number(number)) => Self::Number(number),
            Some(Kind::Text(text)) => Self::Text(text),
            Some(Kind::Bool(value)) => Self::Bool(value),
            Some(Kind::Struct(_)) => Self::Struct,
            Some(Kind::List(list)) => Self::List(list.values.into_iter().map(Self::from).collect()),
            None => Self::Unset,
        }
    }
}

#[derive(SpannerRow, Debug)]
struct InOrder<'row> {
    id: i64,
    name: &'row str,
    ok: Option<bool>,
    ratio: f64,
    data: Option<&'row [u8]>,
    tags: Vec<Option<&'row str>>,
}

#[derive(SpannerRow, Debug)]
struct OutOfOrder<'row> {
    tags: Vec<Option<&'row str>>,
    data: Option<&'row [u8]>,
    ratio: f64,
    ok: Option<bool>,
    name: &'row str,
    id: i64,
}

#[derive(SpannerRow, Debug)]
struct Owned {
    id: i64,
    name: String,
    ok: Option<bool>,
    ratio: f64,
    data: Option<Vec<u8>>,
    tags: Vec<Option<String>>,
}

fn columns() -> [(&'static str, Type); 6] {
    [
        ("id", Type::Scalar(2)),
        ("name", Type::Scalar(6)),
        ("ok", Type::Scalar(1)),
        ("ratio", Type::Scalar(3)),
        ("data", Type::Scalar(7)),
        ("tags", Type::array(Type::Scalar(6))),
    ]
}

/// The fields of a row, comparable.
#[derive(Debug, PartialEq)]
struct Fields {
    id: i64,
    name: String,
    ok: Option<bool>,
    /// The bits: NaN is a value like any other.
    ratio: u64,
    data: Option<Vec<u8>>,
    tags: Vec<Option<String>>,
}

/// What other decoders make of the messages.
#[derive(Default)]
struct Expected {
    rows: Vec<Vec<Value>>,
    fails: bool,
}

pub fn entry(data: &[u8]) {
    let messages: Vec<_> = frames::split(data).collect();
    let Some(expected) = expect(&messages) else {
        return;
    };
    for hold in [0, 1_000] {
        let settings = RetrySettings::new().hold_messages(hold);
        let read = |end: &Ended, rows: usize| end.compare(&expected, rows, hold == 0);
        let (rows, end) = by_row(reader(&messages, &settings));
        read(&end, rows.len());
        for (row, expected) in rows.iter().zip(&expected.rows) {
            let expected: Result<Vec<_>, _> = expected.iter().map(Value::to_owned).collect();
            match (row, expected) {
                (Some(row), Ok(expected)) => {
                    assert!(model::same(row, &expected), "{row:?} {expected:?}");
                }
                (None, Err(_)) => {}
                (row, expected) => panic!("{row:?} {expected:?}"),
            }
        }
        // A value that prost cannot decode may be an error of its row only.
        if expected.fails && end.error.is_none() {
            assert!(rows.iter().skip(expected.rows.len()).any(Option::is_none));
        }
        let compare = |i: usize, row: Result<Fields, String>| {
            if let Some(expected) = expected.rows.get(i) {
                assert_eq!(row.as_ref().ok(), fields_of(expected).as_ref(), "{row:?}");
            }
        };
        macro_rules! check {
            ($($row:ident)*) => {
                $({
                    let mut rows = reader::<$row>(&messages, &settings);
                    let mut n = 0;
                    let error = loop {
                        match rows.next() {
                            Ok(Some(row)) => compare(n, Ok(fields!(row))),
                            Ok(None) => break None,
                            Err(error) if error.is_row_error() => compare(n, Err(error.to_string())),
                            Err(error) => break Some(error),
                        }
                        n += 1;
                    };
                    let end = Ended::of(&rows, error);
                    read(&end, n);
                    let mut rows = reader::<$row>(&messages, &settings);
                    let mut n = 0;
                    let error = loop {
                        let batch = match rows.next_batch() {
                            Ok(Some(batch)) => batch,
                            Ok(None) => break None,
                            Err(error) => break Some(error),
                        };
                        for row in &batch {
                            compare(n, row.map(|row| fields!(row)).map_err(|error| error.to_string()));
                            n += 1;
                        }
                    };
                    read(&Ended::of(&rows, error), n);
                })*
            };
        }
        check!(InOrder OutOfOrder Owned);
    }
}

macro_rules! fields {
    ($row:expr) => {
        Fields {
            id: $row.id,
            name: String::from(&*$row.name),
            ok: $row.ok,
            ratio: $row.ratio.to_bits(),
            data: $row.data.as_deref().map(<[u8]>::to_vec),
            tags: $row
                .tags
                .iter()
                .map(|tag| tag.as_deref().map(str::to_owned))
                .collect(),
        }
    };
}
use fields;

/// `None` for what the decoders are free to see differently.
fn expect(messages: &[&[u8]]) -> Option<Expected> {
    let mut assembler = Assembler::new(columns().len());
    let mut expected = Expected::default();
    for message in messages {
        let message = match PartialResultSet::decode(*message) {
            Ok(message) => message,
            // It counts values and lists, and stops at half the depth.
            Err(error) if error.to_string().contains("recursion limit") => return None,
            Err(_) => {
                expected.fails = true;
                return Some(expected);
            }
        };
        if !message.metadata.is_empty() || !message.stats.is_empty() {
            return None;
        }
        let values = message.values.into_iter().map(Value::from).collect();
        match assembler.take(values, message.chunked_value) {
            Ok(rows) => expected.rows.extend(rows),
            Err(_) => {
                expected.fails = true;
                return Some(expected);
            }
        }
        if assembler.is_too_deep() {
            return None;
        }
        if message.last {
            break;
        }
    }
    expected.fails = assembler.end().is_err();
    Some(expected)
}

/// The row as a struct reads it, if it can.
fn fields_of(row: &[Value]) -> Option<Fields> {
    let [id, name, ok, ratio, data, tags] = row else {
        return None;
    };
    let text = |value: &Value| match value {
        Value::Text(text) => String::from_utf8(text.clone()).ok(),
        _ => None,
    };
    Some(Fields {
        id: text(id)
            .filter(|id| !id.starts_with('+'))
            .and_then(|id| id.parse().ok())?,
        name: text(name)?,
        ok: match ok {
            Value::Null => None,
            Value::Bool(value) => Some(*value),
            _ => return None,
        },
        ratio: match ratio {
            Value::Number(number) => number.to_bits(),
            _ => match &*text(ratio)? {
                "NaN" => f64::NAN.to_bits(),
                "Infinity" => f64::INFINITY.to_bits(),
                "-Infinity" => f64::NEG_INFINITY.to_bits(),
                _ => return None,
            },
        },
        data: match data {
            Value::Null => None,
            value => Some(STANDARD.decode(text(value)?).ok()?),
        },
        tags: match tags {
            Value::List(tags) => tags
                .iter()
                .map(|tag| match tag {
                    Value::Null => Some(None),
                    tag => text(tag).map(Some),
                })
                .collect::<Option<_>>()?,
            _ => return None,
        },
    })
}

fn reader<T: SpannerRow>(messages: &[&[u8]], settings: &RetrySettings) -> RowReader<T> {
    let mut reader = RowReader::new(settings);
    reader.receive(wire::metadata(&columns()).into());
    for message in messages {
        reader.receive(message.to_vec().into());
    }
    reader.end();
    reader
}

/// The rows without a struct; `None` for one of which a value cannot be read.
fn by_row(mut reader: RowReader<Row<'_>>) -> (Vec<Option<Vec<OwnedValue>>>, Ended) {
    let mut rows = Vec::new();
    let error = loop {
        match reader.next() {
            Ok(Some(row)) => rows.push(
                row.values()
                    .map(|value| value.ok().map(OwnedValue::from))
                    .collect(),
            ),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    (rows, Ended::of(&reader, error))
}

/// How a result ended.
struct Ended {
    error: Option<String>,
}

impl Ended {
    fn of<T: SpannerRow>(reader: &RowReader<T>, error: Option<spanner_rows::Error>) -> Self {
        assert!(reader.is_finished());
        assert_eq!(reader.held_bytes(), 0);
        Self {
            error: error.map(|error| error.to_string()),
        }
    }

    fn compare(&self, expected: &Expected, rows: usize, at_once: bool) {
        let error = self.error.as_deref().unwrap_or_default();
        // Legal, but written by nobody, and refused.
        if [
            "one value holds two lists",
            "a field number is out of range",
        ]
        .iter()
        .any(|refused| error.contains(refused))
        {
            return;
        }
        if expected.fails {
            assert!(self.error.is_some() || rows > expected.rows.len());
            // What is held when a message is malformed is dropped.
            assert!(!at_once || rows >= expected.rows.len());
        } else {
            assert_eq!(self.error, None);
            assert_eq!(rows, expected.rows.len());
        }
    }
}
