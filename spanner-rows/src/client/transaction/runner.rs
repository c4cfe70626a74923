//! Runs a closure in a transaction until it is committed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{timeout, timeout_at};

use super::super::Client;
use super::super::commit::{self, Calls, CommitResult};
use super::super::rerun::Reruns;
use super::super::snapshot::Begun;
use super::super::unary::{Failed, within};
use super::super::write_settings::{
    IsolationLevel, ReadLockMode, WriteSettings, methods_of_write_settings,
};
use super::Transaction;
use super::life::Life;
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation};
use crate::result::retry::too_late;

/// How long the error of a closure waits for the transaction to be rolled back.
const ROLLBACK_LIMIT: Duration = Duration::from_secs(5);

/// Settings of a read-write transaction, made by [`Client::transaction`].
#[derive(Clone, Debug)]
#[must_use = "a transaction does nothing until `run` is called"]
pub struct TransactionBuilder {
    client: Client,
    settings: WriteSettings,
}

impl TransactionBuilder {
    pub(in super::super) fn new(client: Client) -> Self {
        Self {
            client,
            settings: WriteSettings::default(),
        }
    }

    /// What the transaction sees of others that run at the same time.
    pub const fn isolation_level(mut self, level: IsolationLevel) -> Self {
        self.settings.isolation = Some(level);
        self
    }

    /// When the transaction locks what it reads; what it gets without a mode depends on its
    /// [isolation level](Self::isolation_level).
    pub const fn read_lock_mode(mut self, mode: ReadLockMode) -> Self {
        self.settings.read_lock_mode = Some(mode);
        self
    }

    methods_of_write_settings!("transaction");

    /// Runs the closure in a transaction and commits it; answers what the closure answers.
    ///
    /// When the server aborts the transaction, in a statement, in the middle of a stream or
    /// at the commit, the closure is run again in a new one, after the time that the server
    /// asks for: so it must do nothing but in its transaction that may not be done twice. The
    /// same happens when the session of the transaction is lost. How long that goes on is said
    /// by [`retry`](Self::retry) and [`timeout`](Self::timeout).
    ///
    /// An error of the closure rolls the transaction back and is handed on. That of an aborted
    /// transaction need not be told apart: whatever the closure answers then, it is run again.
    ///
    /// # Errors
    ///
    /// That of the closure; the server refuses the commit, or cannot be reached: whether the
    /// transaction was committed is not known then.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the transaction is rolled back in the background; but not
    /// when it was being committed already: then it may be committed or not.
    pub async fn run<T, E, F, R>(self, closure: F) -> Result<T, E>
    where
        F: FnMut(Transaction) -> R,
        R: Future<Output = Result<T, E>>,
        E: From<Error>,
    {
        let (value, _) = self.run_with_commit(closure).await?;
        Ok(value)
    }

    /// As [`run`](Self::run), and tells what the commit was, too.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    ///
    /// # Cancel safety
    ///
    /// That of [`run`](Self::run).
    pub async fn run_with_commit<T, E, F, R>(self, mut closure: F) -> Result<(T, CommitResult), E>
    where
        F: FnMut(Transaction) -> R,
        R: Future<Output = Result<T, E>>,
        E: From<Error>,
    {
        let retry = self.settings.retry(&self.client).into_owned();
        let settings = Arc::new(self.settings);
        let request = self.client.inner.observe(Operation::Transaction);
        let observer = Observer::start(&request.transaction_tag(&settings.tag));
        let mut runs = Reruns::new(&retry, observer);
        let mut previous = Vec::new();
        loop {
            let life = Life::new(settings.clone(), retry.clone(), previous);
            let run = Run(Transaction::new(self.client.clone(), life, runs.scope()));
            let work = closure(run.0.clone());
            let answer = match runs.deadline() {
                None => work.await,
                Some(deadline) => match timeout_at(deadline, work).await {
                    Ok(answer) => answer,
                    Err(_) => {
                        let error = runs.too_late(run.0.life.last_failure());
                        runs.failed(&error);
                        return Err(error.into());
                    }
                },
            };
            let failed = match (run.end(), answer) {
                // Whatever the closure made of it.
                (Err(status), _) => status.into(),
                (Ok(()), Err(error)) => {
                    run.roll_back().await;
                    runs.rolled_back();
                    return Err(error);
                }
                (Ok(()), Ok(value)) => {
                    let calls = Calls {
                        client: &self.client,
                        settings: &settings,
                        lane: &run.0.snapshot.lane(),
                        retry: &retry,
                        deadline: runs.deadline(),
                        scope: run.0.snapshot.scope(),
                    };
                    match run.commit(&calls).await {
                        Ok(committed) => {
                            runs.done();
                            return Ok((value, committed));
                        }
                        Err(failed) => failed,
                    }
                }
            };
            previous = run.previous_of_next(&failed.status);
            runs.again(failed).await.map_err(E::from)?;
        }
    }
}

