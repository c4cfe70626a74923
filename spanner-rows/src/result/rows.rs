//! Messages in, rows out, without a transport: what a row stream is made of.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::assembler::Batch;
use super::batch::RowBatch;
use super::reader::ResultReader;
use super::resumer::Retry;
use super::retry::RetrySettings;
use crate::error::{Error, Status};
use crate::row::cursor::RowCursor;
use crate::row::segment::{Segment, Shape};
use crate::row::traits::{OwnedRow, SpannerRow};
use crate::types::timestamp::Timestamp;
use crate::wire::{PrecommitToken, ResultMetadata, ResultStats, RowType};

/// Turns the messages of a result stream into rows, without sending or waiting.
///
/// [`RowStream`](crate::RowStream) does this over gRPC and is what programs
/// use. Prefer `RowReader` with a transport of your own: feed it each serialised
/// `google.spanner.v1.PartialResultSet` as it comes, take the rows that are
/// ready, and ask it what to do when the stream breaks. Everything that is to
/// outlive a cancelled call is kept here; time and randomness are passed in.
///
/// ```
/// use bytes::Bytes;
/// use spanner_rows::{RetrySettings, RowReader};
///
/// # fn main() -> Result<(), spanner_rows::Error> {
/// let mut rows = RowReader::<(i64, &str)>::new(&RetrySettings::default());
/// # let messages: Vec<Bytes> = vec![Bytes::from_static(
/// #     b"\x0a\x15\x0a\x13\x0a\x08\x0a\x02Id\x12\x02\x08\x02\x0a\x07\x0a\x01N\x12\x02\x08\x06\x12\x03\x1a\x017\x12\x05\x1a\x03abc",
/// # )];
/// for message in messages {
///     rows.receive(message);
///     while let Some((id, name)) = rows.next()? {
///         println!("{id} {name}");
///     }
/// }
/// rows.end(); // the server said OK: what was held until now is released
/// while let Some((id, name)) = rows.next()? {
///     println!("{id} {name}");
/// #   assert_eq!((id, name), (7, "abc"));
/// }
/// # Ok(())
/// # }
/// ```
pub struct RowReader<T: SpannerRow> {
    reader: ResultReader,
    /// `None` until the columns are known.
    shape: Option<Arc<Shape>>,
    /// Rows are taken from this segment.
    rows: Segment,
    /// Its next row, and how many it has.
    next: usize,
    end: usize,
    /// The number of its first row in the result.
    first_row: u64,
    /// When that is a joined row: the rows that came whole behind it.
    behind_joined: Option<Segment>,
    /// Released batches behind that one.
    ready: VecDeque<Batch>,
    /// How many rows those have together.
    rows_ready: usize,
    home: T::Home,
}

impl<T: SpannerRow> RowReader<T> {
    /// A reader that has received nothing.
    #[must_use]
    pub fn new(settings: &RetrySettings) -> Self {
        Self {
            reader: ResultReader::new(settings.clone()),
            shape: None,
            rows: Segment::default(),
            next: 0,
            end: 0,
            first_row: 0,
            behind_joined: None,
            ready: VecDeque::new(),
            rows_ready: 0,
            home: T::Home::default(),
        }
    }

    /// The request begins a transaction: the first message must bring its id
    /// (`ResultSetMetadata.transaction.id`), else the result ends with an error.
    #[must_use]
    pub fn expecting_transaction_id(mut self) -> Self {
        self.reader = self.reader.expecting_transaction_id();
        self
    }

    /// Takes a message. Its rows are ready at once, or when a resume token or
    /// the end covers them.
    ///
    /// A message that is malformed or breaks the protocol ends the result; the
    /// error comes from [`next`](Self::next), behind the rows that were released
    /// before it.
    pub fn receive(&mut self, message: Bytes) {
        self.reader.receive(message);
    }

    /// Takes the end of the stream with status OK.
    ///
    /// When a value or a row is unfinished, or no metadata came, the error comes
    /// from [`next`](Self::next), behind the rows before it.
    pub fn end(&mut self) {
        self.reader.end();
    }

    /// Takes the end of the stream with a status other than OK, also of one that
    /// could not be opened.
    ///
    /// Answers the next attempt. When there is to be none, because the result
    /// was complete or because the error is final, [`next`](Self::next) has what
    /// there is to know. `now` is the time since any fixed point; `random` is
    /// evenly spread over all numbers.
    #[must_use = "the request is to be sent again"]
    pub fn fail(&mut self, status: Status, now: Duration, random: u64) -> Option<Retry> {
        self.reader.fail(status, now, random)
    }

