//! Values and messages for tests: written here by hand, field by field, so that
//! what tests compare with does not come from the code they test.

use bytes::Bytes;

use super::RowType;
use super::reader::Span;
use super::value::{self, Elements, Kind};
use super::writer::{put_bytes, put_varint, with_length};

/// A `google.protobuf.Value` of any kind, those included that never occur in valid data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sample {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Self>),
    /// `struct_value` with one field.
    Struct,
    /// No kind at all.
    Unset,
}

impl Sample {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Appends the content of the `Value` message.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(&[0x08, 0]),
            Self::Bool(value) => out.extend_from_slice(&[0x20, u8::from(*value)]),
            Self::Number(value) => {
                out.push(0x11);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Self::Text(text) => put_bytes(out, 0x1a, text.as_bytes()),
            Self::List(elements) => {
                out.push(0x32);
                with_length(out, |out| {
                    for element in elements {
                        put_bytes(out, 0x0a, &element.encoded());
                    }
                });
            }
            Self::Struct => put_bytes(out, 0x2a, b"\x0a\x07\x0a\x01a\x12\x02\x08\x00"),
            Self::Unset => {}
        }
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    pub(crate) fn decode(wire: &[u8], span: Span) -> Self {
        match value::read(wire, span).expect("a well-formed value") {
            Kind::Null => Self::Null,
            Kind::Bool(value) => Self::Bool(value),
            Kind::Number(value) => Self::Number(value),
            Kind::String(text) => {
                Self::text(std::str::from_utf8(text.of(wire)).expect("text is UTF-8"))
            }
            Kind::List(list) => Self::List(decode_all(Elements::of_list(wire, list), wire)),
            Kind::Struct(_) => Self::Struct,
            Kind::Unset => Self::Unset,
        }
    }

    /// The values in a run of `PartialResultSet.values`.
    pub(crate) fn decode_values(wire: &[u8]) -> Vec<Self> {
        let whole = Span {
            start: 0,
            end: wire.len(),
        };
        decode_all(Elements::of_row(wire, whole), wire)
    }
}

fn decode_all(mut elements: Elements<'_>, wire: &[u8]) -> Vec<Sample> {
    let mut values = Vec::new();
    while let Some(span) = elements.next().expect("well-formed elements") {
        values.push(Sample::decode(wire, span));
    }
    values
}

/// A `PartialResultSet` to be encoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampleMessage {
    pub(crate) metadata: Option<SampleMetadata>,
    pub(crate) values: Vec<Sample>,
    pub(crate) chunked: bool,
    pub(crate) token: Vec<u8>,
    pub(crate) stats: Option<SampleStats>,
    pub(crate) precommit: Option<(Vec<u8>, i32)>,
    pub(crate) last: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampleMetadata {
    pub(crate) row_type: Option<RowType>,
    pub(crate) transaction_id: Vec<u8>,
    pub(crate) read_timestamp: Option<(i64, i32)>,
    pub(crate) undeclared_parameters: Option<RowType>,
    pub(crate) precommit: Option<(Vec<u8>, i32)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SampleStats {
    pub(crate) plan: Vec<u8>,
    pub(crate) query_stats: Vec<(String, Sample)>,
    pub(crate) exact: Option<i64>,
    pub(crate) lower_bound: Option<i64>,
}

impl SampleMessage {
    /// A message of these values.
    pub(crate) fn of(values: impl IntoIterator<Item = Sample>) -> Self {
        Self {
            values: values.into_iter().collect(),
            ..Self::default()
        }
    }

    pub(crate) fn columns(mut self, row_type: &RowType) -> Self {
        self.metadata = Some(SampleMetadata {
            row_type: Some(row_type.clone()),
            ..SampleMetadata::default()
        });
        self
    }

    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    pub(crate) fn token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.token = token.into();
        self
    }

    pub(crate) fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// The message as servers write it: fields by number.
    pub(crate) fn encode(&self) -> Bytes {
        self.fields().concat().into()
    }

    /// The fields one by one, each with its tag.
    pub(crate) fn fields(&self) -> Vec<Vec<u8>> {
        let mut fields = Vec::new();
        let mut field = |tag: u8, content: &[u8]| {
            let mut out = Vec::new();
            put_bytes(&mut out, tag, content);
            fields.push(out);
        };
        if let Some(metadata) = &self.metadata {
            field(0x0a, &metadata.encode());
        }
        for value in &self.values {
            field(0x12, &value.encoded());
        }
        if !self.token.is_empty() {
            field(0x22, &self.token);
        }
        if let Some(stats) = &self.stats {
            field(0x2a, &stats.encode());
        }
        if let Some(token) = &self.precommit {
            field(0x42, &encode_precommit(token));
        }
        // Scalars: written apart, as they have no length.
        if self.chunked {
            fields.push(vec![0x18, 1]);
        }
        if self.last {
            fields.push(vec![0x48, 1]);
        }
        fields
    }
}

