//! Many rows alive at once: the rows of one message with their buffer.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::assembler::Batch;
use crate::error::Error;
use crate::row::cursor::RowCursor;
use crate::row::error::DecodeError;
use crate::row::segment::Shape;
use crate::row::traits::SpannerRow;
use crate::wire::RowType;

/// The rows of one released message, together with the buffer they borrow from.
///
/// Rows are decoded when they are asked for and borrow from the batch, so many
/// of them can be alive at once, and a batch can be sent to another task or be
/// shared by several (`Send + Sync + 'static`). Its memory is the message's and
/// is freed with the batch.
///
/// Prefer [`RowStream::next`](crate::RowStream::next) when one row at a time is enough.
pub struct RowBatch<T> {
    rows: Batch,
    shape: Arc<Shape>,
    /// Rows at the start that were handed out before.
    skip: usize,
    /// The number of the batch's first row in the whole result.
    first_row: u64,
    _row: PhantomData<fn() -> T>,
}

impl<T: SpannerRow> RowBatch<T> {
    pub(crate) const fn new(rows: Batch, shape: Arc<Shape>, skip: usize, first_row: u64) -> Self {
        Self {
            rows,
            shape,
            skip,
            first_row,
            _row: PhantomData,
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() - self.skip
    }

    /// Whether there are no rows; a stream never hands out such a batch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of the result.
    #[must_use]
    pub fn row_type(&self) -> &RowType {
        self.shape.row_type()
    }

    /// Decodes row `i`, counted from zero, in constant time.
    ///
    /// # Errors
    ///
    /// A value of the row cannot be read; other rows are not affected.
    ///
    /// # Panics
    ///
    /// When `i` is not less than [`len`](Self::len), as indexing a slice does.
    pub fn row(&self, i: usize) -> Result<T::Row<'_>, Error> {
        assert!(i < self.len(), "row {i} of a batch of {} rows", self.len());
        let row = read_row(
            &self.rows,
            &self.shape,
            self.skip + i,
            self.first_row,
            |cursor| T::decode(cursor, &mut T::Spare::default()),
        )?;
        Ok(row)
    }

    /// Decodes the rows in order, each when it is asked for.
    ///
    /// A row that cannot be read is an error in its place; the next one follows.
    pub fn iter(&self) -> BatchRows<'_, T> {
        BatchRows {
            batch: self,
            next: 0,
            end: self.len(),
        }
    }
}

/// Reads row `i` of `rows`, whose first row has the number `first_row`.
#[inline(always)]
pub(crate) fn read_row<'row, R>(
    rows: &'row Batch,
    shape: &'row Shape,
    i: usize,
    first_row: u64,
    read: impl FnOnce(&mut RowCursor<'_, 'row>) -> Result<R, DecodeError>,
) -> Result<R, DecodeError> {
    let (segment, at) = rows.locate(i);
    segment.read(shape, at, first_row + i as u64, read)
}

impl<T: SpannerRow> fmt::Debug for RowBatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowBatch")
            .field("len", &self.len())
            .field("row_type", self.row_type())
            .finish_non_exhaustive()
    }
}

impl<'b, T: SpannerRow> IntoIterator for &'b RowBatch<T> {
    type Item = Result<T::Row<'b>, Error>;
    type IntoIter = BatchRows<'b, T>;

    fn into_iter(self) -> BatchRows<'b, T> {
        self.iter()
    }
}

/// The rows of a [`RowBatch`], decoded one by one.
pub struct BatchRows<'b, T> {
    batch: &'b RowBatch<T>,
    next: usize,
    end: usize,
}

impl<'b, T: SpannerRow> Iterator for BatchRows<'b, T> {
    type Item = Result<T::Row<'b>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let i = self.next;
        self.next += 1;
        Some(self.batch.row(i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl<T: SpannerRow> ExactSizeIterator for BatchRows<'_, T> {}

impl<T: SpannerRow> std::iter::FusedIterator for BatchRows<'_, T> {}

impl<T: SpannerRow> DoubleEndedIterator for BatchRows<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        self.end -= 1;
        Some(self.batch.row(self.end))
    }
}

impl<T> fmt::Debug for BatchRows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchRows")
            .field("left", &(self.end - self.next))
            .finish_non_exhaustive()
    }
}
