//! The one session of a client, made once for everybody who waits.
//!
//! A multiplexed session serves any number of reads at the same time and is
//! never deleted by its users (`Session.multiplexed`).

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use prost::Message as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::database::DatabaseName;
use super::headers::{Headers, request_params};
use crate::error::{Code, Error, Status};
use crate::proto::spanner as proto;
use crate::transport::{Call, Method, Transport};

/// How long a session may take, all attempts together.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_ATTEMPTS: u32 = 10;
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_secs(5);

/// A session that the server has made.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    /// Routes the calls of the session.
    params: HeaderValue,
}

impl Session {
    /// `projects/P/instances/I/databases/D/sessions/S`
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn params(&self) -> &HeaderValue {
        &self.params
    }
}

/// Makes the session with the first use and keeps it.
///
/// Whoever comes while it is being made waits for the same attempt and gets the
/// same failure; the next use after a failure tries again.
#[derive(Debug)]
pub(super) struct Sessions {
    maker: Maker,
    current: Mutex<Option<watch::Receiver<Outcome>>>,
}

/// `None` while the session is being made. A failure comes with the number of attempts.
type Outcome = Option<Result<Arc<Session>, (Status, u32)>>;

impl Sessions {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        headers: Arc<Headers>,
        database: &DatabaseName,
        role: &str,
    ) -> Result<Self, Error> {
        let request = proto::CreateSessionRequest {
            database: database.as_str().to_owned(),
            session: Some(proto::Session {
                multiplexed: true,
                creator_role: role.to_owned(),
                ..proto::Session::default()
            }),
        };
        let maker = Maker {
            transport,
            headers,
            params: request_params("database", database.as_str())?,
            request: request.encode_to_vec().into(),
        };
        Ok(Self {
            maker,
            current: Mutex::new(None),
        })
    }

    /// The session. Cancel safe: others wait for it, too.
    pub(super) async fn get(&self) -> Result<Arc<Session>, Error> {
        let mut outcome = self.current_or_new();
        let outcome = match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        match outcome {
            Some(Ok(session)) => Ok(session),
            Some(Err((status, attempts))) => Err(Error::status(status, attempts)),
            None => {
                let text = "the runtime that was making the session is gone: ask again";
                Err(Error::status(Status::new(Code::Cancelled, text), 1))
            }
        }
    }

    fn current_or_new(&self) -> watch::Receiver<Outcome> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = &*current {
            // In this order: what is decided is decided before its sender is gone.
            let abandoned = outcome.has_changed().is_err();
            let usable = match &*outcome.borrow() {
                Some(result) => result.is_ok(),
                None => !abandoned,
            };
            if usable {
                return outcome.clone();
            }
        }
        let (made, outcome) = watch::channel(None);
        let maker = self.maker.clone();
        // A task of its own: whoever asked first may be cancelled.
        tokio::spawn(async move { made.send_replace(Some(maker.make().await)) });
        *current = Some(outcome.clone());
        outcome
    }
}

/// What it takes to make a session.
#[derive(Clone, Debug)]
struct Maker {
    transport: Arc<dyn Transport>,
    headers: Arc<Headers>,
    params: HeaderValue,
    request: Bytes,
}

impl Maker {
    async fn make(&self) -> Result<Arc<Session>, (Status, u32)> {
        let id = self.headers.new_request();
        let deadline = Instant::now() + LIMIT;
        let mut attempt = 1;
        loop {
            let id = id.attempt(attempt);
            let status = match timeout_at(deadline, self.attempt(&id)).await {
                Ok(Ok(session)) => return Ok(Arc::new(session)),
                Ok(Err(status)) => status,
                Err(_) => Status::new(
                    Code::DeadlineExceeded,
                    format!("the server has made no session within {LIMIT:?}"),
                ),
            };
            let status = status.with_request_id(id.as_str());
            let wait = wait_before_next(attempt, &status);
            // The server may ask for any wait, longer ones than fit a clock, too.
            let in_time = Instant::now()
                .checked_add(wait)
                .is_some_and(|at| at < deadline);
            if attempt == MAX_ATTEMPTS || !may_retry(&status) || !in_time {
                return Err((status, attempt));
            }
            sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(&self, id: &str) -> Result<Session, Status> {
        let internal = |text: String| Status::new(Code::Internal, text);
        let headers = self.headers.of_leader(&self.params, id);
        let call = Call {
            method: Method::CreateSession,
            headers: headers.map_err(|error| internal(error.to_string()))?,
            body: self.request.clone(),
        };
        let answer = self.transport.unary(call).await?;
        let session = proto::Session::decode(answer)
            .map_err(|error| internal(format!("the new session cannot be read: {error}")))?;
        if session.name.is_empty() {
            return Err(internal("the new session has no name".to_owned()));
        }
        let params = request_params("session", &session.name)
            .map_err(|error| internal(error.to_string()))?;
        Ok(Session {
            name: session.name,
            params,
        })
    }
}

fn may_retry(status: &Status) -> bool {
    status.is_transport()
        || matches!(
            status.code(),
            Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded
        )
}

/// What the server asks for, or else a random part of a time that doubles.
fn wait_before_next(attempt: u32, status: &Status) -> Duration {
    if let Some(delay) = status.retry_delay() {
        return delay;
    }
    let most = FIRST_WAIT
        .saturating_mul(1 << (attempt - 1).min(16))
        .min(MAX_WAIT);
    let random = RandomState::new().build_hasher().finish();
    most.mul_f64(random as f64 / u64::MAX as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_bounded() {
        let status = Status::new(Code::Unavailable, "");
        for attempt in 1..=MAX_ATTEMPTS {
            let most = FIRST_WAIT.saturating_mul(1 << (attempt - 1)).min(MAX_WAIT);
            for _ in 0..50 {
                assert!(wait_before_next(attempt, &status) <= most);
            }
        }
        assert!(wait_before_next(u32::MAX, &status) <= MAX_WAIT);
        let asked = Duration::from_secs(7);
        let status = status.with_retry_delay(Some(asked));
        assert_eq!(wait_before_next(1, &status), asked);
    }
}
