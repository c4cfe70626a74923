//! The cursor that generated code reads a row from, field by field.

use super::binding::{Binding, Node};
use super::column::{Column, not_utf8, string_of};
use super::error::{DecodeError, DecodeErrorKind};
use super::segment::Page;
use super::text::{KnownText, put_text};
use super::traits::FromColumn;
use crate::wire::utf8;
use crate::wire::value::{Elements, Found};

/// Stands in a row and hands out the value of one field after another.
///
/// Fields are read in the order of the struct. When that is the order of the
/// columns too, values are taken straight from the wire and those between are
/// passed over; else their places come from a table made once per buffer.
///
/// This is the hot path of the crate: with everything here inlined, a cursor
/// lives in registers. Only what is slow anyway is a call.
#[derive(Debug)]
pub struct RowCursor<'c, 'row> {
    page: &'c Page<'row>,
    known: KnownText<'row>,
    row: &'row Binding,
    /// The fields not read yet.
    pub(super) fields: &'row [Binding],
    /// The row, or flattened row, that the fields are of; for messages.
    owner: &'row Binding,
    pub(super) values: Elements<'row>,
    start: Start<'c>,
}

/// From where values are found that come in another order than the fields.
#[derive(Clone, Copy, Debug)]
struct Start<'c> {
    /// Where the first value lies.
    at: usize,
    /// The places of the fields of a STRUCT, as far as they are noted.
    places: &'c [u32],
}

/// The fields of a STRUCT whose places are noted; those behind them are looked
/// for from the start.
const MOST_PLACES: usize = 64;

impl<'c, 'row> RowCursor<'c, 'row> {
    #[inline(always)]
    pub(crate) fn new(
        page: &'c Page<'row>,
        known: KnownText<'row>,
        row: &'row Binding,
        values: Elements<'row>,
    ) -> Self {
        Self {
            page,
            known,
            row,
            fields: &row.children,
            owner: row,
            values,
            start: Start {
                at: values.position(),
                places: &[],
            },
        }
    }

    /// Reads the values of a STRUCT as a row.
    #[inline]
    pub(crate) fn structure<R>(
        page: &Page<'row>,
        known: KnownText<'row>,
        row: &'row Binding,
        values: Elements<'row>,
        read: impl FnOnce(&mut RowCursor<'_, 'row>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        // Only filled where it is needed.
        let mut places;
        let mut cursor = RowCursor::new(page, known, row, values);
        if row.node == Node::OutOfOrder {
            places = [0; MOST_PLACES];
            cursor.start.places = find_places(values, &mut places)?;
        }
        read(&mut cursor)
    }

    /// Reads the next field.
    #[doc(hidden)]
    #[inline(always)]
    pub fn read<T: FromColumn<'row>>(&mut self, spare: &mut T::Spare) -> Result<T, DecodeError> {
        let (binding, value) = self.next_value()?;
        match T::read(self.column(binding, value), spare) {
            Ok(value) => Ok(value),
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    /// Reads the next field over an earlier value.
    #[doc(hidden)]
    #[inline(always)]
    pub fn set<T: FromColumn<'row>>(
        &mut self,
        value: &mut T,
        spare: &mut T::Spare,
    ) -> Result<(), DecodeError> {
        let (binding, column) = self.next_value()?;
        match value.set(self.column(binding, column), spare) {
            Ok(()) => Ok(()),
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    /// Reads the next field, a row whose columns stand among those of this one.
    #[doc(hidden)]
    #[inline]
    pub fn flattened<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let Some((binding, rest)) = self.fields.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Missing));
        };
        let outer = std::mem::replace(&mut self.owner, binding);
        self.fields = &binding.children;
        let read = read(self);
        self.fields = rest;
        self.owner = outer;
        match read {
            Ok(value) => Ok(value),
            Err(error) => Err(error.in_flattened(outer.rust_type, binding.field)),
        }
    }

    /// Reads the next field with `read`.
    #[inline(always)]
    pub(super) fn read_by<T>(
        &mut self,
        read: impl FnOnce(Column<'c, 'row>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let (binding, value) = self.next_value()?;
        match read(self.column(binding, value)) {
            Ok(value) => Ok(value),
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    #[inline(always)]
    pub(super) fn next_value(&mut self) -> Result<(&'row Binding, Found<'row>), DecodeError> {
        let Some((binding, rest)) = self.fields.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Missing));
        };
        self.fields = rest;
        if binding.comes_next
            && let Some(value) = self.values.next_short()
        {
            return Ok((binding, value));
        }
        let (page, row) = (self.page, self.row);
        match find(page, row, self.start, self.values, binding) {
            Ok((value, at, rest)) => {
                self.values = self.values.go_on(rest);
                Ok((binding, (value, at)))
            }
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    /// Reads the next field, whose value is sent as a string and is text.
    #[inline(always)]
    pub(crate) fn read_text(&mut self) -> Result<&'row str, DecodeError> {
        let (binding, (bytes, at)) = self.next_string()?;
        if let Some(text) = self.known.text(at, bytes.len()) {
            return Ok(text);
        }
        match utf8::text(bytes) {
            Some(text) => Ok(text),
            None => Err(in_field(not_utf8(at), self.owner, binding)),
        }
    }

    /// Reads the next field, whose value is sent as a string and is text, into
    /// memory that an earlier value left.
    #[inline(always)]
    pub(crate) fn copy_text(&mut self, target: &mut String) -> Result<(), DecodeError> {
        let (binding, (bytes, at)) = self.next_string()?;
        if self.known.copy(at, bytes.len(), target) {
            return Ok(());
        }
        match utf8::text(bytes) {
            Some(text) => {
                put_text(target, text);
                Ok(())
            }
            None => Err(in_field(not_utf8(at), self.owner, binding)),
        }
    }

    /// Reads the next field, whose value is sent as a string, with `parse`.
    #[inline(always)]
    pub(crate) fn read_ascii<T>(
        &mut self,
        parse: impl FnOnce(&'row [u8]) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let (binding, (bytes, _)) = self.next_string()?;
        match parse(bytes) {
            Ok(value) => Ok(value),
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    /// As [`next_value`](Self::next_value) and [`Column::text`] in one: the tags
    /// and lengths of a value and of its string are looked at together.
    #[inline(always)]
    fn next_string(&mut self) -> Result<(&'row Binding, Found<'row>), DecodeError> {
        let Some((binding, rest)) = self.fields.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Missing));
        };
        self.fields = rest;
        if binding.comes_next {
            if let Some(text) = self.values.next_short_string() {
                return Ok((binding, text));
            }
            if let Some(text) = self.values.next_longer_string() {
                return Ok((binding, text));
            }
        }
        let (page, row) = (self.page, self.row);
        match find_string(page, row, self.start, self.values, binding) {
            Ok((text, at, rest)) => {
                self.values = self.values.go_on(rest);
                Ok((binding, (text, at)))
            }
            Err(error) => Err(in_field(error, self.owner, binding)),
        }
    }

    #[inline(always)]
    pub(super) const fn column(
        &self,
        binding: &'row Binding,
        value: Found<'row>,
    ) -> Column<'c, 'row> {
        Column::new(self.page, self.known, binding, value)
    }

    pub(crate) const fn page(&self) -> &'c Page<'row> {
        self.page
    }

    pub(crate) const fn known(&self) -> KnownText<'row> {
        self.known
    }

    pub(crate) const fn values(&self) -> Elements<'row> {
        self.values
    }
}

