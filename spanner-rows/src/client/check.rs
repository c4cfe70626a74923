//! Holding a struct against a statement or a table without reading anything.

use super::options::QueryMode;
use super::query::Query;
use super::read::Read;
use crate::error::Error;
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::wire::ResultMetadata;

impl Query {
    /// Holds a row against the columns of the result, without running the statement.
    ///
    /// For the tests of a program: one for each query, against a database with the schema
    /// of production (the emulator will do), tells every column that is missing or has
    /// another type before the program is deployed. Answers the columns, and the types of
    /// parameters that the statement names and the query does not have
    /// ([`ResultMetadata::undeclared_parameters`]).
    ///
    /// The statement is planned only (`ExecuteSqlRequest.query_mode` = `PLAN`).
    ///
    /// ```no_run
    /// # async fn f(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// #[derive(spanner_rows::SpannerRow)]
    /// struct Count { name: String, n: i64 }
    ///
    /// let checked = client.query("SELECT name, n FROM Counts WHERE n > @least").check::<Count>().await?;
    /// assert_eq!(checked.undeclared_parameters().fields()[0].name(), "least");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The row does not fit ([`ErrorKind::Bind`](crate::ErrorKind::Bind)), with all columns
    /// that do not; the server refuses the statement, or cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the request is then cancelled.
    pub async fn check<T: SpannerRow>(self) -> Result<ResultMetadata, Error> {
        first_metadata(self.mode(QueryMode::Plan).rows::<T>().await?).await
    }
}

impl<T: SpannerRow> Read<T> {
    /// Holds the row against the columns of the table or index, without reading any row:
    /// see [`Query::check`]. Keys and ranges are left out of the request.
    ///
    /// # Errors
    ///
    /// There is no such table, index or column; the row does not fit
    /// ([`ErrorKind::Bind`](crate::ErrorKind::Bind)); the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the request is then cancelled.
    pub async fn check(self) -> Result<ResultMetadata, Error> {
        first_metadata(self.of_no_key().rows().await?).await
    }
}

async fn first_metadata<T: SpannerRow>(mut rows: RowStream<T>) -> Result<ResultMetadata, Error> {
    // Releases the metadata. A server that sends rows nevertheless is not read further.
    rows.next_batch().await?;
    let metadata = rows.metadata().cloned();
    metadata.ok_or_else(|| Error::protocol("no message said which columns the result has"))
}
