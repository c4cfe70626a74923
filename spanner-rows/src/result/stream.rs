//! The rows of a result, one after another: the asynchronous shell around the
//! state machines of this folder.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::time::Instant;

use super::batch::RowBatch;
use super::retry::RetrySettings;
use super::rows::RowReader;
use super::source::Source;
use crate::error::{Error, ErrorKind};
use crate::observe::Observer;
use crate::row::traits::{OwnedRow, SpannerRow};
use crate::transport::Opener;
use crate::types::timestamp::Timestamp;
use crate::wire::{ResultMetadata, ResultStats, RowType};

/// The rows of a query or read, lent one at a time.
///
/// [`next`](Self::next) lends a row that is valid until the next call; the
/// compiler sees to that. [`next_batch`](Self::next_batch) hands out many rows
/// with their buffer, [`try_collect`](Self::try_collect) and
/// [`into_stream`](Self::into_stream) rows that own their data.
///
/// Every method may be cancelled: all state lives in the stream, so a dropped
/// future neither loses nor repeats a row. Dropping the stream cancels the call.
pub struct RowStream<T: SpannerRow> {
    source: Source,
    rows: RowReader<T>,
    /// The time of the transaction, if the stream is of one that has begun.
    read_at: Option<Timestamp>,
}

impl<T: SpannerRow> RowStream<T> {
    /// Sends the request, made when `started`, and waits for the first message of
    /// its answer.
    pub(crate) async fn open(
        opener: Box<dyn Opener>,
        settings: &RetrySettings,
        started: Instant,
        observer: Observer,
    ) -> Result<Self, Error> {
        let mut stream = Self {
            source: Source::new(opener, settings, started, observer),
            rows: RowReader::new(settings),
            read_at: None,
        };
        // What fails before any metadata came is told here, all else later.
        let received = |rows: &mut RowReader<T>| match rows.row_type() {
            Some(_) => Ok(true),
            None => rows.is_ready(1),
        };
        let polled =
            |cx: &mut Context<'_>| stream.source.poll_until(cx, &mut stream.rows, received);
        let begun = std::future::poll_fn(polled).await;
        let begun =
            begun
                .and_then(|_| stream.rows.bind())
                .and_then(|()| match stream.rows.row_type() {
                    Some(_) => Ok(()),
                    None => Err(Error::protocol("the result ended without metadata")),
                });
        match begun {
            Ok(()) => {
                stream.source.observe_end(stream.rows.reader());
                Ok(stream)
            }
            Err(error) => {
                stream.source.observe_error(&error);
                Err(error)
            }
        }
    }

    /// The stream is of a transaction, which sees this point in time.
    pub(crate) fn reading_at(mut self, time: Option<Timestamp>) -> Self {
        self.read_at = time;
        self
    }

