//! What the server was asked to write: mutations, commits, batches of DML.

use bytes::Bytes;
use std::time::Duration;

use super::convert::from_value;
use super::request::{Content, Request, RequestKeyRange, key, key_ranges};
use crate::proto::spanner::mutation::Operation;
use crate::proto::spanner::transaction_options::read_write::ReadLockMode as SentLockMode;
use crate::proto::spanner::transaction_options::{IsolationLevel as SentLevel, Mode, ReadWrite};
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    KeySet, MultiplexedSessionPrecommitToken, Mutation, TransactionOptions, commit_request,
    mutation,
};
use crate::{IsolationLevel, OwnedValue, ReadLockMode};

/// A mutation in a request (`google.spanner.v1.Mutation`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMutation {
    /// `insert`, `update`, `insert_or_update`, `replace` or `delete`.
    pub operation: &'static str,
    /// The table.
    pub table: String,
    /// The columns that are written.
    pub columns: Vec<String>,
    /// The rows that are written, each with a value for every column.
    pub rows: Vec<Vec<OwnedValue>>,
    /// The keys that are deleted.
    pub keys: Vec<Vec<OwnedValue>>,
    /// The ranges of keys that are deleted.
    pub key_ranges: Vec<RequestKeyRange>,
    /// Whether all rows are deleted.
    pub all_keys: bool,
}

impl Request {
    /// The mutations of a commit, in their order.
    #[must_use]
    pub fn mutations(&self) -> Vec<RequestMutation> {
        match self.content() {
            Content::Commit(request) => request.mutations.iter().map(from_mutation).collect(),
            _ => Vec::new(),
        }
    }

    /// The groups of mutations of a batch write, in their order.
    #[must_use]
    pub fn mutation_groups(&self) -> Vec<Vec<RequestMutation>> {
        let Content::BatchWrite(request) = self.content() else {
            return Vec::new();
        };
        let groups = request.mutation_groups.iter();
        groups
            .map(|group| group.mutations.iter().map(from_mutation).collect())
            .collect()
    }

    /// The mutation with which a transaction of mutations alone begins
    /// (`BeginTransactionRequest.mutation_key`).
    #[must_use]
    pub fn mutation_key(&self) -> Option<RequestMutation> {
        match self.content() {
            Content::Begin(request) => request.mutation_key.as_ref().map(from_mutation),
            _ => None,
        }
    }

    /// The transaction of a commit or a rollback; empty for none.
    #[must_use]
    pub fn transaction_id(&self) -> &[u8] {
        match self.content() {
            Content::Commit(request) => match &request.transaction {
                Some(commit_request::Transaction::TransactionId(id)) => id,
                _ => &[],
            },
            Content::Rollback(request) => &request.transaction_id,
            _ => &[],
        }
    }

    /// The precommit token of a commit, with its number.
    #[must_use]
    pub fn precommit_token(&self) -> Option<(&[u8], i32)> {
        match self.content() {
            Content::Commit(request) => {
                let token: &MultiplexedSessionPrecommitToken = request.precommit_token.as_ref()?;
                Some((&token.precommit_token, token.seq_num))
            }
            _ => None,
        }
    }

    /// Whether a commit asks for its figures.
    #[must_use]
    pub fn return_commit_stats(&self) -> bool {
        matches!(self.content(), Content::Commit(request) if request.return_commit_stats)
    }

    /// How long a commit may be put off.
    #[must_use]
    pub fn max_commit_delay(&self) -> Option<Duration> {
        match self.content() {
            Content::Commit(request) => request.max_commit_delay?.try_into().ok(),
            _ => None,
        }
    }

    /// The name under which the transaction is counted; empty for none.
    #[must_use]
    pub fn transaction_tag(&self) -> &str {
        self.options()
            .map_or("", |options| &options.transaction_tag)
    }

    /// The number of a statement within its transaction; 0 for none.
    #[must_use]
    pub fn seqno(&self) -> i64 {
        match self.content() {
            Content::Sql(request) => request.seqno,
            Content::BatchDml(request) => request.seqno,
            _ => 0,
        }
    }

