//! Well-formed messages in any sequence: the rows are those of a naive assembler,
//! whenever the messages are released.

use arbitrary::{Arbitrary, Unstructured};
use spanner_rows::{OwnedValue, RetrySettings, Row, RowReader};

use crate::model::{self, Assembler, Sketch, Value};
use crate::wire::{self, Type, put};

#[derive(Arbitrary, Debug)]
struct Input {
    columns: u8,
    messages: Vec<Message>,
}

#[derive(Arbitrary, Debug)]
struct Message {
    values: Vec<Sketch>,
    chunked: bool,
    token: u8,
}

pub fn entry(data: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let columns = usize::from(input.columns % 5);
    let (expected, ends_well) = naive(&input, columns);
    let at_once = RetrySettings::new().hold_messages(0);
    for settings in [RetrySettings::new(), at_once] {
        let (rows, well) = read(&input, columns, &settings);
        assert_eq!(rows.len(), expected.len(), "{rows:?} {expected:?}");
        assert!(
            rows.iter().zip(&expected).all(|(a, b)| model::same(a, b)),
            "{rows:?} {expected:?}"
        );
        assert_eq!(well, ends_well);
    }
}

/// The rows, and whether the result ends well, by the rules.
fn naive(input: &Input, columns: usize) -> (Vec<Vec<OwnedValue>>, bool) {
    let mut assembler = Assembler::new(columns);
    let mut rows = Vec::new();
    for message in &input.messages {
        let values = message.values.iter().map(Sketch::value).collect();
        match assembler.take(values, message.chunked) {
            Ok(more) => rows.extend(more),
            Err(_) => return (shown(rows), false),
        }
    }
    let well = assembler.end().is_ok();
    (shown(rows), well)
}

/// Values that cannot be read are shown as NULL.
fn shown(rows: Vec<Vec<Value>>) -> Vec<Vec<OwnedValue>> {
    let show = |value: &Value| value.to_owned().unwrap_or(OwnedValue::Null);
    rows.iter()
        .map(|row| row.iter().map(show).collect())
        .collect()
}

fn read(input: &Input, columns: usize, settings: &RetrySettings) -> (Vec<Vec<OwnedValue>>, bool) {
    let mut reader = RowReader::<Row<'_>>::new(settings);
    let mut rows = Vec::new();
    let mut well = true;
    let unnamed = vec![("", Type::Scalar(6)); columns];
    reader.receive(wire::metadata(&unnamed).into());
    let messages = input.messages.iter().map(Message::encode);
    for message in messages.map(Some).chain([None]) {
        match message {
            Some(message) => reader.receive(message.into()),
            None => reader.end(),
        }
        loop {
            match reader.next() {
                Ok(Some(row)) => rows.push(
                    row.values()
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

impl Message {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for value in &self.values {
            put(&mut out, 0x12, &value.value().encoded());
        }
        if self.chunked {
            out.extend_from_slice(&[0x18, 1]);
        }
        if self.token > 100 {
            put(&mut out, 0x22, &[self.token]);
        }
        out
    }
}
