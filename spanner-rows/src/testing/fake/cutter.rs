//! Cuts the values of a result into messages, as the service may do it.
//!
//! A value that does not fit into what room a message has left is cut: the message ends with a part of it and says so (`chunked_value`), the next one
//! begins with the rest. A client joins the two parts without knowing types: strings by concatenation, lists by their elements, of which the last of the
//! first part and the first of the second are joined again if they are two strings or two lists. It follows that
//!
//! * NULL, booleans and numbers are never cut;
//! * a list cut between two elements has to open its second part with an empty string or list if the element before the cut was a string or list.

use crate::OwnedValue;
use crate::row::value::Value;
use crate::wire::reader::Span;
use crate::wire::value::VALUES_TAG;
use crate::wire::writer::{put_bytes, put_value};

/// Where a message may end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// Anywhere, also within a string or a list.
    #[default]
    InsideValues,
    /// After any value.
    BetweenValues,
    /// After a whole row.
    BetweenRows,
}

/// The values of one message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Piece {
    /// Fields `values` of `PartialResultSet`.
    pub(super) values: Vec<u8>,
    /// Whether the last value goes on in the next message.
    pub(super) chunked: bool,
}

/// What a string or list costs in a message besides its content, roughly.
const OVERHEAD: usize = 6;

#[derive(Debug)]
pub(super) struct Cutter<'s> {
    cut: Cut,
    /// Bytes of values in a message, taken in turn.
    sizes: &'s [usize],
    pieces: Vec<Piece>,
    message: Vec<u8>,
    /// The lists that the current value has open, outermost first.
    open: Vec<Vec<OwnedValue>>,
    /// Bytes in `open`.
    open_bytes: usize,
    /// Whether the message brings anything yet. A message that has no room must
    /// take something all the same.
    progress: bool,
}

impl<'s> Cutter<'s> {
    pub(super) fn new(cut: Cut, sizes: &'s [usize]) -> Self {
        Self {
            cut,
            sizes,
            pieces: Vec::new(),
            message: Vec::new(),
            open: Vec::new(),
            open_bytes: 0,
            progress: false,
        }
    }

    /// Adds a value by its encoding.
    pub(super) fn value(&mut self, value: &[u8], starts_row: bool) {
        let fits = value.len() + OVERHEAD <= self.room();
        match self.cut {
            _ if fits => self.put_encoded(value),
            Cut::InsideValues => self.cut_value(value),
            Cut::BetweenRows if !starts_row => self.put_encoded(value),
            Cut::BetweenValues | Cut::BetweenRows => {
                self.end_message_if_begun();
                self.put_encoded(value);
            }
        }
    }

    /// The messages; at least one, because a result without rows has metadata.
    pub(super) fn finish(mut self) -> Vec<Piece> {
        if self.progress || self.pieces.is_empty() {
            self.end_message(false);
        }
        self.pieces
    }

    fn cut_value(&mut self, encoded: &[u8]) {
        let span = Span {
            start: 0,
            end: encoded.len(),
        };
        match Value::read(encoded, span) {
            Ok(Value::String(text)) => {
                let rest = self.cut_string(text, |cutter, part| {
                    cutter.put(&OwnedValue::String(part.to_owned()));
                    cutter.end_message(true);
                });
                self.put(&OwnedValue::String(rest.to_owned()));
            }
            Ok(Value::List(list)) => {
                let elements: Vec<_> = list.iter().map(Value::to_owned).collect();
                self.open_list();
                self.cut_elements(elements);
                let list = self.open.pop().unwrap_or_default();
                self.open_bytes = 0;
                self.put(&OwnedValue::List(list));
            }
            // Cannot be cut; also what is no value at all.
            _ => {
                self.end_message_if_begun();
                self.put_encoded(encoded);
            }
        }
    }