    /// The statements of `ExecuteBatchDml`.
    #[must_use]
    pub fn statements(&self) -> Vec<&str> {
        match self.content() {
            Content::BatchDml(request) => {
                let statements = request.statements.iter();
                statements.map(|statement| &*statement.sql).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value of a parameter of one statement of `ExecuteBatchDml`, counted from 0.
    #[must_use]
    pub fn statement_param(&self, statement: usize, name: &str) -> Option<OwnedValue> {
        use prost::Message as _;
        let Content::BatchDml(request) = self.content() else {
            return None;
        };
        let params = request.statements.get(statement)?.params.clone();
        let mut params = prost_types::Struct::decode(params).ok()?;
        from_value(params.fields.remove(name)?)
    }

    /// Whether the request begins a read-write transaction.
    #[must_use]
    pub fn begins_read_write(&self) -> bool {
        self.read_write().is_some()
    }

    /// Whether the request begins a transaction of partitioned DML.
    #[must_use]
    pub fn begins_partitioned_dml(&self) -> bool {
        let options = self.begin_options();
        options.is_some_and(|it| matches!(it.mode, Some(Mode::PartitionedDml(_))))
    }

    /// The attempt that was aborted before the transaction that the request begins; empty for
    /// none (`multiplexed_session_previous_transaction_id`).
    #[must_use]
    pub fn previous_transaction_id(&self) -> &[u8] {
        self.read_write().map_or(&[], |read_write| {
            &read_write.multiplexed_session_previous_transaction_id
        })
    }

    /// When the transaction that the request begins locks what it reads.
    #[must_use]
    pub fn read_lock_mode(&self) -> Option<ReadLockMode> {
        match self.read_write()?.read_lock_mode() {
            SentLockMode::Unspecified => None,
            SentLockMode::Pessimistic => Some(ReadLockMode::Pessimistic),
            SentLockMode::Optimistic => Some(ReadLockMode::Optimistic),
        }
    }

    /// Whether a statement, or a batch of them, says that nothing follows in its transaction.
    #[must_use]
    pub fn last_statement(&self) -> bool {
        match self.content() {
            Content::Sql(request) => request.last_statement,
            Content::BatchDml(request) => request.last_statements,
            _ => false,
        }
    }

    /// The isolation level of the transaction that the request begins.
    #[must_use]
    pub fn isolation_level(&self) -> Option<IsolationLevel> {
        match self.begin_options()?.isolation_level() {
            SentLevel::Unspecified => None,
            SentLevel::Serializable => Some(IsolationLevel::Serializable),
            SentLevel::RepeatableRead => Some(IsolationLevel::RepeatableRead),
        }
    }

    /// Whether the transaction that the request begins, or the batch write that it is, is kept
    /// out of change streams.
    #[must_use]
    pub fn excluded_from_change_streams(&self) -> bool {
        if let Content::BatchWrite(request) = self.content() {
            return request.exclude_txn_from_change_streams;
        }
        let options = self.begin_options();
        options.is_some_and(|options| options.exclude_txn_from_change_streams)
    }

    fn read_write(&self) -> Option<&ReadWrite> {
        match &self.begin_options()?.mode {
            Some(Mode::ReadWrite(read_write)) => Some(read_write),
            _ => None,
        }
    }

    fn begin_options(&self) -> Option<&TransactionOptions> {
        if let Content::Begin(request) = self.content() {
            return request.options.as_ref();
        }
        match self.selector()?.selector.as_ref()? {
            Selector::Begin(options) => Some(options),
            _ => None,
        }
    }
}

fn from_mutation(mutation: &Mutation) -> RequestMutation {
    let write = |operation, write: &mutation::Write| RequestMutation {
        operation,
        table: write.table.clone(),
        columns: write.columns.clone(),
        rows: rows(&write.values),
        ..RequestMutation::default()
    };
    match &mutation.operation {
        None => RequestMutation::default(),
        Some(Operation::Insert(it)) => write("insert", it),
        Some(Operation::Update(it)) => write("update", it),
        Some(Operation::InsertOrUpdate(it)) => write("insert_or_update", it),
        Some(Operation::Replace(it)) => write("replace", it),
        Some(Operation::Delete(it)) => {
            let none = KeySet::default();
            let set = it.key_set.as_ref().unwrap_or(&none);
            RequestMutation {
                operation: "delete",
                table: it.table.clone(),
                keys: rows(&set.keys),
                key_ranges: key_ranges(set),
                all_keys: set.all,
                ..RequestMutation::default()
            }
        }
    }
}

fn rows(lists: &[Bytes]) -> Vec<Vec<OwnedValue>> {
    lists.iter().map(key).collect()
}
