//! A row that comes in several messages, put together as it would have come in one.
//!
//! Values of the row lie one after another as on the wire. The value that is not
//! complete yet lies behind them with its lengths left open, at every level down
//! to the text or list that goes on; so joining the next piece appends to the end
//! and looks at nothing that was there before. A cell of ten MiB comes in
//! hundreds of pieces.

use bytes::{Bytes, BytesMut};

use crate::error::Error;
use crate::wire::message::MAX_LEN;
use crate::wire::reader::{MAX_DEPTH, Span};
use crate::wire::value::{self, ELEMENT_TAG, Elements, Kind, LIST_TAG, STRING_TAG, VALUES_TAG};
use crate::wire::{WireError, WireErrorKind};

/// A row longer than this takes its buffer with it, so that one huge row does not
/// leave a huge buffer behind.
const KEPT_CAPACITY: usize = 64 << 10;

/// The row that is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct PartialRow {
    wire: BytesMut,
    /// The buffer of the row before this one, and of the row after it: the row
    /// before is nearly always still read when this one begins.
    other: BytesMut,
    /// What is open of the value that goes on, from the value itself down.
    open: Vec<Level>,
}

/// A text or a list whose end has not come: tag of the value, its length, tag of
/// the kind, length of the content, content so far.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Where the value's length stands.
    at: usize,
    kind: Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Text,
    List,
}

impl Open {
    /// Lengths to be filled in take this many bytes: enough for any that fits a message.
    const LENGTH: usize = 5;
    /// From the value's length to the content: two lengths, the tag of the kind between.
    const CONTENT: usize = 2 * Self::LENGTH + 1;
}

impl PartialRow {
    /// Appends the values in `span` of `wire`. The first one goes on with the value
    /// left open, if there is one; the last one stays open if `chunked`.
    pub(crate) fn append(&mut self, wire: &[u8], span: Span, chunked: bool) -> Result<(), Error> {
        // Tags and lengths of what is opened take some bytes more.
        if self.wire.len() + (span.end - span.start) + MAX_DEPTH * 12 > MAX_LEN {
            return Err(WireError::new(WireErrorKind::TooLarge, span.start).into());
        }
        let mut start = span.start;
        if !self.open.is_empty() {
            let mut values = Elements::of_row(wire, span);
            let Some(first) = values.next()? else {
                return Ok(());
            };
            start = values.position();
            let goes_on = chunked && start == span.end;
            self.join(wire, first, 0, goes_on)?;
            if goes_on {
                return Ok(());
            }
            self.close(0);
        }
        let rest = Span { start, ..span };
        self.append_elements(wire, VALUES_TAG, rest, chunked)
    }