    /// Hands out part after part, and answers the one that fits.
    fn cut_string<'t>(
        &mut self,
        text: &'t str,
        mut put_part: impl FnMut(&mut Self, &str),
    ) -> &'t str {
        let mut rest = text;
        loop {
            let room = self.room().saturating_sub(OVERHEAD);
            if rest.len() <= room {
                return rest;
            }
            let mut end = char_boundary(rest, room);
            if end == 0 && !self.progress {
                end = rest.chars().next().map_or(0, char::len_utf8);
            }
            let (part, after) = rest.split_at(end);
            if after.is_empty() {
                return rest;
            }
            // In a message that is full the part is empty.
            put_part(self, part);
            rest = after;
        }
    }

    /// Fills the innermost open list.
    fn cut_elements(&mut self, elements: Vec<OwnedValue>) {
        for element in elements {
            let cost = cost(&element);
            if cost <= self.room() {
                self.push(element, cost);
                continue;
            }
            match element {
                OwnedValue::String(text) => {
                    let rest = self.cut_string(&text, |cutter, part| {
                        cutter.push(OwnedValue::String(part.to_owned()), 0);
                        cutter.break_lists(None);
                    });
                    let rest = OwnedValue::String(rest.to_owned());
                    let cost = self::cost(&rest);
                    self.push(rest, cost);
                }
                OwnedValue::List(inner) => {
                    if self.room() < OVERHEAD {
                        self.break_between();
                    }
                    self.open_list();
                    self.cut_elements(inner);
                    let list = self.open.pop().unwrap_or_default();
                    // Its content is counted already.
                    self.push(OwnedValue::List(list), 0);
                }
                scalar => {
                    self.break_between();
                    self.push(scalar, cost);
                }
            }
        }
    }

    /// Ends the message between two elements of the innermost list.
    fn break_between(&mut self) {
        if !self.progress {
            return;
        }
        let opener = match self.open.last().and_then(|list| list.last()) {
            Some(OwnedValue::String(_)) => Some(OwnedValue::String(String::new())),
            Some(OwnedValue::List(_)) => Some(OwnedValue::List(Vec::new())),
            _ => None,
        };
        self.break_lists(opener);
    }

    /// Ends the message with all open lists in it, and opens them again in the
    /// next, with `opener` as the first element of the innermost.
    fn break_lists(&mut self, opener: Option<OwnedValue>) {
        let depth = self.open.len();
        let mut inner = None;
        while let Some(mut list) = self.open.pop() {
            list.extend(inner);
            inner = Some(OwnedValue::List(list));
        }
        if let Some(value) = inner {
            self.put(&value);
        }
        self.end_message(true);
        self.open = vec![Vec::new(); depth];
        if let Some(innermost) = self.open.last_mut() {
            innermost.extend(opener);
        }
        self.open_bytes = depth * OVERHEAD;
    }

    fn open_list(&mut self) {
        self.open.push(Vec::new());
        self.open_bytes += OVERHEAD;
    }

    fn push(&mut self, element: OwnedValue, cost: usize) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.push(element);
        }
        self.open_bytes += cost;
        self.progress = true;
    }

    fn put(&mut self, value: &OwnedValue) {
        put_value(&mut self.message, VALUES_TAG, |out| value.write(out));
        self.progress = true;
    }

    fn put_encoded(&mut self, value: &[u8]) {
        put_bytes(&mut self.message, VALUES_TAG, value);
        self.progress = true;
    }

    fn end_message_if_begun(&mut self) {
        if self.progress {
            self.end_message(false);
        }
    }

    fn end_message(&mut self, chunked: bool) {
        self.pieces.push(Piece {
            values: std::mem::take(&mut self.message),
            chunked,
        });
        self.progress = false;
    }

    fn room(&self) -> usize {
        let turn = self.pieces.len() % self.sizes.len().max(1);
        let size = self.sizes.get(turn).copied().unwrap_or(usize::MAX);
        size.saturating_sub(self.message.len())
            .saturating_sub(self.open_bytes)
    }
}

fn cost(value: &OwnedValue) -> usize {
    match value {
        OwnedValue::Null | OwnedValue::Bool(_) => 4,
        OwnedValue::Number(_) => 11,
        OwnedValue::String(text) => text.len() + OVERHEAD,
        OwnedValue::List(elements) => elements.iter().map(cost).sum::<usize>() + OVERHEAD,
    }
}

/// The last boundary between characters at or before `limit`.
fn char_boundary(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    (0..=limit)
        .rev()
        .find(|&i| text.is_char_boundary(i))
        .unwrap_or(0)
}

#[cfg(test)]
#[path = "cutter_tests.rs"]
mod tests;
