//! Rows cut into messages, encoded.

use bytes::Bytes;
use spanner_rows::OwnedValue;
use spanner_rows::testing::Message;

use super::random::Random;
use super::{Shape, columns};

/// The encoded messages of a result.
pub(crate) struct Messages {
    pub(crate) encoded: Vec<Bytes>,
    pub(crate) rows: u64,
}

/// So many messages of about 31 KiB of values, each with whole rows.
pub(crate) fn whole<S: Shape>(count: usize) -> Messages {
    const SIZE: usize = 31 * 1024;
    let mut writer = Writer::new::<S>();
    let mut random = Random::new();
    let mut rows = 0;
    while writer.done.len() < count {
        for value in S::values(&mut random) {
            writer.value(value);
        }
        rows += 1;
        if writer.size >= SIZE {
            writer.finish_message();
        }
    }
    let encoded = writer.done.iter().map(Message::encode).collect();
    Messages { encoded, rows }
}

/// So many rows in messages of at most so many bytes of values. They are cut
/// between rows where rows are smaller, else within strings. Tokens stand at ends
/// of rows only, because gcloud-spanner reads no others.
pub(crate) fn cut<S: Shape>(rows: u64, size: usize) -> Messages {
    let mut writer = Writer::new::<S>();
    let mut random = Random::new();
    for _ in 0..rows {
        let values = S::values(&mut random);
        let row_size: usize = values.iter().map(size_of).sum();
        // A large row goes on where the message has room.
        let is_large = row_size > size / 8;
        if !is_large && writer.size + row_size > size {
            writer.finish_message();
        }
        for value in values {
            match value {
                OwnedValue::String(text) if is_large => writer.text_in_pieces(text, size),
                value => writer.value(value),
            }
        }
        if writer.without_token >= MOST_WITHOUT_TOKEN {
            writer.finish_message();
        }
    }
    let last = std::mem::take(&mut writer.message);
    writer.done.push(last);
    let encoded = writer.done.iter().map(Message::encode).collect();
    Messages { encoded, rows }
}

/// How many messages in the middle of a row may follow each other.
const MOST_WITHOUT_TOKEN: usize = 4;

struct Writer {
    message: Message,
    /// Bytes of its values.
    size: usize,
    done: Vec<Message>,
    /// How many of the last messages have no token.
    without_token: usize,
}

impl Writer {
    fn new<S: Shape>() -> Self {
        Self {
            message: Message::new().columns(columns::<S>()),
            size: 0,
            done: Vec::new(),
            without_token: 0,
        }
    }

    fn value(&mut self, value: OwnedValue) {
        self.size += size_of(&value);
        let message = std::mem::take(&mut self.message);
        self.message = message.values([value]);
    }

    /// ASCII only, so that it may be cut anywhere.
    fn text_in_pieces(&mut self, mut text: String, size: usize) {
        loop {
            let room = size.saturating_sub(self.size + HEADER);
            if text.len() <= room {
                return self.value(OwnedValue::String(text));
            }
            if room > 0 {
                let rest = text.split_off(room);
                self.value(OwnedValue::String(text));
                text = rest;
                self.message = std::mem::take(&mut self.message).chunked();
            }
            self.done.push(std::mem::take(&mut self.message));
            self.size = 0;
            self.without_token += 1;
        }
    }

    /// With a token of 40 bytes that are no text.
    fn finish_message(&mut self) {
        let mut token = [0x80; 40];
        token[..8].copy_from_slice(&(self.done.len() as u64).to_be_bytes());
        let message = std::mem::take(&mut self.message);
        self.done.push(message.resume_token(token.to_vec()));
        self.size = 0;
        self.without_token = 0;
    }
}

/// What a value takes besides its text.
const HEADER: usize = 4;

fn size_of(value: &OwnedValue) -> usize {
    match value {
        OwnedValue::String(text) => HEADER + text.len(),
        OwnedValue::Number(_) => HEADER + 7,
        _ => HEADER,
    }
}