    /// Takes the complete row out.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.close(0);
        let row = if self.wire.len() > KEPT_CAPACITY {
            std::mem::take(&mut self.wire)
        } else {
            self.wire.split()
        };
        std::mem::swap(&mut self.wire, &mut self.other);
        row.freeze()
    }

    /// Joins a piece of a value to what is open of it from `level` down.
    fn join(&mut self, wire: &[u8], piece: Span, level: usize, goes_on: bool) -> Result<(), Error> {
        let kind = value::read(wire, piece)?;
        match (self.open_at(level), kind) {
            (Some(Open::Text), Kind::String(text)) => {
                self.wire.extend_from_slice(text.of(wire));
                Ok(())
            }
            (Some(Open::List), Kind::List(list)) => self.join_list(wire, list, level, goes_on),
            (Some(open), kind) => Err(cannot_join(open, kind)),
            (None, kind) => Err(cannot_open(kind)),
        }
    }

    /// Only the last element before the seam and the first one behind it can be
    /// two halves of one: if both are strings or both lists, they are.
    fn join_list(
        &mut self,
        wire: &[u8],
        list: Span,
        level: usize,
        goes_on: bool,
    ) -> Result<(), Error> {
        let mut elements = Elements::of_list(wire, list);
        let Some(first) = elements.next()? else {
            return Ok(());
        };
        let mut rest = Span {
            start: elements.position(),
            ..list
        };
        let inner = level + 1;
        match (self.open_at(inner), value::read(wire, first)?) {
            (_, kind @ (Kind::Struct(_) | Kind::Unset)) => return Err(cannot_open(kind)),
            (Some(Open::Text), Kind::String(_)) | (Some(Open::List), Kind::List(_)) => {
                let first_goes_on = goes_on && elements.next()?.is_none();
                self.join(wire, first, inner, first_goes_on)?;
                if first_goes_on {
                    return Ok(());
                }
            }
            _ => rest = list,
        }
        self.close(inner);
        self.append_elements(wire, ELEMENT_TAG, rest, goes_on)
    }

    /// Appends elements as they are, but for the last one if it goes on.
    fn append_elements(
        &mut self,
        wire: &[u8],
        tag: u8,
        span: Span,
        last_goes_on: bool,
    ) -> Result<(), Error> {
        let mut span = span;
        let mut tag = tag;
        if last_goes_on {
            // One level after another, as long as the last element is a list.
            while let Some((at, last)) = last_element(wire, tag, span)? {
                self.copy(wire, Span { end: at, ..span });
                match value::read(wire, last)? {
                    Kind::String(text) => {
                        self.begin(tag, Open::Text)?;
                        self.copy(wire, text);
                        return Ok(());
                    }
                    Kind::List(list) => {
                        self.begin(tag, Open::List)?;
                        (tag, span) = (ELEMENT_TAG, list);
                    }
                    kind @ (Kind::Struct(_) | Kind::Unset) => return Err(cannot_open(kind)),
                    kind if tag == VALUES_TAG => return Err(cannot_open(kind)),
                    // An element of a list that goes on, but itself is complete.
                    _ => {
                        self.copy(wire, Span { start: at, ..span });
                        return Ok(());
                    }
                }
            }
        }
        self.copy(wire, span);
        Ok(())
    }

    fn copy(&mut self, wire: &[u8], span: Span) {
        self.wire.extend_from_slice(span.of(wire));
    }

    fn open_at(&self, level: usize) -> Option<Open> {
        self.open.get(level).map(|level| level.kind)
    }

    /// Opens a value, with room for the two lengths.
    fn begin(&mut self, tag: u8, kind: Open) -> Result<(), Error> {
        if self.open.len() >= MAX_DEPTH {
            return Err(WireError::new(WireErrorKind::TooDeep, self.wire.len()).into());
        }
        let kind_tag = match kind {
            Open::Text => STRING_TAG,
            Open::List => LIST_TAG,
        };
        self.wire.extend_from_slice(&[tag]);
        let at = self.wire.len();
        self.open.push(Level { at, kind });
        self.wire.extend_from_slice(&[0; Open::LENGTH]);
        self.wire.extend_from_slice(&[kind_tag]);
        self.wire.extend_from_slice(&[0; Open::LENGTH]);
        Ok(())
    }

    /// Closes what is open from `level` down: its lengths are known now.
    fn close(&mut self, level: usize) {
        while self.open.len() > level {
            if let Some(Level { at, .. }) = self.open.pop() {
                self.put_length(at);
                self.put_length(at + Open::CONTENT - Open::LENGTH);
            }
        }
    }

    /// Fills in the length at `at` of everything behind it. It is written with as
    /// many bytes as there are, which protobuf allows.
    fn put_length(&mut self, at: usize) {
        let start = at + Open::LENGTH;
        let len = self.wire.len().saturating_sub(start);
        if let Some(bytes) = self.wire.get_mut(at..start) {
            for (i, byte) in bytes.iter_mut().enumerate() {
                let more = if i + 1 < Open::LENGTH { 0x80 } else { 0 };
                *byte = (len >> (7 * i)) as u8 & 0x7f | more;
            }
        }
    }
}

/// The last element and where its tag stands.
fn last_element(wire: &[u8], tag: u8, span: Span) -> Result<Option<(usize, Span)>, WireError> {
    let mut elements = Elements::new(span.of(wire), span.end, tag);
    let mut last = None;
    let mut at = elements.position();
    while let Some(element) = elements.next()? {
        last = Some((at, element));
        at = elements.position();
    }
    Ok(last)
}

#[cold]
fn cannot_open(kind: Kind) -> Error {
    Error::protocol(format!(
        "a value is said to go on in the next message, but is {}: only strings and lists can",
        kind.name()
    ))
}

#[cold]
fn cannot_join(open: Open, kind: Kind) -> Error {
    let begun = match open {
        Open::Text => "a string",
        Open::List => "a list",
    };
    Error::protocol(format!(
        "a value begins as {begun} in one message and goes on as {} in the next",
        kind.name()
    ))
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
