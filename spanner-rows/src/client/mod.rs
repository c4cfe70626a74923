//! The client: what a program asks, as requests of the data service.
//!
//! * `builder`: settings, and the first connection
//! * `database`: the name of a database
//! * `session`: the one session of a client, made once for everybody who waits,
//!   replaced when it is old or gone
//! * `headers`: what every call carries besides its message, and request ids
//! * `request`: encoding requests, and sending one as often as its result needs it
//! * `query`, `read`, `key`: the requests
//! * `check`, `describe`: a row held against a statement or a table, or written for it
//! * `read_only`, `snapshot`, `begin`: read-only transactions; how any transaction begins with its first
//!   statement, or with a call of its own
//! * `origin`: where a request runs: alone or in a transaction
//! * `partition`, `partition_text`: a result in parts, which other machines can read
//! * `partition_foreign`, `partition_json`: parts that other clients made
//! * `partition_read`: reading parts, one or many at once
//! * `settings`, `options`, `bound`: what both can be told
//! * `batch_write`: groups of mutations, each committed by itself
//! * `mutation`, `write`, `commit`: changes without SQL, and how they are committed
//! * `transaction`: read-write transactions; `kind`: how they differ from read-only ones
//! * `partitioned_dml`: one statement over all rows of a table, in many small transactions
//! * `unary`, `rerun`: when a call, and when a transaction, is made again
//! * `write_settings`: what transactions that write can be told

pub(crate) mod batch_write;
mod begin;
pub(crate) mod bound;
pub(crate) mod builder;
pub(crate) mod call_headers;
mod check;
pub(crate) mod commit;
mod database;
mod describe;
mod headers;
pub(crate) mod key;
mod kind;
pub(crate) mod mutation;
pub(crate) mod options;
mod origin;
mod own_session;
pub(crate) mod partition;
pub(crate) mod partition_foreign;
#[cfg(feature = "serde_json")]
pub(crate) mod partition_json;
pub(crate) mod partition_read;
pub(crate) mod partition_text;
pub(crate) mod partitioned_dml;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod read_only;
mod request;
mod rerun;
mod session;
mod settings;
mod snapshot;
pub(crate) mod transaction;
mod unary;
pub(crate) mod write;
pub(crate) mod write_settings;

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod request_tests;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod snapshot_tests;
#[cfg(test)]
mod test_transport;

use std::fmt;
use std::sync::Arc;

use batch_write::BatchWrite;
use builder::ClientBuilder;
use database::DatabaseName;
use headers::{Headers, RequestId};
use mutation::Mutation;
use partitioned_dml::PartitionedDml;
use query::Query;
use read::Read;
use read_only::ReadOnlyBuilder;
use session::{Session, Sessions};
use settings::Defaults;
use transaction::runner::TransactionBuilder;
use write::Write;

use crate::error::Error;
use crate::observe::{self, Observer, Operation, Start};
use crate::result::retry::RetrySettings;
use crate::transport::Transport;

/// A connection to one database.
///
/// Cheap to clone; clones share the connection and the session. Any number of
/// queries and reads may run at the same time.
///
/// ```no_run
/// # async fn example() -> Result<(), spanner_rows::Error> {
/// use spanner_rows::Client;
///
/// let client = Client::connect("projects/p/instances/i/databases/d").await?;
/// let (count,): (i64,) = client.query("SELECT COUNT(*) FROM Singers").one().await?;
/// # let _ = count;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    database: DatabaseName,
    /// The address, for people to read.
    endpoint: String,
    transport: Arc<dyn Transport>,
    headers: Arc<Headers>,
    sessions: Sessions,
    retry: RetrySettings,
    defaults: Defaults,
    observing: observe::Settings,
}

impl Inner {
    /// A request of the program begins.
    #[inline]
    fn observe(&self, operation: Operation) -> Start<'_> {
        Start::new(operation, self.observing, self.database.as_str())
    }

    /// The id of a request, and what the program adds to it, as a part of its span.
    fn new_request(&self, observer: &Observer) -> RequestId {
        let id = match self.headers.asks_program() {
            true => observer.within(|| self.headers.new_request()),
            false => self.headers.new_request(),
        };
        observer.request_id(&id);
        id
    }
}

impl Client {
    /// Connects to the database `projects/P/instances/I/databases/D` with the
    /// default settings and makes the session that all reads use.
    ///
    /// That is the service of Google Cloud, with Application Default Credentials
    /// (feature `auth`), or the emulator that the environment variable
    /// `SPANNER_EMULATOR_HOST` names. Prefer [`builder`](Self::builder) to say more.
    ///
    /// # Errors
    ///
    /// The name has another form; there are no credentials; the server cannot be
    /// reached or has no such database.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a session that is then not used expires on the server.
    pub async fn connect(database: impl Into<String>) -> Result<Self, Error> {
        Self::builder(database).connect().await
    }

