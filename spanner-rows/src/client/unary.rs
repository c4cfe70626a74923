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
use crate::error::{Error, Status};
use crate::result::retry::{Budget, RetrySettings, retryable};
use crate::result::source::too_late;
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
}

impl Unary<'_> {
    pub(super) async fn send(self) -> Result<Bytes, Failed> {
        let started = Instant::now();
        let id = self.inner.headers.new_request();
        let mut budget = Budget::default();
        let mut attempts = 1;
        loop {
            // A limit that no clock can show is none.
            let limit = Instant::now().checked_add(self.limit);
            let until = match (limit, self.deadline) {
                (Some(limit), Some(deadline)) => Some(limit.min(deadline)),
                (limit, deadline) => limit.or(deadline),
            };
            let attempt = Attempt {
                client: self.inner.clone(),
                id: id.attempt(attempts).into(),
                method: self.method,
                leader: self.leader,
                lane: self.lane.clone(),
                deadline: until,
            };
            let call = attempt.unary(self.session, self.body.clone());
            let answer = match until {
                None => call.await,
                Some(until) => timeout_at(until, call)
                    .await
                    .unwrap_or_else(|_| Err(too_late(started.elapsed()))),
            };
            let status = match answer {
                Ok(answer) => return Ok(answer),
                Err(status) => status,
            };
            let wait = retryable(&status)
                .then(|| {
                    let (asked, now) = (status.retry_delay(), started.elapsed());
                    budget.spend(self.retry, asked, now, random())
                })
                .flatten();
            match wait {
                Some(wait) if fits(wait, self.deadline) => sleep(wait).await,
                _ => {
                    return Err(Failed {
                        status,
                        attempts,
                        unsure: self.method == Method::Commit && attempts > 1,
                    });
                }
            }
            attempts += 1;
        }
    }
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
