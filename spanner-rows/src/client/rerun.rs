//! Whether a transaction that failed is run again, and when.

use tokio::time::{Instant, sleep};

use super::unary::{Failed, because_of};
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Scope};
use crate::result::retry::{Budget, RetrySettings, too_late};

/// The runs of one transaction.
pub(super) struct Reruns<'a> {
    retry: &'a RetrySettings,
    started: Instant,
    deadline: Option<Instant>,
    budget: Budget,
    runs: u32,
    /// Of the run before.
    last_failure: Option<Status>,
    observer: Observer,
}

impl<'a> Reruns<'a> {
    /// `observer` follows all of them.
    pub(super) fn new(retry: &'a RetrySettings, mut observer: Observer) -> Self {
        observer.attempt(1, false);
        let started = Instant::now();
        Self {
            retry,
            started,
            deadline: retry.total().and_then(|time| started.checked_add(time)),
            budget: Budget::default(),
            runs: 1,
            last_failure: None,
            observer,
        }
    }

    /// For the calls of a run.
    pub(super) fn scope(&self) -> Scope {
        self.observer.scope()
    }

    /// The last run has done what it was to do.
    pub(super) fn done(&mut self) {
        self.observer.ended();
    }

    /// The program gave the transaction up.
    pub(super) fn rolled_back(&mut self) {
        self.observer.rolled_back();
    }

    /// Nothing follows this error.
    pub(super) fn failed(&mut self, error: &Error) {
        self.observer.failed(error);
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
        let wait = match again {
            true => (self.budget).wait(self.retry, self.started, self.deadline, &status),
            false => Err(because_of(status.clone(), self.last_failure.take())),
        };
        match wait {
            Ok(wait) => {
                self.observer.again(self.runs, &status, wait, false);
                sleep(wait).await;
            }
            Err(status) => {
                let error = Error::status(status, attempts.max(self.runs));
                self.observer.failed(&error);
                return Err(error);
            }
        }
        self.last_failure = Some(status);
        self.runs += 1;
        self.observer.attempt(self.runs, false);
        Ok(())
    }

    /// The error of a run that the end of the time has ended, and that had this failure.
    pub(super) fn too_late(&mut self, failure: Option<Status>) -> Error {
        let limit = self.retry.total().unwrap_or_default();
        let cause = failure.or_else(|| self.last_failure.take());
        Error::status(too_late(limit).with_cause(cause), self.runs)
    }
}