    /// Settings for a client of the database `projects/P/instances/I/databases/D`.
    pub fn builder(database: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(database.into())
    }

    /// A query, to which parameters can be added before it is sent.
    ///
    /// It reads in a transaction of its own, and the latest data unless
    /// [`Query::timestamp_bound`] says otherwise.
    pub fn query(&self, sql: impl Into<String>) -> Query {
        Query::new(self.clone().into(), sql.into())
    }

    /// A read of rows of a table by their keys, without SQL.
    ///
    /// The columns are those that the row type `T` names. It reads in a transaction of
    /// its own, and the latest data unless [`Read::timestamp_bound`] says otherwise.
    pub fn read<T>(&self, table: impl Into<String>) -> Read<T> {
        Read::new(self.clone().into(), table.into())
    }

    /// A read-only transaction: queries and reads that all see one point in time.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// use std::time::Duration;
    /// use spanner_rows::TimestampBound;
    ///
    /// let minute_ago = TimestampBound::ExactStaleness(Duration::from_secs(60));
    /// let snapshot = client.read_only().timestamp_bound(minute_ago).start()?;
    /// let mut singers = snapshot.query("SELECT SingerId FROM Singers").rows::<(i64,)>().await?;
    /// while let Some((singer,)) = singers.next().await? {
    ///     let albums = snapshot.query("SELECT COUNT(*) FROM Albums WHERE SingerId = @singer");
    ///     let (albums,): (i64,) = albums.param("singer", singer).one().await?;
    ///     println!("{singer}: {albums}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_only(&self) -> ReadOnlyBuilder {
        ReadOnlyBuilder::new(self.clone())
    }

    /// Commits mutations, all or none, and once whatever breaks: `.await` does it.
    ///
    /// Prefer it to a [`transaction`](Self::transaction) where nothing has to be read.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// use spanner_rows::Mutation;
    ///
    /// let new = Mutation::insert("Singers").set("SingerId", 1_i64).set("FirstName", "Marc");
    /// let old = Mutation::delete("Singers").range(100_i64..200);
    /// let committed = client.write([new, old]).await?;
    /// println!("{}", committed.timestamp);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(&self, mutations: impl IntoIterator<Item = Mutation>) -> Write {
        Write::new(self.clone(), mutations.into_iter().collect())
    }

    /// Commits groups of mutations, each group by itself and at least once, in one call.
    ///
    /// Prefer [`write`](Self::write) for anything that is to happen as a whole, or once: see
    /// [`BatchWrite`]. The emulator does not have it.
    pub fn batch_write<G: IntoIterator<Item = Mutation>>(
        &self,
        groups: impl IntoIterator<Item = G>,
    ) -> BatchWrite {
        let groups = groups.into_iter().map(|group| group.into_iter().collect());
        BatchWrite::new(self.clone(), groups.collect())
    }

    /// A read-write transaction, in which a closure runs; again, when it is aborted.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// use spanner_rows::Error;
    ///
    /// let moved = client
    ///     .transaction()
    ///     .run(|tx| async move {
    ///         let budget = tx.query("SELECT Budget FROM Albums WHERE AlbumId = 1");
    ///         let (budget,): (i64,) = budget.one().await?;
    ///         let moved = budget.min(1000);
    ///         let sql = "UPDATE Albums SET Budget = Budget - @moved WHERE AlbumId = 1";
    ///         tx.dml(sql).param("moved", moved).execute().await?;
    ///         let sql = "UPDATE Albums SET Budget = Budget + @moved WHERE AlbumId = 2";
    ///         tx.dml(sql).param("moved", moved).execute().await?;
    ///         Ok::<_, Error>(moved)
    ///     })
    ///     .await?;
    /// println!("{moved}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn transaction(&self) -> TransactionBuilder {
        TransactionBuilder::new(self.clone())
    }

    /// An UPDATE or DELETE of very many rows, which the server runs in parts, each a
    /// transaction of its own (Partitioned DML).
    ///
    /// Prefer [`transaction`](Self::transaction) with [`Transaction::dml`](crate::Transaction::dml)
    /// for anything that is to happen as a whole, and once: see [`PartitionedDml`].
    pub fn partitioned_dml(&self, sql: impl Into<String>) -> PartitionedDml {
        PartitionedDml::new(self.clone(), sql.into())
    }

    /// The name of the database, `projects/P/instances/I/databases/D`.
    #[must_use]
    pub fn database(&self) -> &str {
        self.inner.database.as_str()
    }

    fn defaults(&self) -> &Defaults {
        &self.inner.defaults
    }

    async fn session(&self) -> Result<Arc<Session>, Error> {
        let session = self.inner.sessions.get().await;
        session.map_err(|(status, attempts)| Error::status(status, attempts))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("database", &self.database())
            .field("endpoint", &self.inner.endpoint)
            .finish_non_exhaustive()
    }
}
