//! What is different between transactions that read and transactions that write.

use std::sync::Arc;

use super::Client;
use super::bound::TimestampBound;
use super::snapshot::Begun;
use super::transaction::life::Life;
use crate::error::{Code, Status};
use crate::result::retry::RetrySettings;
use crate::transport::Method;
use crate::wire::ResultMetadata;

pub(super) enum Kind {
    ReadOnly(TimestampBound),
    ReadWrite(Arc<Life>),
}

impl Kind {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::ReadOnly(_) => "ReadOnlyTransaction",
            Self::ReadWrite(_) => "Transaction",
        }
    }

    /// Appends the content of a `TransactionOptions` message.
    pub(super) fn encode_options(&self, out: &mut Vec<u8>) {
        match self {
            Self::ReadOnly(bound) => bound.encode_options(out),
            Self::ReadWrite(life) => life.encode_options(out),
        }
    }

    /// Its tag, if it has one.
    pub(super) fn tag(&self) -> &str {
        match self {
            Self::ReadOnly(_) => "",
            Self::ReadWrite(life) => &life.settings().tag,
        }
    }

    /// Whether only a leader can do what the transaction does.
    pub(super) const fn is_for_leader(&self) -> bool {
        matches!(self, Self::ReadWrite(_))
    }

    /// Whether a call that begins is to go on when nobody waits for it: what it begins holds
    /// locks, and only whoever knows its id can roll it back.
    pub(super) const fn begins_unwatched(&self) -> bool {
        self.is_for_leader()
    }

    pub(super) fn retry<'a>(&'a self, client: &'a Client) -> &'a RetrySettings {
        match self {
            Self::ReadOnly(_) => &client.inner.retry,
            Self::ReadWrite(life) => life.retry(),
        }
    }

    /// Whether anything more can be done in the transaction.
    pub(super) fn check(&self) -> Result<(), Status> {
        match self {
            Self::ReadOnly(_) => Ok(()),
            Self::ReadWrite(life) => life.check(),
        }
    }

    /// What a message of an answer says of the transaction; `None` where it need not say
    /// anything, or cannot be read.
    pub(super) fn received(&self, method: Method, message: &[u8]) -> Option<ResultMetadata> {
        match self {
            Self::ReadOnly(_) => ResultMetadata::of_transaction_in(message).ok(),
            Self::ReadWrite(life) => life.received(method, message),
        }
    }

    /// A statement has failed; `begun` when it was sent in a transaction that has begun.
    /// Answers what that means.
    pub(super) fn failed(&self, status: Status, begun: bool) -> Status {
        match self {
            Self::ReadOnly(_) if begun => if_lost(status),
            Self::ReadOnly(_) => status,
            Self::ReadWrite(life) => life.failed(status, begun),
        }
    }

    /// The server has begun the transaction when it was over here.
    pub(super) fn begun_too_late(&self, client: &Client, begun: Arc<Begun>) {
        if let Self::ReadWrite(life) = self {
            life.roll_back(client.clone(), begun);
        }
    }

    /// The status of everything that comes after the end.
    #[cold]
    pub(super) fn over() -> Status {
        let text = "the read-write transaction is over: its handle was kept, and used after the end of the closure that it was given to";
        Status::new(Code::FailedPrecondition, text)
    }
}

/// Says what a lost session, or transaction, means to whoever reads in it.
pub(super) fn if_lost(status: Status) -> Status {
    if status.is_session_not_found() {
        return status.explained(
            "the session of the read-only transaction is gone, and the transaction with it: begin a new one (one with the bound `ReadTimestamp` sees the same state)",
        );
    }
    if status.is_transaction_not_found() {
        return status.explained(
            "the server does not know the read-only transaction any more: begin a new one (one with the bound `ReadTimestamp` sees the same state)",
        );
    }
    status
}
