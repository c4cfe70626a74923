//! What a query and a read can be told alike.

use std::borrow::Cow;
use std::time::Duration;

use super::bound::TimestampBound;
use super::request::{SINGLE_USE, STRONG_READ};
use crate::error::Error;
use crate::result::retry::RetrySettings;
use crate::wire::writer::with_length;

/// What one request has of its own in place of the client's settings.
#[derive(Clone, Debug)]
pub(super) struct CallSettings {
    pub(super) retry: Option<RetrySettings>,
    pub(super) timeout: Option<Duration>,
    pub(super) bound: Option<TimestampBound>,
}

impl CallSettings {
    pub(super) const NONE: Self = Self {
        retry: None,
        timeout: None,
        bound: None,
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
