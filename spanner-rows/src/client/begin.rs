//! Beginning a transaction with a call of its own.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout_at};

use super::request::{Attempt, SESSION, tag};
use super::session::Session;
use super::snapshot::{Snapshot, no_transaction};
use crate::error::{Code, Error, Status};
use crate::result::retry::{Budget, retryable};
use crate::result::source::too_late;
use crate::transport::Method;
use crate::wire::ResultMetadata;
use crate::wire::writer::{put_bytes, with_length};

/// Field `options` of `google.spanner.v1.BeginTransactionRequest`.
const OPTIONS: u8 = tag(2);

/// How long one attempt may take.
const LIMIT: Duration = Duration::from_secs(30);

impl Snapshot {
    /// Asks the server for a transaction, `google.spanner.v1.Transaction`.
    pub(super) async fn call_begin(&self) -> Result<(ResultMetadata, Arc<Session>), Error> {
        let inner = &self.client().inner;
        let (retry, started) = (&inner.retry, Instant::now());
        let deadline = retry.total().and_then(|time| started.checked_add(time));
        let id = inner.headers.new_request();
        let mut budget = Budget::default();
        let mut changed_session = false;
        let mut number = 1;
        loop {
            let limit = Instant::now() + LIMIT;
            let until = deadline.map_or(limit, |deadline| deadline.min(limit));
            let attempt = Attempt {
                client: inner.clone(),
                id: id.attempt(number).into(),
                method: Method::BeginTransaction,
                leader: false,
                lane: self.lane(),
                deadline: Some(until),
            };
            let session = match timeout_at(until, inner.sessions.for_transaction()).await {
                Ok(session) => session.map_err(|(status, made)| Error::status(status, made))?,
                Err(_) => return Err(Error::status(too_late(until - started), number)),
            };
            let call = attempt.unary(&session, self.begin_request(&session));
            let status = match timeout_at(until, call).await {
                Ok(Ok(answer)) => match ResultMetadata::of_transaction(&answer) {
                    Ok(transaction) if transaction.transaction_id().is_empty() => no_transaction(),
                    Ok(transaction) => return Ok((transaction, session)),
                    Err(error) => Status::new(
                        Code::Internal,
                        format!("the new transaction cannot be read: {error}"),
                    ),
                },
                Ok(Err(status)) => status,
                Err(_) => too_late(until - started),
            };
            if status.is_session_not_found() && !changed_session {
                changed_session = true;
                inner.sessions.forget(&session);
            } else {
                let random = RandomState::new().build_hasher().finish();
                let asked = status.retry_delay();
                let now = started.elapsed();
                let wait = retryable(&status)
                    .then(|| budget.spend(retry, asked, now, random))
                    .flatten();
                match wait {
                    Some(wait) => sleep(wait).await,
                    None => return Err(Error::status(status, number)),
                }
            }
            number += 1;
        }
    }

    fn begin_request(&self, session: &Arc<Session>) -> Bytes {
        let mut request = Vec::with_capacity(session.name().len() + 40);
        put_bytes(&mut request, SESSION, session.name().as_bytes());
        request.push(OPTIONS);
        with_length(&mut request, |out| self.kind().encode_options(out));
        request.into()
    }
}
