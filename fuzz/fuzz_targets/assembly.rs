//! Well-formed messages in any sequence: every row has as many values as there are
//! columns, and the rows do not depend on when messages are released.
#![no_main]

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use spanner_rows::{OwnedValue, RetrySettings, Row, RowReader};

#[derive(Arbitrary, Debug)]
struct Input {
    columns: u8,
    messages: Vec<Message>,
}

#[derive(Arbitrary, Debug)]
struct Message {
    values: Vec<Value>,
    chunked: bool,
    token: u8,
}

#[derive(Arbitrary, Debug)]
enum Value {
    Null,
    Bool(bool),
    Number(u8),
    Text(String),
    List(Vec<Value>),
    Unset,
}

fuzz_target!(|input: Input| {
    let columns = usize::from(input.columns % 5);
    let held = read(&input, columns, &RetrySettings::new());
    let at_once = read(&input, columns, &RetrySettings::new().hold_messages(0));
    assert_eq!(held, at_once);
    let (rows, _) = held;
    assert!(rows.iter().all(|row| row.len() == columns));
});

/// The rows, and whether the result ended well.
fn read(input: &Input, columns: usize, settings: &RetrySettings) -> (Vec<Vec<OwnedValue>>, bool) {
    let mut reader = RowReader::<Row<'_>>::new(settings);
    let mut rows = Vec::new();
    let mut well = true;
    reader.receive(metadata(columns));
    let messages = input.messages.iter().map(Message::encode);
    for message in messages.map(Some).chain([None]) {
        match message {
            Some(message) => reader.receive(message),
            None => reader.end(),
        }
        loop {
            match reader.next() {
                Ok(Some(row)) => rows.push(
                    row.values()
                        // A value without a kind cannot be read; it still counts.
                        .map(|value| value.map_or(OwnedValue::Null, |value| value.to_owned()))
                        .collect(),
                ),
                Ok(None) => break,
                Err(_) => well = false,
            }
        }
    }
    (rows, well)
}

/// A message that says there are so many columns without a name or a type.
fn metadata(columns: usize) -> Bytes {
    let mut fields = Vec::new();
    for _ in 0..columns {
        put(&mut fields, 0x0a, &[]);
    }
    let mut row_type = Vec::new();
    put(&mut row_type, 0x0a, &fields);
    let mut message = Vec::new();
    put(&mut message, 0x0a, &row_type);
    message.into()
}

impl Message {
    fn encode(&self) -> Bytes {
        let mut out = Vec::new();
        for value in &self.values {
            put(&mut out, 0x12, &value.encode());
        }
        if self.chunked {
            out.extend_from_slice(&[0x18, 1]);
        }
        if self.token > 100 {
            put(&mut out, 0x22, &[self.token]);
        }
        out.into()
    }
}

impl Value {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Null => out.extend_from_slice(&[0x08, 0]),
            Self::Bool(value) => out.extend_from_slice(&[0x20, u8::from(*value)]),
            Self::Number(value) => {
                out.push(0x11);
                out.extend_from_slice(&f64::from(*value).to_le_bytes());
            }
            Self::Text(text) => put(&mut out, 0x1a, text.as_bytes()),
            Self::List(elements) => {
                let mut list = Vec::new();
                for element in elements {
                    put(&mut list, 0x0a, &element.encode());
                }
                put(&mut out, 0x32, &list);
            }
            Self::Unset => {}
        }
        out
    }
}

fn put(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    out.push(tag);
    let mut len = content.len();
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(content);
}