    /// Whether nothing more is to be received: the result is complete or has
    /// failed. Rows may still be ready.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.reader.is_finished()
    }

    /// What the server says of the work that the statement was; `None` before
    /// the end of the result.
    #[must_use]
    pub fn stats(&self) -> Option<&ResultStats> {
        self.reader.stats()
    }

    /// The metadata of the result; `None` before the first rows are ready,
    /// because until then a restart may change it.
    #[must_use]
    pub const fn metadata(&self) -> Option<&ResultMetadata> {
        self.reader.metadata()
    }

    /// The point in time that the rows show, when the request asked for it;
    /// `None` before the first rows are ready.
    #[must_use]
    pub fn read_timestamp(&self) -> Option<Timestamp> {
        self.reader.read_timestamp()
    }

    /// The transaction that the request began, as soon as a message brought its
    /// id. A request that is sent again then names it instead of beginning another.
    #[must_use]
    pub fn transaction_id(&self) -> Option<&Bytes> {
        self.reader.transaction_id()
    }

    /// The precommit token with the highest number received
    /// (`PartialResultSet.precommit_token`), which goes into the commit.
    #[must_use]
    pub const fn precommit_token(&self) -> Option<&PrecommitToken> {
        self.reader.precommit_token()
    }

    /// The number of bytes of messages that are held back for a resume token, with
    /// what is kept of each besides its own bytes.
    #[must_use]
    pub const fn held_bytes(&self) -> usize {
        self.reader.held_bytes()
    }

    /// Matches the row with the columns of the metadata received last, so that
    /// a row that does not fit is told before any row is there.
    ///
    /// # Errors
    ///
    /// The row does not fit.
    pub fn bind(&mut self) -> Result<(), Error> {
        match self.reader.received_row_type() {
            Some(row_type) => {
                let row_type = row_type.clone();
                self.bind_to(&row_type)
            }
            None => Ok(()),
        }
    }

    /// The columns, once the metadata is received.
    #[must_use]
    pub fn row_type(&self) -> Option<&RowType> {
        match &self.shape {
            Some(shape) => Some(shape.row_type()),
            None => self.reader.received_row_type(),
        }
    }

    /// The next row that is ready; `None` when there is none for now.
    ///
    /// # Errors
    ///
    /// A value of the row cannot be read ([`Error::is_row_error`]); the row is
    /// consumed. Or the row does not fit the result.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<T::Lent<'_>>, Error> {
        if self.next >= self.end && !self.advance()? {
            return Ok(None);
        }
        let home = &mut self.home;
        let Some(shape) = &self.shape else {
            return Ok(None);
        };
        let i = self.next;
        self.next += 1;
        let (page, known, values) = self.rows.row(shape, i, self.first_row);
        let mut cursor = RowCursor::new(&page, known, page.binding(), values);
        match T::lend(&mut cursor, home) {
            Ok(row) => Ok(Some(row)),
            Err(error) => Err(page.error(error).into()),
        }
    }

    /// The next rows that are ready, with their buffer; `None` when there are
    /// none for now.
    ///
    /// # Errors
    ///
    /// The row does not fit the result.
    pub fn next_batch(&mut self) -> Result<Option<RowBatch<T>>, Error> {
        if self.next >= self.end && !self.advance()? {
            return Ok(None);
        }
        let Some(shape) = &self.shape else {
            return Ok(None);
        };
        let rows = std::mem::take(&mut self.rows);
        let rows = match self.behind_joined.take() {
            Some(behind) => Batch {
                joined: Some(rows),
                rows: behind,
            },
            None => Batch { joined: None, rows },
        };
        let batch = RowBatch::new(rows, Arc::clone(shape), self.next, self.first_row);
        self.first_row += (self.next + batch.len()) as u64;
        (self.next, self.end) = (0, 0);
        Ok(Some(batch))
    }

    /// Calls `use_row` with every row that is ready.
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next); a further call goes on behind the row.
    pub fn for_each<F>(&mut self, use_row: &mut F) -> Result<(), Error>
    where
        F: FnMut(T::Lent<'_>),
    {
        while self.next < self.end || self.advance()? {
            let Some(shape) = &self.shape else {
                break;
            };
            while self.next < self.end {
                let i = self.next;
                self.next += 1;
                let (page, known, values) = self.rows.row(shape, i, self.first_row);
                let mut cursor = RowCursor::new(&page, known, page.binding(), values);
                match T::lend(&mut cursor, &mut self.home) {
                    Ok(row) => use_row(row),
                    Err(error) => return Err(page.error(error).into()),
                }
            }
        }
        Ok(())
    }

    /// The next row that is ready, with memory of its own; `None` when there is
    /// none for now.
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next).
    pub fn next_owned(&mut self) -> Result<Option<T>, Error>
    where
        T: OwnedRow,
    {
        if self.next >= self.end && !self.advance()? {
            return Ok(None);
        }
        let Some(shape) = &self.shape else {
            return Ok(None);
        };
        let i = self.next;
        self.next += 1;
        let (page, known, values) = self.rows.row(shape, i, self.first_row);
        let mut cursor = RowCursor::new(&page, known, page.binding(), values);
        match T::decode(&mut cursor, &mut T::Spare::default()) {
            Ok(row) => Ok(Some(row)),
            Err(error) => Err(page.error(error).into()),
        }
    }

    /// Whether `wanted` rows are ready.
    ///
    /// # Errors
    ///
    /// What ended the result before so many rows, or the row does not fit.
    pub fn is_ready(&mut self, wanted: usize) -> Result<bool, Error> {
        while self.rows_left() < wanted {
            if !self.take_released()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many rows are ready.
    fn rows_left(&self) -> usize {
        let behind_joined = self.behind_joined.as_ref().map_or(0, Segment::rows);
        self.end - self.next + behind_joined + self.rows_ready
    }

    /// Whether the current segment has a row left.
    #[cfg(feature = "client")]
    #[inline]
    pub(crate) const fn has_row(&self) -> bool {
        self.next < self.end
    }

    #[cfg(feature = "client")]
    pub(crate) const fn reader_mut(&mut self) -> &mut ResultReader {
        &mut self.reader
    }

    #[cfg(feature = "client")]
    pub(crate) const fn reader(&self) -> &ResultReader {
        &self.reader
    }

    /// Ends the result here: an error was told, and nothing is to follow it.
    pub(crate) fn abandon(&mut self) {
        self.reader.abandon();
        self.rows = Segment::default();
        (self.next, self.end) = (0, 0);
        self.behind_joined = None;
        self.ready.clear();
        self.rows_ready = 0;
    }

    /// Goes to the next segment, which has a row; answers whether there is one.
    ///
    /// A batch that is done with is let go of before more is asked for, so that
    /// the transport can use its buffer again.
    #[inline(never)]
    fn advance(&mut self) -> Result<bool, Error> {
        self.first_row += self.end as u64;
        (self.next, self.end) = (0, 0);
        self.reader.recycle(std::mem::take(&mut self.rows));
        if let Some(rows) = self.behind_joined.take() {
            self.take_up(rows);
            if self.end > 0 {
                return Ok(true);
            }
        }
        if self.ready.is_empty() && !self.take_released()? {
            return Ok(false);
        }
        let Some(batch) = self.ready.pop_front() else {
            return Ok(false);
        };
        self.rows_ready -= batch.len();
        match batch.joined {
            Some(joined) => {
                self.behind_joined = Some(batch.rows);
                self.take_up(joined);
            }
            None => self.take_up(batch.rows),
        }
        Ok(self.end > 0)
    }

    fn take_up(&mut self, rows: Segment) {
        self.end = rows.rows();
        self.rows = rows;
    }

    /// Takes the next released rows over; tells whether there were any.
    fn take_released(&mut self) -> Result<bool, Error> {
        let Some(rows) = self.reader.pop()? else {
            return Ok(false);
        };
        // A result that was restarted before anything of it was released may
        // have other columns than it had at first.
        if let Some(row_type) = self.reader.row_type() {
            let row_type = row_type.clone();
            if let Err(error) = self.bind_to(&row_type) {
                self.abandon();
                return Err(error);
            }
        }
        self.rows_ready += rows.len();
        self.ready.push_back(rows);
        Ok(true)
    }

    fn bind_to(&mut self, row_type: &RowType) -> Result<(), Error> {
        if self
            .shape
            .as_ref()
            .is_none_or(|shape| !shape.row_type().is_same(row_type))
        {
            self.shape = Some(Arc::new(Shape::bind::<T>(row_type.clone())?));
        }
        Ok(())
    }
}

impl<T: SpannerRow> fmt::Debug for RowReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader")
            .field("row_type", &self.row_type())
            .field("batches_ready", &self.ready.len())
            .finish_non_exhaustive()
    }
}
