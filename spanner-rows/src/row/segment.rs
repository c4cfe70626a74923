//! Rows that lie one after another in one buffer, and what is made of the
//! buffer once, when it is first needed.

use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use bytestring::ByteString;

use super::binding::{Binding, Node};
use super::error::DecodeError;
use super::lookup::Lookups;
use super::tables::{Places, Tables};
use super::text::KnownText;
use super::traits::{FromColumn, SpannerRow};
use crate::observe::tell_unread_columns;
use crate::wire::reader::Span;
use crate::wire::value::{Elements, VALUES_TAG};
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
    /// Some column is read as text.
    reads_text: bool,
    /// Some column has numbers of eight bytes, which are not text.
    has_numbers: bool,
    /// Which columns are looked for, for rows read out of order.
    places: Places,
    /// What is bound later, by [`Row::get`](crate::Row::get).
    lookups: Lookups,
}

/// From this many text columns on, one check for the whole row costs less than
/// one for each value.
const TEXTS_PER_ROW: usize = 3;

/// A row with more bytes for each column than this has values of 128 bytes and
/// more, whose lengths are not ASCII, so that most of it is not text as a whole.
const ROW_BYTES_PER_COLUMN: usize = 128;

/// When rows have fewer bytes than this, the whole buffer is checked at once.
const SMALL_ROW: usize = 128;

impl Shape {
    /// Binds `T` to the columns of a result.
    pub(crate) fn bind<T: SpannerRow + ?Sized>(
        row_type: RowType,
    ) -> Result<Self, super::binder::BindError> {
        let mut binder = super::binder::Binder::new();
        let mut binding = T::bind(&row_type, &mut binder);
        binder.finish()?;
        binding.settle();
        tell_unread_columns(std::any::type_name::<T>(), &binding, &row_type);
        let places = match binding.node {
            Node::OutOfOrder => Places::of(&binding),
            _ => Places::default(),
        };
        // A number takes eight bytes of any value, and the text ends there.
        let numbers = [TypeCode::Float64, TypeCode::Float32];
        let has_numbers = row_type
            .fields()
            .iter()
            .any(|field| numbers.contains(&field.ty().code()));
        let texts = texts(&binding);
        let whole_row_text = if texts >= TEXTS_PER_ROW && !has_numbers {
            row_type.len() * ROW_BYTES_PER_COLUMN
        } else {
            0
        };
        Ok(Self {
            row_type,
            binding,
            whole_row_text,
            reads_text: texts > 0,
            has_numbers,
            places,
            lookups: Lookups::default(),
        })
    }

    pub(crate) const fn row_type(&self) -> &RowType {
        &self.row_type
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
    /// As many rows as are ASCII when rows are small, else nothing.
    ascii: OnceLock<Ascii>,
    /// What is made of the buffer when it is first needed.
    tables: OnceLock<Box<Tables>>,
    /// Memory of an earlier segment for those.
    spare: Mutex<Option<Box<Tables>>>,
}

/// The rows of a segment as far as they are ASCII.
///
/// Without unsafe code, bytes that were checked once can be text again later only
/// in a type that remembers it.
#[derive(Debug, Default)]
struct Ascii {
    /// Where the text lies in the buffer.
    start: usize,
    end: usize,
    text: ByteString,
}

impl Segment {
    /// `starts` holds the start of each row and the end of the last.
    pub(crate) fn new(wire: Bytes, starts: Vec<u32>, spare: Option<Box<Tables>>) -> Self {
        Self {
            wire,
            starts,
            ascii: OnceLock::new(),
            tables: OnceLock::new(),
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
    pub(crate) fn into_parts(self) -> (Vec<u32>, Option<Box<Tables>>) {
        let spare = self.spare.into_inner();
        let tables = self.tables.into_inner();
        let tables = tables.or_else(|| spare.unwrap_or_else(PoisonError::into_inner));
        let kept = tables.filter(|tables| tables.is_worth_keeping());
        (self.starts, kept)
    }

    /// What a cursor over row `i` is made of; `first_row` is the number of the
    /// segment's first row in the whole result.
    ///
    /// Three things and not one: a cursor borrows the first, and what is borrowed
    /// cannot be in registers.
    #[inline(always)]
    pub(crate) fn row<'row>(
        &'row self,
        shape: &'row Shape,
        i: usize,
        first_row: u64,
    ) -> (Page<'row>, KnownText<'row>, Elements<'row>) {
        let (start, end) = match (self.starts.get(i), self.starts.get(i + 1)) {
            (Some(start), Some(end)) => (*start as usize, *end as usize),
            // Reads as a row without values.
            _ => (0, 0),
        };
        let row = self.wire.get(start..end).unwrap_or_default();
        let page = Page {
            row: i,
            first_row,
            segment: self,
            shape,
        };
        let known = self.known_text(shape, Span { start, end }, row);
        (page, known, Elements::new(row, end, VALUES_TAG))
    }

    /// Reads row `i`, number `number` of the result, with `read`.
    #[cfg(test)]
    pub(crate) fn read<'row, R>(
        &'row self,
        shape: &'row Shape,
        i: usize,
        number: u64,
        read: impl FnOnce(&mut super::cursor::RowCursor<'_, 'row>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let (page, known, values) = self.row(shape, i, number.wrapping_sub(i as u64));
        let row = super::cursor::RowCursor::new(&page, known, page.binding(), values);
        read(&mut { row }).map_err(|error| page.error(error))
    }

    /// What is known to be text of the row, which starts at `start`.
    #[inline(always)]
    fn known_text<'row>(
        &'row self,
        shape: &Shape,
        Span { start, end }: Span,
        row: &'row [u8],
    ) -> KnownText<'row> {
        let ascii = self.ascii.get_or_init(|| self.find_ascii(shape));
        if end <= ascii.end {
            return KnownText::new(&ascii.text, ascii.start);
        }
        let text = if row.len() <= shape.whole_row_text {
            utf8::text_prefix(row)
        } else {
            ""
        };
        KnownText::new(text, start)
    }