    /// Lends the next row, or `None` at the end of the result.
    ///
    /// A struct that only borrows comes by value, a struct without a lifetime as
    /// `&mut` into memory that every row reuses, a mixed one as a guard
    /// ([`Recycled`](crate::Recycled)). The row is valid until the next call.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream, SpannerRow};
    /// #[derive(SpannerRow)]
    /// struct Singer<'row> {
    ///     name: &'row str,
    /// }
    ///
    /// # async fn example(mut rows: RowStream<Singer<'static>>) -> Result<(), Error> {
    /// while let Some(singer) = rows.next().await? {
    ///     println!("{}", singer.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error of one row ([`Error::is_row_error`]) consumes that row; the next
    /// call goes on with the following one. After any other error the stream is
    /// at its end.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn next(&mut self) -> Result<Option<T::Lent<'_>>, Error> {
        // A whole row is made sure of first and borrowed then, in one step:
        // what is lent must not be alive across an await.
        if !self.rows.has_row() {
            self.fetch(1).await?;
        }
        self.rows.next()
    }

    /// Hands out the next rows with their buffer, or `None` at the end.
    ///
    /// Prefer it to [`next`](Self::next) when several rows must be alive at
    /// once, or when other tasks work on them. A batch holds the rows of one
    /// message and is never empty; after calls of `next` it starts behind the
    /// last row lent.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream, SpannerRow};
    /// #[derive(SpannerRow)]
    /// struct Singer<'row> {
    ///     name: &'row str,
    /// }
    ///
    /// # async fn example(mut rows: RowStream<Singer<'static>>) -> Result<(), Error> {
    /// while let Some(batch) = rows.next_batch().await? {
    ///     let longest = batch.iter().collect::<Result<Vec<_>, _>>()?;
    ///     let longest = longest.iter().max_by_key(|singer| singer.name.len());
    ///     println!("{:?}", longest.map(|singer| singer.name));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those that end the stream; a row that cannot be read is an error in its
    /// place in the batch.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn next_batch(&mut self) -> Result<Option<RowBatch<T>>, Error> {
        self.fetch(1).await?;
        self.rows.next_batch()
    }

    /// Calls `use_row` with every row that is left: the fastest way to see them all.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream, SpannerRow};
    /// #[derive(SpannerRow)]
    /// struct Singer<'row> {
    ///     name: &'row str,
    /// }
    ///
    /// # async fn example(mut rows: RowStream<Singer<'static>>) -> Result<(), Error> {
    /// let mut letters = 0;
    /// rows.for_each(|singer| letters += singer.name.len()).await?;
    /// println!("{letters}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next). Rows before the error have been seen; after
    /// an error of one row, a further call goes on behind it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: rows that `use_row` has seen are consumed, no others.
    pub async fn for_each<F>(&mut self, mut use_row: F) -> Result<(), Error>
    where
        F: FnMut(T::Lent<'_>),
    {
        while self.fetch(1).await? {
            self.rows.for_each(&mut use_row)?;
        }
        Ok(())
    }

    /// The only row of the result, as a batch that keeps its buffer: for rows
    /// that borrow. See [`one`](Self::one) for rows that own their data.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream, SpannerRow};
    /// #[derive(SpannerRow)]
    /// struct Singer<'row> {
    ///     name: &'row str,
    /// }
    ///
    /// # async fn example(mut rows: RowStream<Singer<'static>>) -> Result<(), Error> {
    /// let batch = rows.one_batch().await?;
    /// println!("{}", batch.row(0)?.name);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next_batch`](Self::next_batch); the result has no row
    /// ([`ErrorKind::NoRow`]) or more than one ([`ErrorKind::ManyRows`]).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn one_batch(&mut self) -> Result<RowBatch<T>, Error> {
        match self.optional_batch().await? {
            Some(batch) => Ok(batch),
            None => Err(Error::new(ErrorKind::NoRow)),
        }
    }

    /// As [`one_batch`](Self::one_batch), `None` when the result has no row.
    ///
    /// # Errors
    ///
    /// Those of [`next_batch`](Self::next_batch); the result has more than one
    /// row ([`ErrorKind::ManyRows`]).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn optional_batch(&mut self) -> Result<Option<RowBatch<T>>, Error> {
        self.at_most_one().await?;
        self.rows.next_batch()
    }

    /// The only row of the result.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream};
    /// # async fn example(mut rows: RowStream<(i64, String)>) -> Result<(), Error> {
    /// let (id, name) = rows.one().await?;
    /// println!("{id} {name}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next); the result has no row
    /// ([`ErrorKind::NoRow`]) or more than one ([`ErrorKind::ManyRows`]).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn one(&mut self) -> Result<T, Error>
    where
        T: OwnedRow,
    {
        match self.optional().await? {
            Some(row) => Ok(row),
            None => Err(Error::new(ErrorKind::NoRow)),
        }
    }

    /// The only row of the result, `None` when it has none.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream};
    /// # async fn example(mut rows: RowStream<(i64, String)>) -> Result<(), Error> {
    /// if let Some((id, name)) = rows.optional().await? {
    ///     println!("{id} {name}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next); the result has more than one row
    /// ([`ErrorKind::ManyRows`]).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped call has taken no row.
    pub async fn optional(&mut self) -> Result<Option<T>, Error>
    where
        T: OwnedRow,
    {
        self.at_most_one().await?;
        self.rows.next_owned()
    }

    /// Collects all rows that are left.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream};
    /// # async fn example(mut rows: RowStream<(i64, String)>) -> Result<(), Error> {
    /// let names: Vec<(i64, String)> = rows.try_collect().await?;
    /// println!("{names:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next); the rows before it are dropped. To keep
    /// them use [`extend`](Self::extend).
    ///
    /// # Cancel safety
    ///
    /// The stream stays usable and goes on behind the rows collected so far,
    /// which are dropped with the call. Where that must not happen use
    /// [`extend`](Self::extend).
    pub async fn try_collect<C>(&mut self) -> Result<C, Error>
    where
        T: OwnedRow,
        C: Default + Extend<T>,
    {
        let mut rows = C::default();
        self.extend(&mut rows).await?;
        Ok(rows)
    }

    /// Appends all rows that are left to a collection.
    ///
    /// ```no_run
    /// # use spanner_rows::{Error, RowStream};
    /// # async fn example(mut rows: RowStream<(i64, String)>) -> Result<(), Error> {
    /// let mut names = std::collections::BTreeMap::new();
    /// rows.extend(&mut names).await?;
    /// println!("{names:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`next`](Self::next). Rows before it are in the collection;
    /// after an error of one row, a further call goes on behind it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: every row taken is in the collection.
    pub async fn extend<C>(&mut self, rows: &mut C) -> Result<(), Error>
    where
        T: OwnedRow,
        C: Extend<T>,
    {
        while self.fetch(1).await? {
            while let Some(row) = self.rows.next_owned()? {
                rows.extend([row]);
            }
        }
        Ok(())
    }

    /// The rows as a [`Stream`] of owned rows, for combinators.
    ///
    /// Prefer [`next`](Self::next), which reuses the memory of each row. The
    /// stream may be polled in any way and dropped between polls.
    #[must_use]
    pub fn into_stream(self) -> OwnedRowStream<T>
    where
        T: OwnedRow,
    {
        OwnedRowStream { rows: self }
    }

    /// The metadata of the result; `None` before the first rows are there,
    /// because until then a restart may change it.
    #[must_use]
    pub const fn metadata(&self) -> Option<&ResultMetadata> {
        self.rows.metadata()
    }

    /// The point in time that the rows show; `None` before the first rows are
    /// there, because until then a restart may change it. In a transaction, which has one
    /// for all, it is known at once.
    #[must_use]
    pub fn read_timestamp(&self) -> Option<Timestamp> {
        self.read_at.or_else(|| self.rows.read_timestamp())
    }

    /// What the server says of the work that the statement was; `None` before
    /// the end of the result.
    #[must_use]
    pub fn stats(&self) -> Option<&ResultStats> {
        self.rows.stats()
    }

    /// The columns of the result.
    #[must_use]
    pub fn row_type(&self) -> &RowType {
        match self.rows.row_type() {
            Some(row_type) => row_type,
            None => unreachable!("a stream is made when the metadata has come"),
        }
    }

    /// Waits until `wanted` rows are ready or the result has ended; tells
    /// whether they are.
    async fn fetch(&mut self, wanted: usize) -> Result<bool, Error> {
        std::future::poll_fn(|cx| self.poll_fetch(cx, wanted)).await
    }

    fn poll_fetch(&mut self, cx: &mut Context<'_>, wanted: usize) -> Poll<Result<bool, Error>> {
        let done = |rows: &mut RowReader<T>| rows.is_ready(wanted);
        let polled = self.source.poll_until(cx, &mut self.rows, done);
        match &polled {
            Poll::Ready(Ok(_)) => self.source.observe_end(self.rows.reader()),
            Poll::Ready(Err(error)) => {
                self.source.observe_error(error);
                // The error is told now; rows before it are not to follow it.
                self.rows.abandon();
                self.source.close();
            }
            Poll::Pending => {}
        }
        polled
    }

    /// Fails when more than one row is left; takes none.
    async fn at_most_one(&mut self) -> Result<(), Error> {
        if self.fetch(2).await? {
            return Err(Error::new(ErrorKind::ManyRows));
        }
        Ok(())
    }
}

impl<T: SpannerRow> fmt::Debug for RowStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowStream")
            .field("row_type", self.row_type())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// The rows of a result as a [`Stream`], each with memory of its own.
///
/// Made by [`RowStream::into_stream`]. Ends after the first error that ends the
/// result; an error of one row is an item in its place.
#[derive(Debug)]
pub struct OwnedRowStream<T: SpannerRow> {
    rows: RowStream<T>,
}

impl<T: OwnedRow> Unpin for OwnedRowStream<T> {}

impl<T: OwnedRow> Stream for OwnedRowStream<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match ready!(self.rows.poll_fetch(cx, 1)) {
            Ok(true) => Poll::Ready(self.rows.rows.next_owned().transpose()),
            Ok(false) => Poll::Ready(None),
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }
}
