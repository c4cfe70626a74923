//! Read-write transactions.
//!
//! * `runner`: runs a closure in a transaction until it is committed
//! * `life`: what one run gathers on its way, and how it ends
//! * `dml`: statements that change rows, one at a time
//! * `batch`: several of them in one call

pub(crate) mod batch;
pub(crate) mod dml;
pub(super) mod life;
pub(crate) mod runner;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use self::batch::BatchDmlError;
use self::dml::Dml;
use self::life::Life;
use super::Client;
use super::kind::Kind;
use super::mutation::Mutation;
use super::query::Query;
use super::read::Read;
use super::request::{ReadCall, put_integer, tag};
use super::settings::{CallSettings, Defaults};
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::observe::{Scope, Subject};
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::Method;
use crate::wire::writer::{put_bytes, with_length};

/// `ExecuteSqlRequest.seqno`
const SEQNO: u8 = 9;
/// `ExecuteSqlRequest` and `ReadRequest` agree in this field.
const REQUEST_OPTIONS: u8 = tag(11);
/// `RequestOptions.transaction_tag`
const TRANSACTION_TAG: u8 = tag(3);

/// A read-write transaction, given to the closure of
/// [`TransactionBuilder::run`](runner::TransactionBuilder::run).
///
/// Cheap to clone; clones are the same transaction, and rows of one statement may be alive
/// while another one runs. The first statement begins the transaction, and others that run
/// at the same time wait until the server has begun to answer it.
///
/// A transaction ends with its closure. Whatever is done with a handle, or read from a stream,
/// that was kept longer fails with FAILED_PRECONDITION; it never runs outside of the
/// transaction.
#[derive(Clone)]
pub struct Transaction {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) life: Arc<Life>,
}

impl Transaction {
    pub(super) fn new(client: Client, life: Life, scope: Scope) -> Self {
        let life = Arc::new(life);
        let snapshot = Snapshot::new(client, Kind::ReadWrite(life.clone())).within(scope);
        Self {
            snapshot: Arc::new(snapshot),
            life,
        }
    }

    /// A query in the transaction, as [`Client::query`] is one outside. It locks what it reads.
    pub fn query(&self, sql: impl Into<String>) -> Query {
        Query::new(self.clone().into(), sql.into())
    }

    /// A read of rows of a table by their keys in the transaction, as [`Client::read`] is
    /// one outside. It locks what it reads.
    pub fn read<T>(&self, table: impl Into<String>) -> Read<T> {
        Read::new(self.clone().into(), table.into())
    }

    /// A statement that changes rows: INSERT, UPDATE or DELETE, with or without THEN RETURN.
    pub fn dml(&self, sql: impl Into<String>) -> Dml {
        Dml::new(self.query(sql))
    }

    /// Runs several DML statements, one after the other, in one call
    /// (`ExecuteBatchDml`); answers how many rows each of them changed.
    ///
    /// Of a statement nothing but its SQL, its parameters and
    /// [`last_statement`](Dml::last_statement) are used.
    ///
    /// ```no_run
    /// # async fn example(tx: spanner_rows::Transaction) -> Result<(), spanner_rows::Error> {
    /// let counts = tx
    ///     .batch_dml([
    ///         tx.dml("UPDATE Singers SET Active = FALSE WHERE SingerId = @id").param("id", 1_i64),
    ///         tx.dml("DELETE FROM Albums WHERE SingerId = @id").param("id", 1_i64),
    ///     ])
    ///     .await?;
    /// println!("{counts:?}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The server refuses a statement: those before it have been run, and how many rows they
    /// changed is [`BatchDmlError::counts`]; those behind it have not.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: when the future is dropped, the statements may have been run or not.
    pub async fn batch_dml(
        &self,
        statements: impl IntoIterator<Item = Dml>,
    ) -> Result<Vec<i64>, BatchDmlError> {
        batch::run(self, statements.into_iter().collect()).await
    }

    /// Commits these mutations with the transaction. Statements of the transaction do not see
    /// them.
    ///
    /// # Errors
    ///
    /// A mutation makes no sense ([`ErrorKind::Config`](crate::ErrorKind::Config)); the
    /// transaction is over.
    pub fn buffer(&self, mutations: impl IntoIterator<Item = Mutation>) -> Result<(), Error> {
        self.life.buffer(mutations.into_iter().collect())
    }

    pub(super) fn client(&self) -> &Client {
        self.snapshot.client()
    }

    /// What statements have that do not say otherwise.
    pub(super) fn defaults(&self) -> Cow<'_, Defaults> {
        let priority = self.life.settings().priority;
        self.client().defaults().for_leader(priority)
    }

    pub(super) async fn send<T: SpannerRow>(
        &self,
        mut call: ReadCall,
        settings: &CallSettings,
        subject: Subject<'_>,
    ) -> Result<RowStream<T>, Error> {
        if call.method == Method::ExecuteStreamingSql {
            put_integer(&mut call.fields, SEQNO, self.life.next_number());
        }
        self.put_tag(&mut call.fields, REQUEST_OPTIONS);
        self.snapshot.send(call, settings, subject).await
    }

    /// Appends the tag of the transaction. Where the options are there already, the server
    /// joins the two.
    fn put_tag(&self, fields: &mut Vec<u8>, options: u8) {
        let tag = &self.life.settings().tag;
        if !tag.is_empty() {
            fields.push(options);
            with_length(fields, |out| {
                put_bytes(out, TRANSACTION_TAG, tag.as_bytes())
            });
        }
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.snapshot, f)
    }
}
