//! Values and the rules of assembly in the simplest form: whole values, joined by
//! copying.

use std::collections::VecDeque;

use arbitrary::Arbitrary;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use spanner_rows::OwnedValue;

use crate::wire::put;

/// A `google.protobuf.Value`, the forms included that no server may send.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    /// Not necessarily UTF-8.
    Text(Vec<u8>),
    List(Vec<Self>),
    Struct,
    Unset,
}

/// A value as bytes choose it, those that are valid often.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum Sketch {
    Null,
    Bool(bool),
    Number(f64),
    Integer(i64),
    Text(String),
    Base64(Vec<u8>),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Struct,
    Unset,
}

impl Sketch {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(value) => Value::Number(*value),
            Self::Integer(value) => Value::text(&value.to_string()),
            Self::Text(text) => Value::text(text),
            Self::Base64(bytes) => Value::text(&STANDARD.encode(bytes)),
            Self::Bytes(bytes) => Value::Text(bytes.clone()),
            Self::List(elements) => Value::List(elements.iter().map(Self::value).collect()),
            Self::Struct => Value::Struct,
            Self::Unset => Value::Unset,
        }
    }
}

/// A rule is broken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Broken;

/// Lists inside of lists beyond this are refused.
const MOST_LISTS: usize = 100;

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }

    /// Appends the content of the message.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(&[0x08, 0]),
            Self::Bool(value) => out.extend_from_slice(&[0x20, u8::from(*value)]),
            Self::Number(value) => {
                out.push(0x11);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Self::Text(text) => put(out, 0x1a, text),
            Self::List(elements) => {
                let mut list = Vec::new();
                for element in elements {
                    put(&mut list, 0x0a, &element.encoded());
                }
                put(out, 0x32, &list);
            }
            Self::Struct => put(out, 0x2a, b"\x0a\x07\x0a\x01a\x12\x02\x08\x00"),
            Self::Unset => {}
        }
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// The value as a row without a struct shows it.
    pub(crate) fn to_owned(&self) -> Result<OwnedValue, Broken> {
        self.owned_within(MOST_LISTS)
    }

    fn owned_within(&self, lists: usize) -> Result<OwnedValue, Broken> {
        Ok(match self {
            Self::Null => OwnedValue::Null,
            Self::Bool(value) => OwnedValue::Bool(*value),
            Self::Number(value) => OwnedValue::Number(*value),
            Self::Text(text) => {
                OwnedValue::String(String::from_utf8(text.clone()).map_err(|_| Broken)?)
            }
            Self::List(elements) => {
                let lists = lists.checked_sub(1).ok_or(Broken)?;
                let elements = elements.iter().map(|value| value.owned_within(lists));
                OwnedValue::List(elements.collect::<Result<_, _>>()?)
            }
            Self::Struct | Self::Unset => return Err(Broken),
        })
    }

    fn depth(&self) -> usize {
        match self {
            Self::List(elements) => 1 + elements.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether the value, the last one of a message, can go on in the next: at every
    /// level down.
    fn can_go_on(&self) -> bool {
        matches!(self, Self::Text(_) | Self::List(_)) && self.may_stand_at_seam()
    }

    /// Whether a value may be the last one before a seam.
    fn may_stand_at_seam(&self) -> bool {
        match self {
            Self::Struct | Self::Unset => false,
            Self::List(elements) => elements.last().is_none_or(Self::may_stand_at_seam),
            _ => true,
        }
    }

    fn join(&mut self, piece: Self) -> Result<(), Broken> {
        match (self, piece) {
            (Self::Text(text), Self::Text(piece)) => text.extend_from_slice(&piece),
            (Self::List(list), Self::List(piece)) => {
                let mut piece = VecDeque::from(piece);
                match (list.last_mut(), piece.front()) {
                    (_, Some(Self::Struct | Self::Unset)) => return Err(Broken),
                    (Some(last @ Self::Text(_)), Some(Self::Text(_)))
                    | (Some(last @ Self::List(_)), Some(Self::List(_))) => {
                        last.join(piece.pop_front().ok_or(Broken)?)?;
                    }
                    _ => {}
                }
                list.extend(piece);
            }
            _ => return Err(Broken),
        }
        Ok(())
    }
}

/// Whether two rows are the same, NaN equal to itself.
pub(crate) fn same(a: &[OwnedValue], b: &[OwnedValue]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (OwnedValue::Number(a), OwnedValue::Number(b)) => a.to_bits() == b.to_bits(),
            (OwnedValue::List(a), OwnedValue::List(b)) => same(a, b),
            _ => a == b,
        })
}

/// Values in, rows out.
#[derive(Debug)]
pub(crate) struct Assembler {
    columns: usize,
    row: Vec<Value>,
    pending: bool,
}

impl Assembler {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            row: Vec::new(),
            pending: false,
        }
    }

    /// The rows that a message with these values completes.
    pub(crate) fn take(
        &mut self,
        values: Vec<Value>,
        chunked: bool,
    ) -> Result<Vec<Vec<Value>>, Broken> {
        let mut values = VecDeque::from(values);
        if values.is_empty() {
            return Ok(Vec::new());
        }
        if self.columns == 0 {
            return Err(Broken);
        }
        if self.pending
            && let (Some(begun), Some(piece)) = (self.row.last_mut(), values.pop_front())
        {
            begun.join(piece)?;
        }
        self.row.extend(values);
        self.pending = chunked;
        if chunked && !self.row.last().is_some_and(Value::can_go_on) {
            return Err(Broken);
        }
        let mut rows = Vec::new();
        while self.row.len() > self.columns || (self.row.len() == self.columns && !self.pending) {
            rows.push(self.row.drain(..self.columns).collect());
        }
        Ok(rows)
    }

    /// Whether the value that goes on is deeper than is followed: how soon that shows
    /// is nobody's promise.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.row.iter().any(|value| value.depth() + 2 >= MOST_LISTS)
    }

    pub(crate) fn end(&self) -> Result<(), Broken> {
        if self.pending || !self.row.is_empty() {
            return Err(Broken);
        }
        Ok(())
    }
}
