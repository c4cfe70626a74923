//! What a read-write transaction gathers on its way, and how it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prost::Message as _;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::super::Client;
use super::super::commit::Calls;
use super::super::kind::Kind;
use super::super::mutation::Mutation;
use super::super::snapshot::Begun;
use super::super::write_settings::WriteSettings;
use crate::error::{Code, Error, Status};
use crate::proto::spanner as proto;
use crate::result::retry::RetrySettings;
use crate::transport::Method;
use crate::wire::reader::{Fields, Span};
use crate::wire::{PrecommitToken, ResultMetadata, WireError};

/// One run of a transaction.
pub(in super::super) struct Life {
    settings: Arc<WriteSettings>,
    retry: RetrySettings,
    /// The id of the run before, which was aborted; empty for none.
    previous: Vec<u8>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Why nothing more can be done.
    over: Option<Over>,
    token: Option<PrecommitToken>,
    mutations: Vec<Mutation>,
    /// The number of the last statement.
    statements: u64,
    /// Of any attempt of a statement.
    last_failure: Option<Status>,
}

#[derive(Clone)]
enum Over {
    /// The server has given the transaction up, or lost it: it is to be run again.
    Failed(Status),
    Ended,
}

impl Life {
    pub(super) fn new(
        settings: Arc<WriteSettings>,
        retry: RetrySettings,
        previous: Vec<u8>,
    ) -> Self {
        Self {
            settings,
            retry,
            previous,
            state: Mutex::default(),
        }
    }

    pub(in super::super) fn settings(&self) -> &WriteSettings {
        &self.settings
    }

    pub(in super::super) const fn retry(&self) -> &RetrySettings {
        &self.retry
    }

    pub(super) fn previous(&self) -> &[u8] {
        &self.previous
    }

    pub(in super::super) fn encode_options(&self, out: &mut Vec<u8>) {
        let options = self.settings.transaction_options(&self.previous);
        out.extend(options.encode_to_vec());
    }

    pub(in super::super) fn check(&self) -> Result<(), Status> {
        match &self.lock().over {
            None => Ok(()),
            Some(Over::Failed(status)) => Err(status.clone()),
            Some(Over::Ended) => Err(Kind::over()),
        }
    }

    /// The number of the next statement (`seqno`).
    pub(in super::super) fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.statements += 1;
        state.statements
    }

    pub(super) fn buffer(&self, mutations: Vec<Mutation>) -> Result<(), Error> {
        self.check().map_err(|status| Error::status(status, 1))?;
        mutations.iter().try_for_each(Mutation::check)?;
        self.lock().mutations.extend(mutations);
        Ok(())
    }

    pub(in super::super) fn received(
        &self,
        method: Method,
        message: &[u8],
    ) -> Option<ResultMetadata> {
        if method == Method::ExecuteBatchDml {
            return self.received_batch(message);
        }
        let metadata = ResultMetadata::of_transaction_in(message).ok()?;
        self.note_token(metadata.precommit().cloned());
        self.note_token(token_in(message).ok().flatten());
        Some(metadata)
    }

    fn received_batch(&self, message: &[u8]) -> Option<ResultMetadata> {
        let answer = proto::ExecuteBatchDmlResponse::decode(message).ok()?;
        self.note_token(answer.precommit_token.map(Into::into));
        for result in &answer.result_sets {
            self.note_token(result.precommit_token.clone().map(Into::into));
        }
        // Without a statement that succeeded nothing may have begun.
        let first = answer.result_sets.into_iter().next()?;
        let transaction = first.metadata?.transaction?.encode_to_vec();
        let metadata = ResultMetadata::of_transaction(&transaction).ok()?;
        self.note_token(metadata.precommit().cloned());
        Some(metadata)
    }

    /// Of all tokens the one with the highest number counts.
    pub(super) fn note_token(&self, token: Option<PrecommitToken>) {
        let Some(token) = token else { return };
        let mut state = self.lock();
        let known = state.token.as_ref();
        if known.is_none_or(|known| known.seq_num() < token.seq_num()) {
            state.token = Some(token);
        }
    }

    /// Notes what ends the transaction on the server.
    pub(in super::super) fn failed(&self, status: Status, begun: bool) -> Status {
        self.lock().last_failure = Some(status.clone());
        let lost = status.is_session_not_found() || status.is_transaction_not_found();
        if status.code() == Code::Aborted || begun && lost {
            let mut state = self.lock();
            state
                .over
                .get_or_insert_with(|| Over::Failed(status.clone()));
        }
        status
    }

    /// From now on nothing more can be done. Tells what ended it before, if that was to be
    /// run again.
    pub(super) fn end(&self) -> Result<(), Status> {
        match self.lock().over.replace(Over::Ended) {
            Some(Over::Failed(status)) => Err(status),
            Some(Over::Ended) | None => Ok(()),
        }
    }

    /// Whether somebody has ended it, which a failure alone does not.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.lock().over, Some(Over::Ended))
    }

    /// What a statement may have been waiting to make good.
    pub(super) fn last_failure(&self) -> Option<Status> {
        self.lock().last_failure.take()
    }

    /// What goes into the commit.
    pub(super) fn take(&self) -> (Option<PrecommitToken>, Vec<Mutation>) {
        let mut state = self.lock();
        (state.token.take(), std::mem::take(&mut state.mutations))
    }

    /// Rolls back in the background, as far as there is one.
    pub(in super::super) fn roll_back(
        &self,
        client: Client,
        begun: Arc<Begun>,
    ) -> Option<JoinHandle<()>> {
        let runtime = Handle::try_current().ok()?;
        let (settings, retry) = (self.settings.clone(), self.retry.clone());
        Some(runtime.spawn(async move {
            let calls = Calls {
                client: &client,
                settings: &settings,
                lane: &begun.lane,
                retry: &retry,
                deadline: None,
                scope: &begun.scope,
            };
            // Without it the transaction ends by itself after a while.
            let _ = calls.rollback(&begun.session, begun.id.clone()).await;
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Field `precommit_token` of a `google.spanner.v1.PartialResultSet`.
fn token_in(message: &[u8]) -> Result<Option<PrecommitToken>, WireError> {
    let mut token = None;
    let mut fields = Fields::new(message, Span::whole(message));
    while let Some(field) = fields.next()? {
        if field.tag.field == 8 {
            PrecommitToken::read(&mut token, message, field.message()?)?;
        }
    }
    Ok(token)
}