/// A value or its text, where it lies, and the bytes that follow the value.
type FoundAndRest<'row> = (&'row [u8], usize, &'row [u8]);

/// A value that does not simply come next.
///
/// Everything goes in and out by value: were the cursor lent to this function,
/// the compiler would have to keep it in memory all the time.
#[inline(never)]
fn find<'row>(
    page: &Page<'row>,
    row: &Binding,
    start: Start<'_>,
    mut values: Elements<'row>,
    binding: &Binding,
) -> Result<FoundAndRest<'row>, DecodeError> {
    if binding.comes_next
        && let Some((value, at)) = values.next_longer()
    {
        return Ok((value, at, values.rest()));
    }
    let found = match row.node {
        Node::OutOfOrder if values.is_row() => match page.position(binding.slot as usize) {
            Some(at) => page.values_from(at, values).next_bytes()?,
            None => None,
        },
        Node::OutOfOrder => match start.places.get(binding.column as usize) {
            Some(at) => page.values_from(*at as usize, values).next_bytes()?,
            None => {
                let mut values = page.values_from(start.at, values);
                for _ in 0..binding.column {
                    values.next_bytes()?;
                }
                values.next_bytes()?
            }
        },
        _ => {
            for _ in 0..binding.skip {
                values.next_bytes()?;
            }
            values.next_bytes()?
        }
    };
    match found {
        Some((value, at)) => Ok((value, at, values.rest())),
        None => Err(DecodeError::new(DecodeErrorKind::Missing)),
    }
}

/// The string in a value that does not simply come next.
#[inline(never)]
fn find_string<'row>(
    page: &Page<'row>,
    row: &Binding,
    start: Start<'_>,
    values: Elements<'row>,
    binding: &Binding,
) -> Result<FoundAndRest<'row>, DecodeError> {
    let (value, at, rest) = find(page, row, start, values, binding)?;
    let (text, at) = string_of(page, value, at)?;
    Ok((text, at, rest))
}

/// Where each of the values lies, as far as there is room.
#[inline(never)]
fn find_places<'p>(
    mut values: Elements<'_>,
    places: &'p mut [u32],
) -> Result<&'p [u32], DecodeError> {
    let mut found = 0;
    for place in &mut *places {
        // Buffers are smaller than 4 GiB.
        *place = values.position() as u32;
        if values.next()?.is_none() {
            break;
        }
        found += 1;
    }
    Ok(places.get(..found).unwrap_or_default())
}

#[cold]
fn in_field(error: DecodeError, owner: &Binding, binding: &Binding) -> DecodeError {
    error.in_field(
        owner.rust_type,
        binding.field,
        binding.rust_type,
        binding.column,
    )
}
