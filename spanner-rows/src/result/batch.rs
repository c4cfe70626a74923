//! Many rows alive at once: the rows of one message with their buffer.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::assembler::Batch;
use crate::error::Error;
use crate::row::cursor::RowCursor;
use crate::row::segment::{Segment, Shape};
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
        let i = self.skip + i;
        let (rows, at) = self.rows.locate(i);
        self.read(rows, at, i)
    }

    /// Reads row `at` of a segment, row `i` of the message.
    #[inline(always)]
    fn read<'b>(&'b self, rows: &'b Segment, at: usize, i: usize) -> Result<T::Row<'b>, Error> {
        let (page, known, values) = rows.row(&self.shape, at, self.first_row + (i - at) as u64);
        let mut cursor = RowCursor::new(&page, known, page.binding(), values);
        match T::decode(&mut cursor, &mut T::Spare::default()) {
            Ok(row) => Ok(row),
            Err(error) => Err(page.error(error).into()),
        }
    }

    /// The rows that came whole.
    ///
    /// A call, because the compiler else chooses between both segments over and
    /// over, for every field of a segment that it needs.
    #[cold]
    #[inline(never)]
    const fn behind_joined(&self) -> &Segment {
        &self.rows.rows
    }

    /// Decodes the rows in order, each when it is asked for.
    ///
    /// A row that cannot be read is an error in its place; the next one follows.
    pub fn iter(&self) -> BatchRows<'_, T> {
        let (segment, at) = self.rows.locate(self.skip);
        BatchRows {
            batch: self,
            segment,
            before: self.skip - at,
            next: self.skip,
            end: self.rows.len(),
        }
    }
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
    /// Where the next row lies, and how many rows of the message come before that.
    segment: &'b Segment,
    before: usize,
    /// The rows left, among all rows of the message.
    next: usize,
    end: usize,
}

impl<'b, T: SpannerRow> Iterator for BatchRows<'b, T> {
    type Item = Result<T::Row<'b>, Error>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let i = self.next;
        self.next += 1;
        if i - self.before >= self.segment.rows() {
            (self.segment, self.before) = (self.batch.behind_joined(), i);
        }
        Some(self.batch.read(self.segment, i - self.before, i))
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
        let (rows, at) = self.batch.rows.locate(self.end);
        Some(self.batch.read(rows, at, self.end))
    }
}

impl<T> fmt::Debug for BatchRows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchRows")
            .field("left", &(self.end - self.next))
            .finish_non_exhaustive()
    }
}
