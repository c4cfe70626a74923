//! Sending a request whose answer is one message, as often as it takes.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout_at};

use super::Inner;
use super::request::Attempt;
use super::session::Session;
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation, Scope};
use crate::result::retry::{Budget, RetrySettings, retryable, too_late};
use crate::result::source::{CLOCK_STEP, comes_of_the_end};
use crate::transport::{Lane, Method};

/// Why a request failed, and after how many attempts.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) status: Status,
    pub(super) attempts: u32,
    /// Whether an attempt before the last one may have done something that stays.
    pub(super) unsure: bool,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        Self::status(failed.status, failed.attempts)
    }
}

impl From<Status> for Failed {
    fn from(status: Status) -> Self {
        Self {
            status,
            attempts: 1,
            unsure: false,
        }
    }
}

/// A request that means the same when it arrives twice.
pub(super) struct Unary<'a> {
    pub(super) inner: &'a Arc<Inner>,
    pub(super) method: Method,
    /// Whether only a leader can do it.
    pub(super) leader: bool,
    pub(super) lane: Lane,
    pub(super) session: &'a Session,
    pub(super) body: Bytes,
    pub(super) retry: &'a RetrySettings,
    /// How long one attempt may take.
    pub(super) limit: Duration,
    /// When the answer is no longer wanted.
    pub(super) deadline: Option<Instant>,
    /// What it is shown as a part of.
    pub(super) scope: &'a Scope,
}

impl Unary<'_> {
    pub(super) async fn send(self) -> Result<Bytes, Failed> {
        let started = Instant::now();
        let request = self.inner.observe(Operation::of(self.method));
        let mut observer = Observer::start(&request.started(started).within(self.scope));
        let id = self.inner.new_request(&observer);
        let mut budget = Budget::default();
        let mut attempts = 1;
        let mut last_failure = None;
        loop {
            // A limit that no clock can show is none.
            let limit = Instant::now().checked_add(self.limit);
            let until = match (limit, self.deadline) {
                (Some(limit), Some(deadline)) => Some(limit.min(deadline)),
                (limit, deadline) => limit.or(deadline),
            };
            observer.attempt(attempts, false);
            let attempt = Attempt {
                client: self.inner.clone(),
                id: id.attempt(attempts),
                method: self.method,
                leader: self.leader,
                lane: self.lane.clone(),
                deadline: until,
            };
            let call = attempt.unary(self.session, self.body.clone());
            let status = match within(until, call).await {
                Some(Ok(answer)) => {
                    observer.ended();
                    return Ok(answer);
                }
                Some(Err(status)) => at_the_end(status, self.deadline, started),
                None => too_late(started.elapsed()),
            };
            let wait = match retryable(&status) {
                true => budget.wait(self.retry, started, self.deadline, &status),
                false => Err(status.clone()),
            };
            match wait {
                Ok(wait) => {
                    observer.again(attempts, &status, wait, false);
                    sleep(wait).await;
                }
                Err(status) => {
                    observer.failed_with(&status);
                    return Err(Failed {
                        status: because_of(status, last_failure),
                        attempts,
                        unsure: self.method == Method::Commit && attempts > 1,
                    });
                }
            }
            last_failure = Some(status);
            attempts += 1;
        }
    }
}

impl Budget {
    /// How long to wait before the next attempt, or what to tell in place of it: the failure,
    /// or that there is no time left, and the failure as the cause.
    pub(super) fn wait(
        &mut self,
        retry: &RetrySettings,
        started: Instant,
        deadline: Option<Instant>,
        status: &Status,
    ) -> Result<Duration, Status> {
        let (asked, now) = (status.retry_delay(), started.elapsed());
        match self.spend(retry, asked, now, random()) {
            Some(wait) if fits(wait, deadline) => Ok(wait),
            None if !self.is_out_of_time() => Err(status.clone()),
            _ => Err(too_late(retry.total().unwrap_or(now)).with_cause(Some(status.clone()))),
        }
    }
}

/// The answer, or nothing when it comes too late.
pub(super) async fn within<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Option<T> {
    match deadline {
        None => Some(work.await),
        Some(deadline) => timeout_at(deadline, work).await.ok(),
    }
}

/// What a failure means that comes when the time is over: the server was told how much there
/// is, and may end the call a little before this side does.
pub(super) fn at_the_end(status: Status, deadline: Option<Instant>, started: Instant) -> Status {
    let over = deadline.is_some_and(|deadline| Instant::now() + CLOCK_STEP >= deadline);
    if !over || !comes_of_the_end(&status) {
        return status;
    }
    let cause = (status.code() != Code::DeadlineExceeded).then_some(status);
    too_late(started.elapsed()).with_cause(cause)
}

/// The failure of the attempt before, behind an end of the time that has no cause yet.
pub(super) fn because_of(status: Status, last_failure: Option<Status>) -> Status {
    if status.code() != Code::DeadlineExceeded || status.cause().is_some() {
        return status;
    }
    status.with_cause(last_failure)
}

/// Whether there is still time when so much has been waited.
pub(super) fn fits(wait: Duration, deadline: Option<Instant>) -> bool {
    let at = Instant::now().checked_add(wait);
    at.is_some_and(|at| deadline.is_none_or(|deadline| at < deadline))
}

/// Evenly spread over all numbers.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
