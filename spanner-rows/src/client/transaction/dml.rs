//! Statements that change rows.

use std::time::Duration;

use super::super::options::Priority;
use super::super::query::Query;
use crate::error::Error;
use crate::result::stream::RowStream;
use crate::row::dynamic::Row;
use crate::row::traits::SpannerRow;
use crate::types::encode::ToColumn;
use crate::wire::RowCount;

/// A statement that changes rows, made by [`Transaction::dml`](crate::Transaction::dml).
///
/// ```no_run
/// # async fn example(tx: spanner_rows::Transaction) -> Result<(), spanner_rows::Error> {
/// let changed = tx
///     .dml("UPDATE Albums SET Budget = Budget - @amount WHERE AlbumId = @id")
///     .param("amount", 100_i64)
///     .param("id", 7_i64)
///     .execute()
///     .await?;
/// println!("{changed}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a statement does nothing until it is executed"]
pub struct Dml {
    pub(super) query: Query,
}

impl Dml {
    pub(super) const fn new(query: Query) -> Self {
        Self { query }
    }

    /// The value of the parameter `@name`, as [`Query::param`] takes it.
    pub fn param<V: ToColumn>(mut self, name: impl Into<String>, value: V) -> Self {
        self.query = self.query.param(name, value);
        self
    }

    /// How important the statement is beside others, in place of what the transaction is.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.query = self.query.priority(priority);
        self
    }

    /// A name under which the service's statistics count the statement
    /// (`RequestOptions.request_tag`).
    pub fn request_tag(mut self, tag: impl Into<String>) -> Self {
        self.query = self.query.request_tag(tag);
        self
    }

    /// Says that nothing but the end of the closure follows in the transaction
    /// (`ExecuteSqlRequest.last_statement`), so that the server may do the work of the commit
    /// already and save a round trip.
    ///
    /// The server refuses whatever is done in the transaction after it, and may tell errors
    /// of the statement, a violated constraint say, at the commit only. In a
    /// [batch](crate::Transaction::batch_dml) it is for the last statement
    /// (`ExecuteBatchDmlRequest.last_statements`).
    pub fn last_statement(mut self, last: bool) -> Self {
        self.query = self.query.with_last_statement(last);
        self
    }

    /// How long the statement may take as a whole.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.query = self.query.timeout(time);
        self
    }

    /// Runs the statement; answers how many rows it changed (`row_count_exact`).
    ///
    /// The statement is run once, also when its answer is lost and asked for again (`seqno`).
    ///
    /// # Errors
    ///
    /// The server refuses the statement, or has aborted the transaction, which is then run
    /// again; a parameter's name cannot be ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: when the future is dropped, the statement may have been run or not.
    pub async fn execute(self) -> Result<i64, Error> {
        let mut rows = self.query.rows::<Row>().await?;
        rows.for_each(|_| {}).await?;
        match rows.stats().and_then(|stats| stats.row_count()) {
            Some(RowCount::Exact(count) | RowCount::LowerBound(count)) => Ok(count),
            None => Err(Error::protocol(
                "the answer to a DML statement does not say how many rows it changed: a query is run by `Transaction::query`",
            )),
        }
    }

    /// Runs a statement with THEN RETURN, and hands out the rows that it returns. The
    /// statement is done at the end of the rows, where
    /// [`RowStream::stats`] has the number of rows that it changed.
    ///
    /// # Errors
    ///
    /// Those of [`execute`](Self::execute); the columns do not fit `T`
    /// ([`ErrorKind::Bind`](crate::ErrorKind::Bind)).
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: when the future is dropped, the statement may have been run or not.
    pub async fn rows<T: SpannerRow>(self) -> Result<RowStream<T>, Error> {
        self.query.rows().await
    }
}
