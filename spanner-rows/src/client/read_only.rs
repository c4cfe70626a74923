//! Read-only transactions: several queries and reads at one point in time.

use std::fmt;
use std::sync::Arc;

use super::Client;
use super::bound::TimestampBound;
use super::query::Query;
use super::read::Read;
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::types::timestamp::Timestamp;

/// Settings of a [`ReadOnlyTransaction`], made by [`Client::read_only`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start` or `begin` is called"]
pub struct ReadOnlyBuilder {
    client: Client,
    bound: TimestampBound,
}

impl ReadOnlyBuilder {
    pub(super) const fn new(client: Client) -> Self {
        Self {
            client,
            bound: TimestampBound::Strong,
        }
    }

    /// Which state of the database the transaction sees: the one when it begins, unless
    /// this says otherwise.
    ///
    /// The bounds by which the server chooses a time
    /// ([`MinReadTimestamp`](TimestampBound::MinReadTimestamp),
    /// [`MaxStaleness`](TimestampBound::MaxStaleness)) are for single queries and reads.
    pub const fn timestamp_bound(mut self, bound: TimestampBound) -> Self {
        self.bound = bound;
        self
    }

    /// The transaction, which begins with its first query or read, without a round trip
    /// of its own (`TransactionSelector.begin`). Nothing is sent.
    ///
    /// # Errors
    ///
    /// The bound is one of single queries and reads, or cannot be sent
    /// ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    pub fn start(self) -> Result<ReadOnlyTransaction, Error> {
        let snapshot = Snapshot::read_only(self.client, self.bound)?;
        Ok(ReadOnlyTransaction {
            snapshot: Arc::new(snapshot),
        })
    }

    /// The transaction, begun with a call of its own (`BeginTransaction`).
    ///
    /// Prefer [`start`](Self::start), unless the time of the transaction must be fixed, or
    /// its [`read_timestamp`](ReadOnlyTransaction::read_timestamp) be known, before the
    /// first query. The call is repeated as the client's
    /// [`retry`](crate::ClientBuilder::retry) says, each attempt taking 30 seconds at most.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start); the server refuses the call, or cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a transaction that is then not used expires on the server.
    pub async fn begin(self) -> Result<ReadOnlyTransaction, Error> {
        let transaction = self.start()?;
        let retry = &transaction.snapshot.client().inner.retry;
        transaction.snapshot.begin(retry).await?;
        Ok(transaction)
    }
}

/// Queries and reads that all see the database at one point in time, made by
/// [`Client::read_only`].
///
/// It takes no locks and is never aborted. Cheap to clone; clones are the same
/// transaction. Any number of its queries may run at the same time: the first one begins
/// it, and the others wait until the server has begun to answer that one, whether its rows
/// are asked for or not. When it fails before, or is dropped, the next one begins the
/// transaction. There is nothing to end: one that is not used any more expires.
///
/// A transaction lives as long as its session. When the server has lost that, every
/// further query fails, because on another session it would see another time: begin a new
/// transaction then.
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// let snapshot = client.read_only().start()?;
/// let (singers,): (i64,) = snapshot.query("SELECT COUNT(*) FROM Singers").one().await?;
/// // Whatever is written meanwhile is not seen.
/// let (albums,): (i64,) = snapshot.query("SELECT COUNT(*) FROM Albums").one().await?;
/// println!("{singers} {albums} at {:?}", snapshot.read_timestamp());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReadOnlyTransaction {
    pub(super) snapshot: Arc<Snapshot>,
}

impl ReadOnlyTransaction {
    /// A query in the transaction, as [`Client::query`] is one outside.
    pub fn query(&self, sql: impl Into<String>) -> Query {
        Query::new(self.clone().into(), sql.into())
    }

    /// A read of rows of a table by their keys in the transaction, as [`Client::read`] is
    /// one outside.
    pub fn read<T>(&self, table: impl Into<String>) -> Read<T> {
        Read::new(self.clone().into(), table.into())
    }

    /// The point in time that the transaction sees; `None` before it has begun, which it
    /// has when the first stream of rows is there.
    #[must_use]
    pub fn read_timestamp(&self) -> Option<Timestamp> {
        self.snapshot.read_timestamp()
    }
}

impl fmt::Debug for ReadOnlyTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.snapshot, f)
    }
}
