//! What transactions that write can be told.

use std::borrow::Cow;
use std::time::Duration;

use super::Client;
use super::options::Priority;
use crate::proto::spanner as proto;
use crate::result::retry::RetrySettings;

/// What a transaction sees of others that run at the same time
/// (`google.spanner.v1.TransactionOptions.IsolationLevel`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IsolationLevel {
    /// As if one ran after the other: what a transaction gets without a level.
    Serializable,
    /// What it reads is the state of one point in time, and of writers of the same rows one
    /// wins; what it read may have been changed by others when it commits.
    RepeatableRead,
}

/// When a transaction locks what it reads
/// (`google.spanner.v1.TransactionOptions.ReadWrite.ReadLockMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadLockMode {
    /// With each read: others that write the rows wait.
    Pessimistic,
    /// Not before the commit, which fails with ABORTED when others have written the rows
    /// since: better where that is rare, worse where it is not.
    Optimistic,
}

/// Settings of a transaction that writes, in place of the client's.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteSettings {
    pub(super) retry: Option<RetrySettings>,
    pub(super) timeout: Option<Duration>,
    pub(super) priority: Option<Priority>,
    /// Empty for none.
    pub(super) tag: String,
    pub(super) isolation: Option<IsolationLevel>,
    pub(super) read_lock_mode: Option<ReadLockMode>,
    pub(super) excluded_from_change_streams: bool,
    pub(super) return_stats: bool,
    pub(super) max_delay: Option<Duration>,
}

impl WriteSettings {
    pub(super) fn retry<'a>(&'a self, client: &'a Client) -> Cow<'a, RetrySettings> {
        let retry = self.retry.as_ref().unwrap_or(&client.inner.retry);
        match self.timeout {
            None => Cow::Borrowed(retry),
            Some(timeout) => Cow::Owned(retry.clone().timeout(timeout)),
        }
    }

    /// Of the calls that are no statements.
    pub(super) fn request_options(&self, client: &Client) -> Option<proto::RequestOptions> {
        let priority = self.priority.or_else(|| client.defaults().priority);
        let options = proto::RequestOptions {
            priority: priority.map_or(0, |priority| priority.number() as i32),
            request_tag: String::new(),
            transaction_tag: self.tag.clone(),
        };
        (options != proto::RequestOptions::default()).then_some(options)
    }

    /// How the transaction begins. `previous` is the id of the attempt that was
    /// aborted before this one.
    pub(super) fn transaction_options(&self, previous: &[u8]) -> proto::TransactionOptions {
        use proto::transaction_options::{IsolationLevel as Sent, Mode, ReadWrite, read_write};
        let isolation = match self.isolation {
            None => Sent::Unspecified,
            Some(IsolationLevel::Serializable) => Sent::Serializable,
            Some(IsolationLevel::RepeatableRead) => Sent::RepeatableRead,
        };
        let read_lock_mode = match self.read_lock_mode {
            None => read_write::ReadLockMode::Unspecified,
            Some(ReadLockMode::Pessimistic) => read_write::ReadLockMode::Pessimistic,
            Some(ReadLockMode::Optimistic) => read_write::ReadLockMode::Optimistic,
        };
        proto::TransactionOptions {
            exclude_txn_from_change_streams: self.excluded_from_change_streams,
            isolation_level: isolation.into(),
            mode: Some(Mode::ReadWrite(ReadWrite {
                multiplexed_session_previous_transaction_id: previous.to_vec().into(),
                read_lock_mode: read_lock_mode.into(),
            })),
        }
    }
}

/// The methods that [`Write`](crate::Write) and
/// [`TransactionBuilder`](crate::TransactionBuilder) have in common, for a type whose field
/// `settings` is [`WriteSettings`].
macro_rules! methods_of_write_settings {
    ($what:literal) => {
        #[doc = concat!("How important the ", $what, " is beside others, in place of the")]
        /// [client's setting](crate::ClientBuilder::priority).
        pub const fn priority(mut self, priority: $crate::Priority) -> Self {
            self.settings.priority = Some(priority);
            self
        }

        #[doc = concat!("A name under which the service's statistics count the ", $what)]
        /// (`RequestOptions.transaction_tag`): up to 50 printable ASCII characters, the service
        /// cuts off what is more.
        pub fn transaction_tag(mut self, tag: impl Into<String>) -> Self {
            self.settings.tag = tag.into();
            self
        }

        #[doc = concat!("Keeps the changes of the ", $what, " out of change streams that allow it")]
        /// (`TransactionOptions.exclude_txn_from_change_streams`).
        pub const fn exclude_from_change_streams(mut self, exclude: bool) -> Self {
            self.settings.excluded_from_change_streams = exclude;
            self
        }

        /// Asks for [`CommitResult::stats`](crate::CommitResult::stats)
        /// (`CommitRequest.return_commit_stats`).
        pub const fn return_commit_stats(mut self, wanted: bool) -> Self {
            self.settings.return_stats = wanted;
            self
        }

        /// How long the server may put off the commit to do more of them at once
        /// (`CommitRequest.max_commit_delay`); the service takes 0 to 500 ms.
        pub const fn max_commit_delay(mut self, delay: std::time::Duration) -> Self {
            self.settings.max_delay = Some(delay);
            self
        }

        #[doc = concat!("When calls of the ", $what, " are sent again after a failure, and how long it is run")]
        /// again when it is aborted, in place of the
        /// [client's settings](crate::ClientBuilder::retry).
        pub fn retry(mut self, settings: $crate::RetrySettings) -> Self {
            self.settings.retry = Some(settings);
            self
        }

        #[doc = concat!("How long the ", $what, " may take as a whole, with all that is run again.")]
        /// It ends with DEADLINE_EXCEEDED when the time is over; whether it was committed is
        /// then not known if that was asked for already.
        pub const fn timeout(mut self, time: std::time::Duration) -> Self {
            self.settings.timeout = Some(time);
            self
        }
    };
}

pub(super) use methods_of_write_settings;
