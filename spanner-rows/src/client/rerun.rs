//! Whether a transaction that failed is run again, and when.

use tokio::time::{Instant, sleep};

use super::unary::{Failed, fits, random};
use crate::error::{Code, Error};
use crate::result::retry::{Budget, RetrySettings};

/// The runs of one transaction.
pub(super) struct Reruns<'a> {
    retry: &'a RetrySettings,
    started: Instant,
    deadline: Option<Instant>,
    budget: Budget,
    runs: u32,
}

impl<'a> Reruns<'a> {
    pub(super) fn new(retry: &'a RetrySettings) -> Self {
        let started = Instant::now();
        Self {
            retry,
            started,
            deadline: retry.total().and_then(|time| started.checked_add(time)),
            budget: Budget::default(),
            runs: 1,
        }
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Waits until the transaction is to be run again.
    ///
    /// # Errors
    ///
    /// It is not to be run again, because of its failure or because there is no time left.
    pub(super) async fn again(&mut self, failed: Failed) -> Result<(), Error> {
        let Failed {
            status,
            attempts,
            unsure,
        } = failed;
        let again = match status.code() {
            Code::Aborted => true,
            // Nothing can have been committed, unless an attempt before was.
            _ => !unsure && (status.is_session_not_found() || status.is_transaction_not_found()),
        };
        let wait = again
            .then(|| {
                let (asked, now) = (status.retry_delay(), self.started.elapsed());
                self.budget.spend(self.retry, asked, now, random())
            })
            .flatten();
        match wait {
            Some(wait) if fits(wait, self.deadline) => sleep(wait).await,
            _ => return Err(Error::status(status, attempts.max(self.runs))),
        }
        self.runs += 1;
        Ok(())
    }
}
