//! A database on the emulator, and DML on it.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::error::EmulatorError;
use super::{Emulator, admin};
use crate::Code;
use crate::proto::spanner::execute_batch_dml_request::Statement;
use crate::proto::spanner::result_set_stats::RowCount;
use crate::proto::spanner::spanner_client::SpannerClient;
use crate::proto::spanner::transaction_options::{Mode, ReadWrite};
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    CommitRequest, CreateSessionRequest, ExecuteBatchDmlRequest, ResultSet, TransactionOptions,
    TransactionSelector, commit_request,
};

/// How often to try a transaction that is aborted. The emulator runs one at a time.
const ATTEMPTS: u32 = 50;
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// A database on the [`Emulator`], made for one test. It keeps the emulator running.
#[derive(Clone)]
pub struct Database {
    pub(super) emulator: Emulator,
    name: String,
    pub(super) session: String,
}

impl Database {
    pub(super) async fn open(emulator: Emulator, name: String) -> Result<Self, EmulatorError> {
        let mut client = SpannerClient::new(emulator.channel.clone());
        let request = CreateSessionRequest {
            database: name.clone(),
            session: None,
        };
        let session = client.create_session(request).await?.into_inner().name;
        Ok(Self {
            emulator,
            name,
            session,
        })
    }

    /// The name, as `projects/…/instances/…/databases/…`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the emulator listens, as `http://host:port`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.emulator.endpoint()
    }

    /// Runs DDL statements one after another, up to the first that is refused.
    ///
    /// # Errors
    ///
    /// The emulator refuses a statement; the error has its words.
    ///
    /// # Cancel safety
    ///
    /// The statements may still run.
    pub async fn update_ddl(&self, ddl: &[&str]) -> Result<(), EmulatorError> {
        self.update_ddl_with_protos(ddl, Bytes::new()).await
    }

    /// As [`update_ddl`](Self::update_ddl), with the types that `CREATE PROTO BUNDLE` and
    /// `ALTER PROTO BUNDLE` name: the bytes of a `google.protobuf.FileDescriptorSet`.
    ///
    /// # Errors
    ///
    /// The emulator refuses a statement or the descriptors; the error has its words.
    ///
    /// # Cancel safety
    ///
    /// The statements may still run.
    pub async fn update_ddl_with_protos(
        &self,
        ddl: &[&str],
        file_descriptor_set: impl Into<Bytes>,
    ) -> Result<(), EmulatorError> {
        let ddl = ddl.iter().map(ToString::to_string).collect();
        let channel = &self.emulator.channel;
        admin::update_ddl(channel, &self.name, ddl, file_descriptor_set.into()).await
    }

    /// Runs one DML statement in a read-write transaction, commits it and answers how many rows it changed.
    ///
    /// # Errors
    ///
    /// The emulator refuses the statement or the commit; the error has its words, and nothing was changed.
    ///
    /// # Cancel safety
    ///
    /// The transaction may be committed or not.
    pub async fn execute(&self, sql: &str) -> Result<i64, EmulatorError> {
        let changed = self.execute_all(&[sql]).await?;
        Ok(changed.into_iter().sum())
    }

    /// Runs DML statements in one read-write transaction, commits it and answers how many rows each changed.
    ///
    /// # Errors
    ///
    /// The emulator refuses a statement or the commit; the error has its words, and nothing was changed.
    ///
    /// # Cancel safety
    ///
    /// The transaction may be committed or not.
    pub async fn execute_all(&self, sql: &[&str]) -> Result<Vec<i64>, EmulatorError> {
        let mut attempt = 1;
        loop {
            match self.try_execute(sql).await {
                Err(error) if error.has_code(Code::Aborted) && attempt < ATTEMPTS => {
                    tokio::time::sleep(RETRY_AFTER).await;
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    pub(super) async fn try_execute(&self, sql: &[&str]) -> Result<Vec<i64>, EmulatorError> {
        let mut client =
            SpannerClient::new(self.emulator.channel.clone()).max_decoding_message_size(usize::MAX);
        let options = TransactionOptions {
            mode: Some(Mode::ReadWrite(ReadWrite::default())),
            ..TransactionOptions::default()
        };
        let statements = sql.iter().map(|sql| Statement {
            sql: (*sql).to_owned(),
            ..Statement::default()
        });
        let request = ExecuteBatchDmlRequest {
            session: self.session.clone(),
            transaction: Some(TransactionSelector {
                selector: Some(Selector::Begin(options)),
            }),
            statements: statements.collect(),
            seqno: 1,
            ..ExecuteBatchDmlRequest::default()
        };
        let response = client.execute_batch_dml(request).await?.into_inner();
        let id = transaction_id(response.result_sets.first());
        if let Some(status) = response.status.filter(|status| status.code != 0) {
            self.roll_back(id).await;
            return Err(EmulatorError::refused(status.code, &status.message));
        }
        let Some(id) = id else {
            return Err(EmulatorError::failed("it began no transaction"));
        };
        let commit = CommitRequest {
            session: self.session.clone(),
            transaction: Some(commit_request::Transaction::TransactionId(id)),
            ..CommitRequest::default()
        };
        client.commit(commit).await?;
        Ok(response.result_sets.iter().map(changed).collect())
    }

    /// Lets go of the locks of a transaction that failed after its first statement.
    async fn roll_back(&self, id: Option<Bytes>) {
        if let Some(transaction_id) = id {
            let request = crate::proto::spanner::RollbackRequest {
                session: self.session.clone(),
                transaction_id,
            };
            let mut client = SpannerClient::new(self.emulator.channel.clone());
            // What it failed with matters, not this.
            let _ = client.rollback(request).await;
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint())
            .finish_non_exhaustive()
    }
}

fn transaction_id(result: Option<&ResultSet>) -> Option<Bytes> {
    let transaction = result?.metadata.as_ref()?.transaction.as_ref()?;
    Some(transaction.id.clone()).filter(|id| !id.is_empty())
}

fn changed(result: &ResultSet) -> i64 {
    match result.stats.as_ref().and_then(|stats| stats.row_count) {
        Some(RowCount::RowCountExact(rows) | RowCount::RowCountLowerBound(rows)) => rows,
        None => 0,
    }
}
