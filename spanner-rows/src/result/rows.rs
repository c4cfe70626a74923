//! Messages in, rows out, without a transport: what a row stream is made of.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::assembler::Batch;
use super::batch::{RowBatch, read_row};
use super::reader::ResultReader;
use super::resumer::Retry;
use super::retry::RetrySettings;
use crate::error::{Error, Status};
use crate::row::segment::Shape;
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
    /// Released and not yet exhausted; rows are taken from the first.
    ready: VecDeque<Batch>,
    /// How many rows those have together.
    rows_ready: usize,
    /// The next row of the first batch, and how many rows that has.
    next: usize,
    end: usize,
    /// The number of the first batch's first row in the result.
    first_row: u64,
    home: T::Home,
}

impl<T: SpannerRow> RowReader<T> {
    /// A reader that has received nothing.
    #[must_use]
    pub fn new(settings: &RetrySettings) -> Self {
        Self {
            reader: ResultReader::new(settings.clone()),
            shape: None,
            ready: VecDeque::new(),
            rows_ready: 0,
            next: 0,
            end: 0,
            first_row: 0,
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

    /// The number of bytes of messages that are held back for a resume token.
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
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<T::Lent<'_>>, Error> {
        if self.next >= self.end && self.advance()? == 0 {
            return Ok(None);
        }
        let (Some(rows), Some(shape)) = (self.ready.front(), &self.shape) else {
            return Ok(None);
        };
        let i = self.next;
        self.next += 1;
        let home = &mut self.home;
        match read_row(rows, shape, i, self.first_row, |cursor| {
            T::lend(cursor, home)
        }) {
            Ok(row) => Ok(Some(row)),
            Err(error) => Err(error.into()),
        }
    }

    /// The next rows that are ready, with their buffer; `None` when there are
    /// none for now.
    ///
    /// # Errors
    ///
    /// The row does not fit the result.
    pub fn next_batch(&mut self) -> Result<Option<RowBatch<T>>, Error> {
        if self.advance()? == 0 {
            return Ok(None);
        }
        let (Some(rows), Some(shape)) = (self.ready.pop_front(), &self.shape) else {
            return Ok(None);
        };
        self.rows_ready -= rows.len();
        let batch = RowBatch::new(rows, Arc::clone(shape), self.next, self.first_row);
        self.first_row += self.end as u64;
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
        while self.advance()? > 0 {
            let (Some(rows), Some(shape)) = (self.ready.front(), &self.shape) else {
                break;
            };
            while self.next < self.end {
                let i = self.next;
                self.next += 1;
                let home = &mut self.home;
                let row = read_row(rows, shape, i, self.first_row, |cursor| {
                    T::lend(cursor, home)
                })?;
                use_row(row);
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
        if self.advance()? == 0 {
            return Ok(None);
        }
        let (Some(rows), Some(shape)) = (self.ready.front(), &self.shape) else {
            return Ok(None);
        };
        let i = self.next;
        self.next += 1;
        let row = read_row(rows, shape, i, self.first_row, |cursor| {
            T::decode(cursor, &mut T::Spare::default())
        })?;
        Ok(Some(row))
    }

    /// Whether `wanted` rows are ready.
    ///
    /// # Errors
    ///
    /// What ended the result before so many rows, or the row does not fit.
    pub fn is_ready(&mut self, wanted: usize) -> Result<bool, Error> {
        while self.rows_ready - self.next < wanted {
            if !self.take_released()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the current batch has a row left.
    #[cfg(feature = "client")]
    #[inline]
    pub(crate) const fn has_row(&self) -> bool {
        self.next < self.end
    }

    #[cfg(feature = "client")]
    pub(crate) const fn reader_mut(&mut self) -> &mut ResultReader {
        &mut self.reader
    }

    /// Ends the result here: an error was told, and nothing is to follow it.
    pub(crate) fn abandon(&mut self) {
        self.reader.abandon();
        self.ready.clear();
        self.rows_ready = 0;
        (self.next, self.end) = (0, 0);
    }

    /// Goes to the first batch with a row left; answers how many it has left.
    ///
    /// A batch that is done with is let go of before more is asked for, so that
    /// the transport can use its buffer again.
    fn advance(&mut self) -> Result<usize, Error> {
        if self.next < self.end {
            return Ok(self.end - self.next);
        }
        if self.end > 0 {
            self.first_row += self.end as u64;
            (self.next, self.end) = (0, 0);
            if let Some(rows) = self.ready.pop_front() {
                self.rows_ready -= rows.len();
                self.reader.recycle(rows);
            }
        }
        if self.ready.is_empty() && !self.take_released()? {
            return Ok(0);
        }
        self.end = self.ready.front().map_or(0, Batch::len);
        Ok(self.end)
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
            .is_none_or(|shape| shape.row_type() != row_type)
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
