//! What a query and a read can be told alike.

use std::borrow::Cow;
use std::time::Duration;

use super::bound::TimestampBound;
use super::options::{DirectedReads, Priority};
use super::request::{SINGLE_USE, STRONG_READ, integer_tag, put_integer, tag};
use crate::error::Error;
use crate::result::retry::RetrySettings;
use crate::wire::writer::{put_bytes, with_length};

/// `ExecuteSqlRequest` and `ReadRequest` agree in this field.
const REQUEST_OPTIONS: u8 = tag(11);

/// Fields of `google.spanner.v1.RequestOptions`.
const PRIORITY: u8 = integer_tag(1);
const REQUEST_TAG: u8 = tag(2);

/// What all requests of a client have that do not say otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    pub(super) priority: Option<Priority>,
    pub(super) directed_reads: Option<DirectedReads>,
    pub(super) optimizer: Optimizer,
}

impl Defaults {
    /// Those of requests that only a leader can serve, of which `priority` says how
    /// important they are.
    pub(super) fn for_leader(&self, priority: Option<Priority>) -> Cow<'_, Self> {
        if priority.is_none() && self.directed_reads.is_none() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            priority: priority.or(self.priority),
            directed_reads: None,
            optimizer: self.optimizer.clone(),
        })
    }
}

/// How the server is to plan queries; empty for what the database says.
#[derive(Clone, Debug, Default)]
pub(super) struct Optimizer {
    pub(super) version: String,
    pub(super) statistics_package: String,
}

impl Optimizer {
    pub(super) const NONE: Self = Self {
        version: String::new(),
        statistics_package: String::new(),
    };
}

/// What one request has of its own in place of the client's settings.
#[derive(Clone, Debug)]
pub(super) struct CallSettings {
    pub(super) retry: Option<RetrySettings>,
    pub(super) timeout: Option<Duration>,
    pub(super) bound: Option<TimestampBound>,
    pub(super) priority: Option<Priority>,
    /// Empty for none.
    pub(super) tag: String,
    pub(super) directed_reads: Option<DirectedReads>,
    pub(super) data_boost: bool,
}

impl CallSettings {
    pub(super) const NONE: Self = Self {
        retry: None,
        timeout: None,
        bound: None,
        priority: None,
        tag: String::new(),
        directed_reads: None,
        data_boost: false,
    };

    /// The settings in force, where `client` has those of all requests.
    pub(super) fn retry_over<'a>(&'a self, client: &'a RetrySettings) -> Cow<'a, RetrySettings> {
        let retry = self.retry.as_ref().unwrap_or(client);
        match self.timeout {
            None => Cow::Borrowed(retry),
            Some(timeout) => Cow::Owned(retry.clone().timeout(timeout)),
        }
    }

    /// The content of the `TransactionSelector` of a single read.
    pub(super) fn single_use(&self) -> Result<Cow<'static, [u8]>, Error> {
        match self.bound {
            None | Some(TimestampBound::Strong) => Ok(Cow::Borrowed(STRONG_READ)),
            Some(bound) => {
                bound.check()?;
                let mut selector = Vec::with_capacity(32);
                selector.push(SINGLE_USE);
                with_length(&mut selector, |out| bound.encode_options(out));
                Ok(Cow::Owned(selector))
            }
        }
    }

    /// Appends what queries and reads have in different fields, given by number.
    pub(super) fn put_options(
        &self,
        out: &mut Vec<u8>,
        defaults: &Defaults,
        directed_read_options: u8,
        data_boost_enabled: u8,
    ) {
        let priority = self.priority.or(defaults.priority);
        if priority.is_some() || !self.tag.is_empty() {
            out.push(REQUEST_OPTIONS);
            with_length(out, |out| {
                if let Some(priority) = priority {
                    out.push(PRIORITY);
                    out.push(priority.number() as u8);
                }
                if !self.tag.is_empty() {
                    put_bytes(out, REQUEST_TAG, self.tag.as_bytes());
                }
            });
        }
        let directed_reads = self.directed_reads.as_ref();
        if let Some(directed) = directed_reads.or(defaults.directed_reads.as_ref()) {
            out.push(tag(directed_read_options));
            with_length(out, |out| directed.encode(out));
        }
        put_integer(out, data_boost_enabled, u64::from(self.data_boost));
    }
}

/// The methods that [`Query`](crate::Query) and [`Read`](crate::Read) have in common, for
/// a type whose field `settings` is [`CallSettings`].
macro_rules! methods_of_settings {
    ($what:literal) => {
        /// Which state of the database is seen, in place of the latest one.
        ///
        #[doc = concat!("A ", $what, " in a transaction has the bound of its transaction and takes no other.")]
        pub const fn timestamp_bound(mut self, bound: $crate::TimestampBound) -> Self {
            self.settings.bound = Some(bound);
            self
        }

        #[doc = concat!("How important the ", $what, " is beside others, in place of the")]
        /// [client's setting](crate::ClientBuilder::priority).
        pub const fn priority(mut self, priority: $crate::Priority) -> Self {
            self.settings.priority = Some(priority);
            self
        }

        #[doc = concat!("A name under which the service's statistics count the ", $what)]
        /// (`RequestOptions.request_tag`): up to 50 printable ASCII characters, the service
        /// cuts off what is more.
        pub fn request_tag(mut self, tag: impl Into<String>) -> Self {
            self.settings.tag = tag.into();
            self
        }

        #[doc = concat!("Which replicas may serve the ", $what, ", in place of the")]
        /// [client's setting](crate::ClientBuilder::directed_reads).
        pub fn directed_reads(mut self, replicas: $crate::DirectedReads) -> Self {
            self.settings.directed_reads = Some(replicas);
            self
        }

        /// Runs on machines of their own, not on those of the instance
        /// (`data_boost_enabled`).
        ///
        #[doc = concat!("The service takes it for a ", $what, " that is split into partitions only, and")]
        /// refuses it otherwise with INVALID_ARGUMENT.
        pub const fn data_boost(mut self, enabled: bool) -> Self {
            self.settings.data_boost = enabled;
            self
        }

        #[doc = concat!("When the ", $what, " is sent again after a failure, and what is held back until then,")]
        /// in place of the [client's settings](crate::ClientBuilder::retry).
        pub fn retry(mut self, settings: $crate::RetrySettings) -> Self {
            self.settings.retry = Some(settings);
            self
        }

        #[doc = concat!("How long the ", $what, " may take as a whole, from sending it to the end of its")]
        /// result ([`RetrySettings::timeout`](crate::RetrySettings::timeout)).
        pub const fn timeout(mut self, time: std::time::Duration) -> Self {
            self.settings.timeout = Some(time);
            self
        }
    };
}

pub(super) use methods_of_settings;