    /// Checks all rows at once, if that is worth while.
    #[cold]
    fn find_ascii(&self, shape: &Shape) -> Ascii {
        let (Some(start), Some(end)) = (self.starts.first(), self.starts.last()) else {
            return Ascii::default();
        };
        let (start, end) = (*start as usize, *end as usize);
        if !shape.reads_text || shape.has_numbers || end - start > self.rows() * SMALL_ROW {
            return Ascii::default();
        }
        let rows = self.wire.get(start..end).unwrap_or_default();
        let ascii = self
            .wire
            .slice_ref(rows.get(..utf8::ascii_prefix(rows)).unwrap_or_default());
        Ascii {
            start,
            end: start + ascii.len(),
            text: ByteString::try_from(ascii).unwrap_or_default(),
        }
    }

    /// The place of the column in this slot of row `i`.
    fn position(&self, shape: &Shape, i: usize, slot: usize) -> Option<usize> {
        self.tables(shape).position(&shape.places, i, slot)
    }

    /// The decoded bytes of the BYTES value whose text lies at `at`.
    #[inline]
    fn bytes(&self, shape: &Shape, text: &[u8], at: usize) -> Option<&[u8]> {
        self.tables(shape).bytes(text, at)
    }

    #[inline]
    fn tables(&self, shape: &Shape) -> &Tables {
        self.tables.get_or_init(|| self.make_tables(shape))
    }

    #[cold]
    fn make_tables(&self, shape: &Shape) -> Box<Tables> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables = spare.take().unwrap_or_default();
        drop(spare);
        tables.make(&self.wire, &self.starts, &shape.binding, &shape.places);
        tables
    }
}

/// One row's place in its segment, from which its values are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'row> {
    /// The number of the row in the segment.
    row: usize,
    /// The number of the segment's first row in the whole result.
    first_row: u64,
    segment: &'row Segment,
    shape: &'row Shape,
}

impl<'row> Page<'row> {
    /// How the row is read.
    #[inline(always)]
    pub(crate) const fn binding(&self) -> &'row Binding {
        &self.shape.binding
    }

    /// Adds to an error of the row which row it is, and what its column is called.
    #[cold]
    pub(crate) fn error(&self, error: DecodeError) -> DecodeError {
        self.shape.in_row(error, self.number())
    }

    /// The whole buffer.
    pub(crate) fn wire(&self) -> &'row [u8] {
        &self.segment.wire
    }

    /// Where the column in this slot lies, of a row that is read out of order.
    pub(crate) fn position(&self, slot: usize) -> Option<usize> {
        self.segment.position(self.shape, self.row, slot)
    }

    /// The values that end where `values` do, from the one at `start` on.
    pub(crate) fn values_from(&self, start: usize, values: Elements<'row>) -> Elements<'row> {
        values.again_from(self.wire(), start)
    }

    /// The bytes for which the base64 `text` at `at` stands.
    pub(crate) fn bytes(&self, text: &[u8], at: usize) -> Option<&'row [u8]> {
        self.segment.bytes(self.shape, text, at)
    }

    pub(crate) fn row_type(&self) -> &'row RowType {
        &self.shape.row_type
    }

    /// The number of the row in the whole result.
    pub(crate) const fn number(&self) -> u64 {
        self.first_row.wrapping_add(self.row as u64)
    }

    /// Adds to the error of a value at `at` where that stands. `list` is the list
    /// of which it is an element, read long after its row.
    #[cold]
    pub(crate) fn in_list(&self, error: DecodeError, list: &Binding, at: usize) -> DecodeError {
        let element = list.element().map_or("", |element| element.rust_type);
        let error = error.in_element(element);
        let Some(column) = self.column_at(at) else {
            return self.shape.in_row(error, self.number());
        };
        let row = &self.shape.binding;
        let error = match row.reader_of(column) {
            Some((owner, field)) if std::ptr::eq(field, list) => error.in_list(owner, field.field),
            Some((owner, field)) => error.in_list("", list.field).in_list(owner, field.field),
            None => error,
        };
        self.shape.in_row(error.at_column(column), self.number())
    }

    /// The column of the row in which the byte at `at` lies.
    fn column_at(&self, at: usize) -> Option<u32> {
        let rest = Span {
            start: *self.segment.starts.get(self.row)? as usize,
            end: self.wire().len(),
        };
        let mut values = Elements::of_row(self.wire(), rest);
        (0..u32::try_from(self.shape.row_type.len()).ok()?).find(|_| {
            let value = values.next().ok().flatten();
            value.is_some_and(|value| (value.start..value.end).contains(&at))
        })
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
