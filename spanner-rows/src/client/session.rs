//! The one session of a client: made once for everybody who waits, replaced when
//! it is old or gone.
//!
//! A multiplexed session serves any number of reads at the same time and is
//! never deleted by its users (`Session.multiplexed`).

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use prost::Message as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::database::DatabaseName;
use super::headers::{AttemptId, Headers, request_params};
use super::own_session::{Idle, Lent};
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation, Settings, Start, session_lost, session_made};
use crate::proto::spanner as proto;
use crate::transport::{Call, Lane, Method, Transport};

/// How long a session may take, all attempts together.
const LIMIT: Duration = Duration::from_secs(30);
/// How much longer to wait for the one who is making a session.
const GRACE: Duration = Duration::from_secs(5);
/// How long a session is used. The service keeps one for 28 days.
const LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// When to try again to replace a session that is old.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(10 * 60);
const MAX_ATTEMPTS: u32 = 10;
const FIRST_WAIT: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_secs(5);

/// A session that the server has made.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    /// Routes the calls of the session.
    params: HeaderValue,
    multiplexed: bool,
    lent: Option<Lent>,
}

impl Session {
    pub(super) const fn new(name: String, params: HeaderValue) -> Self {
        Self {
            name,
            params,
            multiplexed: false,
            lent: None,
        }
    }

    /// A session that is known by its name.
    pub(super) fn named(name: String) -> Result<Self, Error> {
        let params = request_params("session", &name)?;
        Ok(Self::new(name, params))
    }

    /// The session of one transaction.
    pub(super) fn lent(mut self, lent: Lent) -> Self {
        self.lent = Some(lent);
        self
    }

    /// Whether any number of transactions may use it at the same time (`Session.multiplexed`).
    pub(super) const fn is_multiplexed(&self) -> bool {
        self.multiplexed
    }

    /// Its transaction is needed for longer than the session is here.
    pub(super) fn keep(&self) {
        if let Some(lent) = &self.lent {
            lent.keep();
        }
    }

    /// `projects/P/instances/I/databases/D/sessions/S`
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn params(&self) -> &HeaderValue {
        &self.params
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(lent) = self.lent.take() {
            lent.give_back(std::mem::take(&mut self.name), self.params.clone());
        }
    }
}

/// Makes the session with the first use, keeps it, and replaces it in time.
///
/// Whoever comes while the first one is being made waits for the same attempt
/// and gets the same failure; the next use after a failure tries again. A session
/// that grows old is replaced while it goes on serving; whoever has it keeps it.
#[derive(Debug)]
pub(super) struct Sessions {
    shared: Arc<Shared>,
    idle: Arc<Idle>,
}

#[derive(Debug)]
struct Shared {
    maker: Maker,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    current: Option<Arc<Session>>,
    /// When `current` is to be replaced.
    renew_at: Instant,
    /// The session that is being made.
    next: Option<watch::Receiver<Outcome>>,
}

/// `None` while the session is being made. A failure comes with the number of attempts.
type Outcome = Option<Result<Arc<Session>, (Status, u32)>>;

