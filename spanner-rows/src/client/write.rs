//! Commits of mutations alone.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;

use super::Client;
use super::commit::{Calls, CommitResult};
use super::mutation::Mutation;
use super::rerun::Reruns;
use super::unary::{Failed, within};
use super::write_settings::{WriteSettings, methods_of_write_settings};
use crate::error::Error;
use crate::observe::{Observer, Operation};
use crate::result::retry::too_late;
use crate::transport::Lane;

/// Mutations that are to be committed, made by [`Client::write`](crate::Client::write):
/// `.await` commits them.
///
/// They are committed once, whatever breaks: a commit whose answer is lost is asked for again
/// in the same transaction, which the server commits only once, and one that is aborted is
/// begun anew after the time that the server asks for.
///
/// # Errors
///
/// A mutation makes no sense ([`ErrorKind::Config`](crate::ErrorKind::Config)); the server
/// refuses one of them (ALREADY_EXISTS, NOT_FOUND, FAILED_PRECONDITION, …), and none has an
/// effect then; the server cannot be reached, or the time was over: they may have been
/// committed then, which is not known.
///
/// # Cancel safety
///
/// Not cancel safe: when the future is dropped, the mutations may have been committed or not.
#[derive(Clone)]
#[must_use = "nothing is written until this is awaited"]
pub struct Write {
    client: Client,
    mutations: Vec<Mutation>,
    settings: WriteSettings,
}

impl Write {
    pub(super) fn new(client: Client, mutations: Vec<Mutation>) -> Self {
        Self {
            client,
            mutations,
            settings: WriteSettings::default(),
        }
    }

    methods_of_write_settings!("commit");

    async fn commit(self) -> Result<CommitResult, Error> {
        self.mutations.iter().try_for_each(Mutation::check)?;
        let retry = self.settings.retry(&self.client);
        let request = self.client.inner.observe(Operation::Write);
        let observer = Observer::start(&request.transaction_tag(&self.settings.tag));
        let mut runs = Reruns::new(&retry, observer);
        let scope = runs.scope();
        let mut previous = Vec::new();
        loop {
            let calls = Calls {
                client: &self.client,
                settings: &self.settings,
                lane: &Lane::Only(self.client.inner.transport.place().into()),
                retry: &retry,
                deadline: runs.deadline(),
                scope: &scope,
            };
            match self.run(&calls, &mut previous).await {
                Ok(result) => {
                    runs.done();
                    return Ok(result);
                }
                Err(failed) => runs.again(failed).await?,
            }
        }
    }

    /// One transaction. Notes its id for the next one.
    async fn run(&self, calls: &Calls<'_>, previous: &mut Vec<u8>) -> Result<CommitResult, Failed> {
        let session = self.client.inner.sessions.for_transaction();
        let session = within(calls.deadline, session).await.unwrap_or_else(|| {
            let limit = calls.retry.total().unwrap_or_default();
            Err((too_late(limit), 1))
        });
        let session = session.map_err(|(status, attempts)| Failed {
            status,
            attempts,
            unsure: false,
        })?;
        let committed = async {
            let begun = calls.begin(&session, previous, &self.mutations).await?;
            // Only multiplexed sessions keep a place among those that wait.
            previous.clear();
            if session.is_multiplexed() {
                previous.extend_from_slice(&begun.id);
            }
            calls.commit(&session, begun, &self.mutations).await
        };
        let committed = committed.await;
        if let Err(failed) = &committed {
            if failed.status.is_session_not_found() {
                self.client.inner.sessions.forget(&session);
                // It is unknown to other sessions.
                previous.clear();
            }
            if failed.status.is_transaction_not_found() {
                previous.clear();
            }
        }
        committed
    }
}

impl IntoFuture for Write {
    type Output = Result<CommitResult, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.commit())
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Write")
            .field("client", &self.client)
            .field("mutations", &self.mutations)
            .finish_non_exhaustive()
    }
}