/// One run: rolls back what was neither committed nor given up when it is dropped.
struct Run(Transaction);

impl Run {
    /// The closure has ended.
    fn end(&self) -> Result<(), Status> {
        self.0.life.end()
    }

    async fn commit(&self, calls: &Calls<'_>) -> Result<CommitResult, Failed> {
        let (token, mutations) = self.0.life.take();
        if let Some(begun) = self.0.snapshot.close() {
            let id = begun.id.clone();
            let transaction = commit::Begun { id, token };
            let committed = calls.commit(&begun.session, transaction, &mutations).await;
            return committed.inspect_err(|failed| self.give_up(failed, &begun));
        }
        // No statement began it.
        let session = self.0.client().inner.sessions.for_transaction();
        let session = within(calls.deadline, session).await.unwrap_or_else(|| {
            let limit = calls.retry.total().unwrap_or_default();
            Err((too_late(limit), 1))
        });
        let session = session.map_err(|(status, attempts)| Failed {
            status,
            attempts,
            unsure: false,
        })?;
        let previous = self.0.life.previous();
        let committed = async {
            let begun = calls.begin(&session, previous, &mutations).await?;
            calls.commit(&session, begun, &mutations).await
        };
        committed.await.inspect_err(|failed| {
            if failed.status.is_session_not_found() {
                self.0.client().inner.sessions.forget(&session);
            }
        })
    }

    /// What was refused still holds its locks.
    fn give_up(&self, failed: &Failed, begun: &Arc<Begun>) {
        if failed.status.is_session_not_found() {
            self.0.client().inner.sessions.forget(&begun.session);
        } else if !failed.unsure
            && failed.status.code() != Code::Aborted
            && !failed.status.is_transaction_not_found()
        {
            self.0
                .life
                .roll_back(self.0.client().clone(), begun.clone());
        }
    }

    /// Rolls back and waits for that, but not for long.
    async fn roll_back(&self) {
        if let Some(begun) = self.0.snapshot.close()
            && let Some(task) = self.0.life.roll_back(self.0.client().clone(), begun)
        {
            let _ = timeout(ROLLBACK_LIMIT, task).await;
        }
    }

    /// The id by which the next run says which one was aborted.
    fn previous_of_next(&self, status: &Status) -> Vec<u8> {
        let begun = self.0.snapshot.close();
        if status.is_session_not_found() {
            // It is unknown to other sessions.
            if let Some(begun) = begun {
                self.0.client().inner.sessions.forget(&begun.session);
            }
            return Vec::new();
        }
        match begun {
            _ if status.is_transaction_not_found() => Vec::new(),
            Some(begun) if begun.session.is_multiplexed() => Bytes::clone(&begun.id).into(),
            // Only multiplexed sessions keep such a place.
            Some(_) => Vec::new(),
            None => self.0.life.previous().to_vec(),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Whoever has ended it has seen to the rest.
        if self.0.life.has_ended() {
            return;
        }
        let aborted = self.end().is_err();
        if let Some(begun) = self.0.snapshot.close()
            && !aborted
        {
            self.0.life.roll_back(self.0.client().clone(), begun);
        }
    }
}
