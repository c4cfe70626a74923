//! Driving a reader, and values cut in pieces as a server cuts them.

use std::collections::VecDeque;
use std::time::Duration;

use crate::error::{Code, Error, Status};
use crate::result::assembler::Batch;
use crate::result::reader::ResultReader;
use crate::wire::samples::{Sample, SampleMessage};

pub(super) type Row = Vec<Sample>;

/// The rows of a batch, in order.
pub(super) fn rows_of(batch: &Batch) -> Vec<Row> {
    let mut rows = Vec::new();
    for segment in batch.joined.iter().chain([&batch.rows]) {
        rows.extend((0..segment.rows()).map(|i| Sample::decode_values(segment.row_wire(i))));
    }
    assert_eq!(rows.len(), batch.len());
    assert!(!rows.is_empty(), "an empty batch is not handed out");
    rows
}

/// A reader and what came out of it.
#[derive(Debug, Default)]
pub(super) struct Driver {
    pub(super) reader: ResultReader,
    pub(super) rows: Vec<Row>,
    pub(super) error: Option<Error>,
    pub(super) now: Duration,
}

impl Driver {
    pub(super) fn new(reader: ResultReader) -> Self {
        Self {
            reader,
            ..Self::default()
        }
    }

    pub(super) fn receive(&mut self, message: &SampleMessage) -> &mut Self {
        self.reader.receive(message.encode());
        self.pop();
        self
    }

    pub(super) fn receive_raw(&mut self, message: Vec<u8>) {
        self.reader.receive(message.into());
        self.pop();
    }

    pub(super) fn end(&mut self) -> &mut Self {
        self.reader.end();
        self.pop();
        self
    }

    /// Answers the token of the next attempt, if there is to be one.
    pub(super) fn fail(&mut self, status: Status) -> Option<Vec<u8>> {
        self.now += Duration::from_secs(1);
        let attempt = self.reader.attempt();
        let retry = self.reader.fail(status, self.now, u64::MAX / 2);
        self.pop();
        retry.map(|retry| {
            assert_eq!(retry.attempt, attempt + 1);
            assert_eq!(retry.attempt, self.reader.attempt());
            retry.resume_token.to_vec()
        })
    }

    fn pop(&mut self) {
        loop {
            match self.reader.pop() {
                Ok(Some(batch)) => {
                    assert!(self.error.is_none(), "rows behind an error");
                    self.rows.extend(rows_of(&batch));
                    for rows in batch.joined.into_iter().chain([batch.rows]) {
                        self.reader.recycle(rows);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    assert!(self.error.is_none(), "two errors");
                    assert!(self.reader.is_finished(), "an error is the end");
                    self.error = Some(error);
                }
            }
        }
    }

    pub(super) fn code(&self) -> Option<Code> {
        self.error.as_ref().map(Error::code)
    }

    /// The rows as text, for tests with columns of text.
    pub(super) fn texts(&self) -> Vec<String> {
        self.rows
            .iter()
            .map(|row| {
                let texts: Vec<_> = row
                    .iter()
                    .map(|value| match value {
                        Sample::Text(text) => text.clone(),
                        other => format!("{other:?}"),
                    })
                    .collect();
                texts.join(",")
            })
            .collect()
    }
}

pub(super) fn status(code: Code) -> Status {
    Status::new(code, "scripted")
}

pub(super) fn unavailable() -> Status {
    status(Code::Unavailable)
}

/// Decisions drawn beforehand, so that a failing case can be made smaller. When
/// they run out every decision is 0, which is the plainest.
#[derive(Debug)]
pub(super) struct Dice {
    drawn: VecDeque<u16>,
}

impl Dice {
    pub(super) fn new(drawn: Vec<u16>) -> Self {
        Self {
            drawn: drawn.into(),
        }
    }

    /// A number below `n`.
    pub(super) fn roll(&mut self, n: usize) -> usize {
        usize::from(self.drawn.pop_front().unwrap_or(0)) % n.max(1)
    }

    /// True once in `n` times; never when decisions have run out.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.roll(n) == n - 1
    }
}

/// Cuts a value in two as the emulator does: texts between characters; lists
/// between elements or inside of one. What follows a complete string or list
/// begins with an empty one, or the two would be joined.
pub(super) fn cut(value: &Sample, dice: &mut Dice) -> Option<(Sample, Sample)> {
    match value {
        Sample::Text(text) => {
            let chars = text.chars().count();
            let at = text
                .char_indices()
                .nth(dice.roll(chars + 1))
                .map_or(text.len(), |(at, _)| at);
            let (left, right) = text.split_at(at);
            Some((Sample::text(left), Sample::text(right)))
        }
        Sample::List(elements) => {
            let at = dice.roll(elements.len() + 1);
            let (left, right) = elements.split_at(at);
            let (mut left, mut right) = (left.to_vec(), right.to_vec());
            let halves = match right.first() {
                Some(element) if dice.once_in(2) => cut(element, dice),
                _ => None,
            };
            if let Some((end, begin)) = halves {
                left.push(end);
                right[0] = begin;
            } else {
                match left.last() {
                    Some(Sample::Text(_)) => right.insert(0, Sample::text("")),
                    Some(Sample::List(_)) => right.insert(0, Sample::List(vec![])),
                    _ => {}
                }
            }
            Some((Sample::List(left), Sample::List(right)))
        }
        _ => None,
    }
}

/// Takes the values of one message from the front of those that are left. When the
/// message ends inside a value, the rest of it stays at the front.
pub(super) fn next_message(left: &mut VecDeque<Sample>, dice: &mut Dice) -> SampleMessage {
    let mut message = SampleMessage::default();
    for _ in 0..dice.roll(7) {
        message.values.extend(left.pop_front());
    }
    if dice.once_in(2)
        && let Some(front) = left.front_mut()
        && let Some((begin, rest)) = cut(front, dice)
    {
        message.values.push(begin);
        *front = rest;
        message.chunked = true;
    }
    if message.values.is_empty() {
        // Means nothing then.
        message.chunked = dice.once_in(2);
    }
    message
}