impl Sessions {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        headers: Arc<Headers>,
        database: &DatabaseName,
        role: &str,
        observing: Settings,
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
            database: database.as_str().to_owned(),
            observing,
        };
        let state = State {
            current: None,
            renew_at: Instant::now(),
            next: None,
        };
        Ok(Self {
            shared: Arc::new(Shared {
                maker,
                state: Mutex::new(state),
            }),
            idle: Arc::default(),
        })
    }

    /// The session, or why there is none and after how many attempts.
    ///
    /// Cancel safe: others wait for it, too.
    pub(super) async fn get(&self) -> Result<Arc<Session>, (Status, u32)> {
        let mut outcome = match self.shared.current_or_next() {
            Ok(session) => return Ok(session),
            Err(next) => next,
        };
        // The limit is kept by the task that makes the session, which stands still
        // when its runtime does: then by whoever waits.
        let outcome = match timeout(LIMIT + GRACE, outcome.wait_for(Option::is_some)).await {
            Ok(Ok(outcome)) => outcome.clone(),
            _ => None,
        };
        outcome.unwrap_or_else(|| {
            let text = "the runtime that was making the session is gone or stands still: ask again";
            Err((Status::new(Code::Cancelled, text), 1))
        })
    }

    /// A session that is nobody's.
    pub(super) async fn make(&self) -> Result<Session, (Status, u32)> {
        self.shared.maker.make().await
    }

    pub(super) const fn idle(&self) -> &Arc<Idle> {
        &self.idle
    }

    /// The server does not know this session: another one is to be used.
    pub(super) fn forget(&self, session: &Arc<Session>) {
        if let Some(lent) = &session.lent {
            lent.keep();
            self.idle.clear();
        }
        let mut state = self.shared.lock();
        // Somebody else may have said so before, and another one been made since.
        if state
            .current
            .as_ref()
            .is_some_and(|it| Arc::ptr_eq(it, session))
        {
            state.current = None;
            session_lost();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session to use, or the one to wait for.
    fn current_or_next(self: &Arc<Self>) -> Result<Arc<Session>, watch::Receiver<Outcome>> {
        let mut state = self.lock();
        match &state.current {
            Some(session) if Instant::now() < state.renew_at => Ok(session.clone()),
            Some(session) => {
                let session = session.clone();
                self.next(&mut state);
                Ok(session)
            }
            None => Err(self.next(&mut state)),
        }
    }

    /// The session that is being made; begins to make one if need be.
    fn next(self: &Arc<Self>, state: &mut State) -> watch::Receiver<Outcome> {
        if let Some(next) = &state.next
            // Its task ends with its runtime.
            && next.has_changed().is_ok()
        {
            return next.clone();
        }
        let (made, outcome) = watch::channel(None);
        state.next = Some(outcome.clone());
        let shared = self.clone();
        // A task of its own: whoever asked first may be cancelled.
        tokio::spawn(async move {
            let result = shared.maker.make().await.map(Arc::new);
            shared.take_over(&result);
            made.send_replace(Some(result));
        });
        outcome
    }

    /// From now on the new session is used; without one the old one stays.
    fn take_over(&self, made: &Result<Arc<Session>, (Status, u32)>) {
        let mut state = self.lock();
        state.next = None;
        let in_use_for = match made {
            Ok(session) => {
                state.current = Some(session.clone());
                LIFE
            }
            Err(_) => TRY_AGAIN_AFTER,
        };
        state.renew_at = Instant::now() + in_use_for;
    }
}

/// What it takes to make a session.
#[derive(Clone, Debug)]
struct Maker {
    transport: Arc<dyn Transport>,
    headers: Arc<Headers>,
    params: HeaderValue,
    request: Bytes,
    database: String,
    observing: Settings,
}

impl Maker {
    async fn make(&self) -> Result<Session, (Status, u32)> {
        let id = self.headers.new_request();
        let deadline = Instant::now() + LIMIT;
        let start = Start::new(Operation::CreateSession, self.observing, &self.database);
        let mut observer = Observer::start(&start);
        observer.request_id(&id);
        let mut attempt = 1;
        let mut last_failure = None;
        loop {
            observer.attempt(attempt, false);
            let id = id.attempt(attempt);
            let status = match timeout_at(deadline, self.attempt(&id)).await {
                Ok(Ok(session)) => {
                    observer.ended();
                    session_made();
                    return Ok(session);
                }
                Ok(Err(status)) => status,
                Err(_) => Status::new(
                    Code::DeadlineExceeded,
                    format!("the server has made no session within {LIMIT:?}"),
                )
                .with_cause(last_failure.take()),
            };
            let status = status.with_request_id(id.text);
            let wait = wait_before_next(attempt, &status);
            // The server may ask for any wait, longer ones than fit a clock, too.
            let in_time = Instant::now()
                .checked_add(wait)
                .is_some_and(|at| at < deadline);
            if attempt == MAX_ATTEMPTS || !may_retry(&status) || !in_time {
                observer.failed_with(&status);
                return Err((status, attempt));
            }
            observer.again(attempt, &status, wait, false);
            sleep(wait).await;
            last_failure = Some(status);
            attempt += 1;
        }
    }

    async fn attempt(&self, id: &AttemptId) -> Result<Session, Status> {
        let internal = |text: String| Status::new(Code::Internal, text);
        let headers = self.headers.of_leader(&self.params, id);
        let call = Call {
            method: Method::CreateSession,
            headers: headers.map_err(|error| internal(error.to_string()))?,
            body: self.request.clone(),
            lane: Lane::Any,
        };
        let answer = self.transport.unary(call).await?;
        let session = proto::Session::decode(answer)
            .map_err(|error| internal(format!("the new session cannot be read: {error}")))?;
        if session.name.is_empty() {
            return Err(internal("the new session has no name".to_owned()));
        }
        let params = request_params("session", &session.name)
            .map_err(|error| internal(error.to_string()))?;
        let mut made = Session::new(session.name, params);
        made.multiplexed = session.multiplexed;
        Ok(made)
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
