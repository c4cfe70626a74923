//! Rows that lie one after another in one buffer, and what is made of the
//! buffer once, when it is first needed.

use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;

use super::binding::{Binding, Node};
use super::cursor::RowCursor;
use super::error::DecodeError;
use super::lookup::Lookups;
use super::traits::{FromColumn, SpannerRow};
use crate::wire::reader::Span;
use crate::wire::value::{self, Elements, Kind, VALUES_TAG};
use crate::wire::{RowType, TypeCode, utf8};

/// What all rows of a result set share: its columns and how they are read.
#[derive(Debug)]
pub(crate) struct Shape {
    row_type: RowType,
    binding: Binding,
    /// Rows up to this size are checked to be text as a whole, which works because
    /// tags and lengths below 128 are ASCII; what lies behind the first byte that
    /// is not text is checked value by value, as in larger rows.
    whole_row_text: usize,
    /// The column of each slot, for rows read out of order.
    columns_read: Vec<u32>,
    /// What is bound later, by [`Row::get`](crate::Row::get).
    lookups: Lookups,
}

/// From this many text columns on, one check for the whole row costs less than
/// one for each value.
const TEXTS_PER_ROW: usize = 3;

/// A row with more bytes for each column than this has values of 128 bytes and
/// more, whose lengths are not ASCII, so that most of it is not text as a whole.
const ROW_BYTES_PER_COLUMN: usize = 128;

impl Shape {
    /// Binds `T` to the columns of a result.
    pub(crate) fn bind<T: SpannerRow + ?Sized>(
        row_type: RowType,
    ) -> Result<Self, super::binder::BindError> {
        let mut binder = super::binder::Binder::new();
        let mut binding = T::bind(&row_type, &mut binder);
        binder.finish()?;
        binding.settle();
        let columns_read = match binding.node {
            Node::OutOfOrder => binding.columns_read(),
            _ => Vec::new(),
        };
        // A number takes eight bytes of any value, and the text ends there.
        let numbers = [TypeCode::Float64, TypeCode::Float32];
        let has_numbers = row_type
            .fields()
            .iter()
            .any(|field| numbers.contains(&field.ty().code()));
        let whole_row_text = if texts(&binding) >= TEXTS_PER_ROW && !has_numbers {
            row_type.len() * ROW_BYTES_PER_COLUMN
        } else {
            0
        };
        Ok(Self {
            row_type,
            binding,
            whole_row_text,
            columns_read,
            lookups: Lookups::default(),
        })
    }

    pub(crate) const fn row_type(&self) -> &RowType {
        &self.row_type
    }

    pub(crate) const fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Adds to an error of a row which row it is and what its column is called.
    #[cold]
    fn in_row(&self, error: DecodeError, number: u64) -> DecodeError {
        let column = error
            .column()
            .and_then(|column| self.row_type.fields().get(column));
        let error = error.in_row(number);
        match column {
            Some(field) => error.in_column(field.name()),
            None => error,
        }
    }
}

fn texts(binding: &Binding) -> usize {
    binding
        .children
        .iter()
        .map(|child| match child.node {
            Node::Flattened => texts(child),
            _ => usize::from(child.reads_text),
        })
        .sum()
}

/// A buffer of whole rows in wire form.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    wire: Bytes,
    /// Where each row starts and, behind them, where the last one ends.
    starts: Vec<u32>,
    /// BYTES that are lent, decoded. Made when the first one is asked for.
    decoded: OnceLock<Decoded>,
    /// Where the columns lie, for rows read out of order: `slots` per row.
    positions: OnceLock<Vec<u32>>,
    /// Memory of an earlier segment for the two.
    spare: Mutex<Tables>,
}

/// What is made of a segment when it is first needed; its memory serves one
/// segment after another.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    decoded: Decoded,
    positions: Vec<u32>,
}

/// Base64 decoded in the places where it stood: a text at `a..b` of the wire
/// has its bytes at `a..` here, so no table is needed to find them.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    bytes: Vec<u8>,
    /// Where texts start that are not base64: in order, and nearly always none.
    bad: Vec<u32>,
}

impl Tables {
    /// Memory beyond this is given back: a message was very large.
    const KEPT_BYTES: usize = 1 << 20;

    pub(crate) fn is_worth_keeping(&self) -> bool {
        let bytes = self.decoded.bytes.capacity() + 4 * self.positions.capacity();
        (1..=Self::KEPT_BYTES).contains(&bytes)
    }
}