impl SampleMetadata {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(row_type) = &self.row_type {
            out.push(0x0a);
            with_length(&mut out, |out| row_type.encode(out));
        }
        let mut transaction = Vec::new();
        if !self.transaction_id.is_empty() {
            put_bytes(&mut transaction, 0x0a, &self.transaction_id);
        }
        if let Some((seconds, nanos)) = self.read_timestamp {
            transaction.push(0x12);
            with_length(&mut transaction, |out| {
                out.push(0x08);
                put_varint(out, seconds as u64);
                out.push(0x10);
                put_varint(out, i64::from(nanos) as u64);
            });
        }
        if let Some(token) = &self.precommit {
            put_bytes(&mut transaction, 0x1a, &encode_precommit(token));
        }
        if !transaction.is_empty() {
            put_bytes(&mut out, 0x12, &transaction);
        }
        if let Some(row_type) = &self.undeclared_parameters {
            out.push(0x1a);
            with_length(&mut out, |out| row_type.encode(out));
        }
        out
    }
}

impl SampleStats {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.plan.is_empty() {
            put_bytes(&mut out, 0x0a, &self.plan);
        }
        if !self.query_stats.is_empty() {
            out.push(0x12);
            with_length(&mut out, |out| {
                for (name, value) in &self.query_stats {
                    out.push(0x0a);
                    with_length(out, |out| {
                        put_bytes(out, 0x0a, name.as_bytes());
                        put_bytes(out, 0x12, &value.encoded());
                    });
                }
            });
        }
        for (tag, count) in [(0x18, self.exact), (0x20, self.lower_bound)] {
            if let Some(count) = count {
                out.push(tag);
                put_varint(&mut out, count as u64);
            }
        }
        out
    }
}

fn encode_precommit((token, seq_num): &(Vec<u8>, i32)) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 0x0a, token);
    out.push(0x10);
    put_varint(&mut out, i64::from(*seq_num) as u64);
    out
}

/// What proptest makes samples of.
pub(crate) mod strategy {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::Sample;
    use crate::wire::{Field, RowType, TypeCode};

    /// Any value that a server may send.
    pub(crate) fn value() -> impl Strategy<Value = Sample> {
        let leaf = prop_oneof![
            1 => Just(Sample::Null),
            1 => any::<bool>().prop_map(Sample::Bool),
            1 => (-1e9..1e9).prop_map(Sample::Number),
            4 => "[a-c\u{e9}\u{1f600}]{0,6}".prop_map(Sample::Text),
            1 => "[ab]{120,140}".prop_map(Sample::Text),
        ];
        leaf.prop_recursive(4, 24, 5, |element| {
            vec(element, 0..5).prop_map(Sample::List)
        })
    }

    /// Any value, the kinds included that no server may send.
    pub(crate) fn any_value() -> impl Strategy<Value = Sample> {
        let leaf = prop_oneof![
            2 => Just(Sample::Null),
            2 => Just(Sample::Number(1.5)),
            6 => "[a-c]{0,3}".prop_map(Sample::Text),
            1 => Just(Sample::Struct),
            1 => Just(Sample::Unset),
        ];
        leaf.prop_recursive(3, 12, 4, |element| {
            vec(element, 0..4).prop_map(Sample::List)
        })
    }

    /// Some columns; assembly does not ask for their types.
    pub(crate) fn columns(count: usize) -> RowType {
        RowType::new((0..count).map(|i| Field::new(format!("c{i}"), TypeCode::String.into())))
    }
}
