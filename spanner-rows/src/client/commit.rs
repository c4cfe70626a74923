//! Beginning, committing and rolling back a transaction that writes: one call each, repeated
//! until there is an answer.

use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tokio::time::Instant;

use super::Client;
use super::mutation::Mutation;
use super::request::tag;
use super::session::Session;
use super::snapshot::no_transaction;
use super::unary::{Failed, Unary};
use super::write_settings::WriteSettings;
use crate::error::{Code, Status};
use crate::observe::Scope;
use crate::proto::spanner as proto;
use crate::result::retry::RetrySettings;
use crate::transport::{Lane, Method};
use crate::types::timestamp::Timestamp;
use crate::wire::PrecommitToken;

/// Field `mutation_key` of `google.spanner.v1.BeginTransactionRequest`, and field `mutations`
/// of `CommitRequest`.
const MUTATION: u8 = tag(4);

/// How long one attempt to begin or to roll back may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How often the server may ask to commit again with another token.
const MAX_TOKENS: usize = 16;

/// What a commit was (`google.spanner.v1.CommitResponse`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitResult {
    /// The time at which the changes are there (`commit_timestamp`), and which is in all
    /// columns that are [`CommitTimestamp`](crate::CommitTimestamp).
    pub timestamp: Timestamp,
    /// Figures of the commit (`commit_stats`); `None` unless they were asked for.
    pub stats: Option<CommitStats>,
}

/// Figures of a commit (`google.spanner.v1.CommitResponse.CommitStats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitStats {
    /// How much the commit counts of what one may be: about the number of values that were
    /// written, those in indexes included (`mutation_count`).
    pub mutation_count: i64,
}

/// The calls of one transaction.
pub(super) struct Calls<'a> {
    pub(super) client: &'a Client,
    pub(super) settings: &'a WriteSettings,
    pub(super) lane: &'a Lane,
    pub(super) retry: &'a RetrySettings,
    pub(super) deadline: Option<Instant>,
    /// What they are shown as parts of.
    pub(super) scope: &'a Scope,
}

/// A transaction that the server has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) id: Bytes,
    pub(super) token: Option<PrecommitToken>,
}

impl Calls<'_> {
    /// Begins a transaction with a call of its own. `previous` is the id of the attempt that
    /// was aborted before; `mutations` are those that it will commit if it does nothing else.
    pub(super) async fn begin(
        &self,
        session: &Session,
        previous: &[u8],
        mutations: &[Mutation],
    ) -> Result<Begun, Failed> {
        let request = proto::BeginTransactionRequest {
            session: session.name().to_owned(),
            options: Some(self.settings.transaction_options(previous)),
            request_options: self.settings.request_options(self.client),
            mutation_key: None,
        };
        let mut body = request.encode_to_vec();
        let written = mutations.iter().filter(|mutation| !mutation.is_empty());
        if let Some(key) = written.max_by_key(|mutation| mutation.weight()) {
            key.encode(&mut body, MUTATION);
        }
        let answer = self.send(Method::BeginTransaction, session, body, LIMIT);
        let answer = proto::Transaction::decode(answer.await?).map_err(unreadable)?;
        if answer.id.is_empty() {
            return Err(no_transaction().into());
        }
        Ok(Begun {
            id: answer.id,
            token: answer.precommit_token.map(Into::into),
        })
    }

    /// Commits. The server does it once, however often it is asked.
    pub(super) async fn commit(
        &self,
        session: &Session,
        begun: Begun,
        mutations: &[Mutation],
    ) -> Result<CommitResult, Failed> {
        let mut token = begun.token;
        for _ in 0..MAX_TOKENS {
            let request = proto::CommitRequest {
                session: session.name().to_owned(),
                transaction: Some(proto::commit_request::Transaction::TransactionId(
                    begun.id.clone(),
                )),
                mutations: Vec::new(),
                return_commit_stats: self.settings.return_stats,
                request_options: self.settings.request_options(self.client),
                max_commit_delay: self.settings.max_delay.and_then(|it| it.try_into().ok()),
                precommit_token: token.take().map(Into::into),
            };
            let mut body = request.encode_to_vec();
            for mutation in mutations.iter().filter(|mutation| !mutation.is_empty()) {
                mutation.encode(&mut body, MUTATION);
            }
            let limit = self.retry.idle();
            let answer = self.send(Method::Commit, session, body, limit).await?;
            let answer = proto::CommitResponse::decode(answer).map_err(unreadable)?;
            match answer.multiplexed_session_retry {
                Some(proto::commit_response::MultiplexedSessionRetry::PrecommitToken(new)) => {
                    token = Some(new.into());
                }
                None => return result(&answer).map_err(Into::into),
            }
        }
        let text = format!(
            "the server asked {MAX_TOKENS} times to commit again with another precommit token"
        );
        Err(Status::new(Code::Internal, text).into())
    }

    /// Gives up what the transaction did, and its locks.
    pub(super) async fn rollback(&self, session: &Session, id: Bytes) -> Result<(), Failed> {
        let request = proto::RollbackRequest {
            session: session.name().to_owned(),
            transaction_id: id,
        };
        let body = request.encode_to_vec();
        self.send(Method::Rollback, session, body, LIMIT).await?;
        Ok(())
    }

    async fn send(
        &self,
        method: Method,
        session: &Session,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<Bytes, Failed> {
        let unary = Unary {
            inner: &self.client.inner,
            method,
            leader: true,
            lane: self.lane.clone(),
            session,
            body: body.into(),
            retry: self.retry,
            limit,
            deadline: self.deadline,
            scope: self.scope,
        };
        unary.send().await
    }
}

/// The time in the answer to a commit that succeeded.
pub(super) fn timestamp_of(sent: Option<&prost_types::Timestamp>) -> Result<Timestamp, Status> {
    let timestamp = sent.and_then(|time| {
        let nanoseconds = u32::try_from(time.nanos).ok()?;
        Timestamp::new(time.seconds, nanoseconds)
    });
    timestamp.ok_or_else(|| {
        let text = "the commit succeeded, but its answer has no commit timestamp";
        Status::new(Code::Internal, text)
    })
}

fn result(answer: &proto::CommitResponse) -> Result<CommitResult, Status> {
    Ok(CommitResult {
        timestamp: timestamp_of(answer.commit_timestamp.as_ref())?,
        stats: answer.commit_stats.as_ref().map(|stats| CommitStats {
            mutation_count: stats.mutation_count,
        }),
    })
}

#[cold]
fn unreadable(error: prost::DecodeError) -> Status {
    let text = format!("the answer of the server cannot be read: {error}");
    Status::new(Code::Internal, text)
}

impl From<proto::MultiplexedSessionPrecommitToken> for PrecommitToken {
    fn from(token: proto::MultiplexedSessionPrecommitToken) -> Self {
        Self {
            token: token.precommit_token,
            seq_num: token.seq_num,
        }
    }
}

impl From<PrecommitToken> for proto::MultiplexedSessionPrecommitToken {
    fn from(token: PrecommitToken) -> Self {
        Self {
            precommit_token: token.token,
            seq_num: token.seq_num,
        }
    }
}