impl Segment {
    /// `starts` holds the start of each row and the end of the last.
    pub(crate) fn new(wire: Bytes, starts: Vec<u32>, spare: Tables) -> Self {
        Self {
            wire,
            starts,
            decoded: OnceLock::new(),
            positions: OnceLock::new(),
            spare: Mutex::new(spare),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The bytes of row `i`.
    #[cfg(test)]
    pub(crate) fn row_wire(&self, i: usize) -> &[u8] {
        &self.wire[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Gives back what a later segment can use again.
    pub(crate) fn into_parts(self) -> (Vec<u32>, Tables) {
        let mut tables = self
            .spare
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(decoded) = self.decoded.into_inner() {
            tables.decoded = decoded;
        }
        if let Some(positions) = self.positions.into_inner() {
            tables.positions = positions;
        }
        (self.starts, tables)
    }

    fn spare<T>(&self, take: impl FnOnce(&mut Tables) -> T) -> T {
        take(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads row `i` with `read`; `number` is its number in the whole result.
    #[inline(always)]
    pub(crate) fn read<'row, R>(
        &'row self,
        shape: &'row Shape,
        i: usize,
        number: u64,
        read: impl FnOnce(&mut RowCursor<'_, 'row>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let span = match self.starts.get(i..) {
            Some([start, end, ..]) => Span {
                start: *start as usize,
                end: *end as usize,
            },
            _ => return Err(DecodeError::new(super::error::DecodeErrorKind::Missing)),
        };
        let page = Page {
            text: if span.end - span.start <= shape.whole_row_text {
                utf8::text_prefix(span.of(&self.wire))
            } else {
                ""
            },
            wire: &self.wire,
            base: span.start,
            segment: self,
            shape,
        };
        let mut cursor = RowCursor::new(
            &page,
            shape.binding(),
            Elements::new(&self.wire, VALUES_TAG, span),
            self.positions(shape, i),
        );
        match read(&mut cursor) {
            Ok(row) => Ok(row),
            Err(error) => Err(shape.in_row(error, number)),
        }
    }

    /// The places of the columns of row `i`, in the order in which fields read
    /// them; empty when that is the order of the columns.
    #[inline]
    fn positions<'s>(&'s self, shape: &Shape, i: usize) -> &'s [u32] {
        if shape.columns_read.is_empty() {
            return &[];
        }
        let slots = shape.columns_read.len();
        self.positions
            .get_or_init(|| self.find_positions(shape))
            .get(i * slots..(i + 1) * slots)
            .unwrap_or_default()
    }

    #[cold]
    fn find_positions(&self, shape: &Shape) -> Vec<u32> {
        let mut table = self.spare(|spare| std::mem::take(&mut spare.positions));
        table.clear();
        table.reserve(self.rows() * shape.columns_read.len());
        let mut row = Vec::with_capacity(shape.row_type.len());
        for window in self.starts.windows(2) {
            row.clear();
            if let [start, end] = window {
                let span = Span {
                    start: *start as usize,
                    end: *end as usize,
                };
                let mut elements = Elements::of_row(&self.wire, span);
                let mut at = elements.position();
                while let Ok(Some(_)) = elements.next() {
                    row.push(at as u32);
                    at = elements.position();
                }
            }
            // A place outside the row reads as a missing value.
            table.extend(
                shape
                    .columns_read
                    .iter()
                    .map(|column| row.get(*column as usize).copied().unwrap_or(u32::MAX)),
            );
        }
        table
    }

    /// The decoded bytes of the BYTES value whose text lies at `at`.
    fn bytes(&self, shape: &Shape, text: &[u8], at: usize) -> Option<&[u8]> {
        let decoded = self.decoded.get_or_init(|| self.decode(shape));
        if !decoded.bad.is_empty() && decoded.bad.binary_search(&(at as u32)).is_ok() {
            return None;
        }
        decoded.bytes.get(at..at + decoded_len(text)?)
    }

    #[cold]
    fn decode(&self, shape: &Shape) -> Decoded {
        let mut decoded = self.spare(|spare| std::mem::take(&mut spare.decoded));
        decoded.bytes.clear();
        decoded.bad.clear();
        for window in self.starts.windows(2) {
            let [start, end] = window else { continue };
            let span = Span {
                start: *start as usize,
                end: *end as usize,
            };
            let mut values = Elements::of_row(&self.wire, span);
            let mut column = 0;
            while let Ok(Some(value)) = values.next() {
                decode_column(&mut decoded, &self.wire, shape.binding(), column, value);
                column += 1;
            }
        }
        decoded
    }
}

/// Decodes what the fields that read column `column` lend of `value`.
fn decode_column(decoded: &mut Decoded, wire: &[u8], row: &Binding, column: u32, value: Span) {
    let columns = &row.decoded_columns;
    let first = columns.partition_point(|(other, _)| *other < column);
    for (_, child) in columns
        .iter()
        .skip(first)
        .take_while(|(other, _)| *other == column)
    {
        match row.children.get(*child as usize) {
            Some(field) if field.node == Node::Flattened => {
                decode_column(decoded, wire, field, column, value);
            }
            Some(field) => decode_value(decoded, wire, field, value),
            None => {}
        }
    }
}

fn decode_value(decoded: &mut Decoded, wire: &[u8], binding: &Binding, value: Span) {
    match value::read(wire, value) {
        Ok(Kind::String(text)) => decode_text(decoded, wire, text),
        Ok(Kind::List(list)) => {
            let mut elements = Elements::of_list(wire, list);
            let mut index = 0;
            while let Ok(Some(element)) = elements.next() {
                match binding.node {
                    Node::Value => {
                        if let Some(of_element) = binding.element() {
                            decode_value(decoded, wire, of_element, element);
                        }
                    }
                    _ => decode_column(decoded, wire, binding, index, element),
                }
                index += 1;
            }
        }
        // NULL, or a fault that reading the value will report.
        _ => {}
    }
}

fn decode_text(decoded: &mut Decoded, wire: &[u8], text: Span) {
    let source = text.of(wire);
    let room = decoded_len(source).map(|len| text.start..text.start + len);
    let done = room.and_then(|room| {
        // Two fields may read the same column: keep what is further on.
        let needed = room.end.max(decoded.bytes.len());
        decoded.bytes.resize(needed, 0);
        let target = decoded.bytes.get_mut(room)?;
        let out = base64_simd::AsOut::as_out(target);
        base64_simd::STANDARD.decode(source, out).ok().map(drop)
    });
    if done.is_none() {
        let start = text.start as u32;
        if let Err(place) = decoded.bad.binary_search(&start) {
            decoded.bad.insert(place, start);
        }
    }
}

/// How many bytes padded base64 of this form stands for.
pub(crate) fn decoded_len(text: &[u8]) -> Option<usize> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text
        .iter()
        .rev()
        .take(2)
        .take_while(|c| **c == b'=')
        .count();
    Some(text.len() / 4 * 3 - padding)
}

/// One row's place in its segment, from which its values are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'row> {
    pub(crate) wire: &'row [u8],
    /// As much of the row as is known to be text, from `base` on.
    text: &'row str,
    base: usize,
    segment: &'row Segment,
    shape: &'row Shape,
}

impl<'row> Page<'row> {
    /// The `len` bytes at `at`, if they are among those known to be text.
    #[inline(always)]
    pub(crate) fn known_text(&self, at: usize, len: usize) -> Option<&'row str> {
        let start = at.wrapping_sub(self.base);
        self.text.get(start..start.wrapping_add(len))
    }

    /// The bytes for which the base64 `text` at `at` stands.
    pub(crate) fn bytes(&self, text: &[u8], at: usize) -> Option<&'row [u8]> {
        self.segment.bytes(self.shape, text, at)
    }

    pub(crate) fn row_type(&self) -> &'row RowType {
        &self.shape.row_type
    }

    /// Whether the bytes of the column are decoded, when they are asked for.
    pub(crate) fn decodes_bytes(&self, column: usize) -> bool {
        let columns = &self.shape.binding.decoded_columns;
        columns
            .binary_search_by_key(&column, |(other, _)| *other as usize)
            .is_ok()
    }

    /// Binds `T` to the column at `index`, the first time that it is asked for.
    pub(crate) fn lookup<T: FromColumn<'row>>(
        &self,
        index: usize,
    ) -> Result<&'row Binding, DecodeError> {
        let shape = self.shape;
        let missing = || DecodeError::new(super::error::DecodeErrorKind::Missing);
        let bind = || {
            let field = shape.row_type.fields().get(index).ok_or_else(missing)?;
            let mut binder = super::binder::Binder::new();
            let binding = T::bind(field.ty(), &mut binder);
            binder.finish().map_err(DecodeError::invalid)?;
            Ok(binding)
        };
        shape
            .lookups
            .get::<T, _>(shape.row_type.len(), index, bind)
            .unwrap_or_else(|| Err(missing()))
    }
}
