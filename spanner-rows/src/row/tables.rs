//! What is made of a segment as a whole when a row first needs it: BYTES
//! decoded, and the places of columns that are read out of order.

use super::binding::{Binding, Node};
use super::memory::KEPT_BYTES;
use crate::wire::base64;
use crate::wire::reader::Span;
use crate::wire::value::{self, Elements, Found, Kind};

/// Made once per segment; the memory serves one segment after another.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// Base64 decoded, every text from [`place_of`] its start on, so that no table is
    /// needed to find its bytes. What is between has no meaning.
    bytes: Vec<u8>,
    /// How long that is when all of the segment's texts are in it.
    room: usize,
    /// Where texts start that are not base64: in order, and nearly always none.
    bad: Vec<u32>,
    /// Where the columns lie, for rows read out of order: one per slot and row.
    positions: Vec<u32>,
}

/// The columns that the fields of a row read when they are out of order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// How many there are; each has a slot.
    slots: usize,
    /// Column and slot, in the order of the columns.
    columns: Vec<(u32, u32)>,
}

impl Places {
    pub(crate) fn of(row: &Binding) -> Self {
        let columns = row.columns_read();
        let slots = columns.len();
        let mut columns: Vec<_> = columns.into_iter().zip(0..).collect();
        columns.sort_unstable();
        Self { slots, columns }
    }
}

impl Tables {
    /// Whether a next message may use the memory; else it is given back: a message was very large.
    pub(crate) fn is_worth_keeping(&self) -> bool {
        self.capacity() <= KEPT_BYTES
    }

    /// The memory of the tables in bytes.
    pub(crate) const fn capacity(&self) -> usize {
        self.bytes.capacity() + 4 * self.positions.capacity()
    }

    #[cfg(test)]
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut tables = Self::default();
        tables.bytes.reserve_exact(bytes);
        tables
    }

    /// Fills the tables for the rows between `starts`.
    pub(crate) fn make(&mut self, wire: &[u8], starts: &[u32], row: &Binding, places: &Places) {
        self.bytes.clear();
        self.bad.clear();
        self.positions.clear();
        let decodes = !row.decoded_columns.is_empty();
        if decodes {
            let end = starts.last().map_or(0, |end| *end as usize);
            self.room = place_of(end.min(wire.len()));
            self.bytes.reserve_exact(self.room);
        }
        for window in starts.windows(2) {
            let [start, end] = window else { continue };
            let span = Span {
                start: *start as usize,
                end: *end as usize,
            };
            let values = Elements::of_row(wire, span);
            if places.slots > 0 {
                self.find(places, values);
            }
            if decodes {
                self.decode_fields(wire, row, values);
            }
        }
    }

    /// Where the value for this slot of row `i` lies.
    pub(crate) fn position(&self, places: &Places, i: usize, slot: usize) -> Option<usize> {
        let row = self.positions.get(i.checked_mul(places.slots)?..)?;
        let at = row.get(..places.slots)?.get(slot)?;
        (*at != u32::MAX).then_some(*at as usize)
    }

    /// What the base64 `text` that lies at `at` stands for, if it is base64.
    #[inline]
    pub(crate) fn bytes(&self, text: &[u8], at: usize) -> Option<&[u8]> {
        if !self.bad.is_empty() && self.bad.binary_search(&(at as u32)).is_ok() {
            return None;
        }
        let at = place_of(at);
        self.bytes.get(at..at + base64::decoded_len(text)?)
    }

    /// Notes where the values of a row lie that are read out of order; what the
    /// row does not have gets no place.
    fn find(&mut self, places: &Places, mut values: Elements<'_>) {
        let row = self.positions.len();
        self.positions.resize(row + places.slots, u32::MAX);
        let Some(row) = self.positions.get_mut(row..) else {
            return;
        };
        let mut next = 0;
        let mut at = values.position();
        for (column, slot) in &places.columns {
            while next <= *column {
                at = values.position();
                if !matches!(values.next_bytes(), Ok(Some(_))) {
                    return;
                }
                next += 1;
            }
            if let Some(place) = row.get_mut(*slot as usize) {
                *place = at as u32;
            }
        }
    }

    /// Decodes what the fields of a row or STRUCT lend of its values.
    fn decode_fields(&mut self, wire: &[u8], row: &Binding, mut values: Elements<'_>) {
        let mut next = 0;
        for (column, child) in &row.decoded_columns {
            while next < *column {
                // A fault is told when the row is read.
                let Ok(Some(_)) = values.next_bytes() else {
                    return;
                };
                next += 1;
            }
            let Some(field) = row.children.get(*child as usize) else {
                continue;
            };
            // Stays before the value: another field may read it too.
            let mut at_value = values;
            if field.is_one_value()
                && let Some((text, at)) = at_value.next_short_string()
            {
                self.decode_text(text, at);
                continue;
            }
            match at_value.next_bytes() {
                Ok(Some(value)) if field.node == Node::Flattened => {
                    self.decode_flattened(wire, field, *column, value);
                }
                Ok(Some(value)) => self.decode_value(wire, field, value),
                _ => return,
            }
        }
    }

    /// The same for one value of the row around a flattened one.
    fn decode_flattened(&mut self, wire: &[u8], row: &Binding, column: u32, value: Found<'_>) {
        let columns = &row.decoded_columns;
        let first = columns.partition_point(|(other, _)| *other < column);
        let same = columns
            .iter()
            .skip(first)
            .take_while(|(other, _)| *other == column);
        for (_, child) in same {
            match row.children.get(*child as usize) {
                Some(field) if field.node == Node::Flattened => {
                    self.decode_flattened(wire, field, column, value);
                }
                Some(field) => self.decode_value(wire, field, value),
                None => {}
            }
        }
    }

    fn decode_value(&mut self, wire: &[u8], binding: &Binding, (value, at): Found<'_>) {
        match value::read_at(value, at) {
            Ok(Kind::String(text)) => self.decode_text(text.of(wire), text.start),
            Ok(Kind::List(list)) => {
                let mut elements = Elements::of_list(wire, list);
                match (binding.node, binding.element()) {
                    (Node::Value, Some(of_element)) => {
                        while let Ok(Some(element)) = elements.next_bytes() {
                            self.decode_value(wire, of_element, element);
                        }
                    }
                    (Node::Value, None) => {}
                    _ => self.decode_fields(wire, binding, elements),
                }
            }
            // NULL, or a fault that reading the value will report.
            _ => {}
        }
    }

    fn decode_text(&mut self, text: &[u8], at: usize) {
        let place = place_of(at);
        let is_base64 = base64::decoded_len(text).is_some_and(|len| {
            if self.bytes.len() < place + len {
                // For some of the next texts, too. Never what an earlier segment left there.
                let ahead = self.room.min(place + len + AHEAD);
                self.bytes.resize(ahead.max(place + len), 0);
            }
            let target = self.bytes.get_mut(place..place + len);
            target.is_some_and(|target| base64::decode(text, target))
        });
        if !is_base64 {
            self.note_bad(at);
        }
    }

    #[cold]
    fn note_bad(&mut self, at: usize) {
        let start = at as u32;
        if let Err(place) = self.bad.binary_search(&start) {
            self.bad.insert(place, start);
        }
    }
}

/// How many bytes are cleared at once: enough that it is not done for each text, and little
/// enough that they are still at hand when they are written.
const AHEAD: usize = 1024;

/// Where the bytes of a text at `at` go: three quarters of the way, since four
/// characters stand for three bytes. So no text reaches into the place of the next.
const fn place_of(at: usize) -> usize {
    at - at.div_ceil(4)
}
