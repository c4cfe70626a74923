//! Beginning a transaction with a call of its own.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout_at};

use super::request::{Attempt, SESSION, tag};
use super::session::Session;
use super::snapshot::{Snapshot, no_transaction};
use super::unary::{at_the_end, because_of};
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation};
use crate::result::retry::{Budget, RetrySettings, retryable, too_late};
use crate::transport::Method;
use crate::wire::ResultMetadata;
use crate::wire::writer::{put_bytes, with_length};

/// Field `options` of `google.spanner.v1.BeginTransactionRequest`.
const OPTIONS: u8 = tag(2);

/// How long one attempt may take.
const LIMIT: Duration = Duration::from_secs(30);

impl Snapshot {
    /// Asks the server for a transaction, `google.spanner.v1.Transaction`.
    pub(super) async fn call_begin(
        &self,
        retry: &RetrySettings,
        started: Instant,
    ) -> Result<(ResultMetadata, Arc<Session>), Error> {
        let inner = &self.client().inner;
        let deadline = retry.total().and_then(|time| started.checked_add(time));
        let request = inner.observe(Operation::Begin).started(started);
        let mut observer = Observer::start(&request.within(self.scope()));
        let id = inner.new_request(&observer);
        let mut budget = Budget::default();
        let mut changed_session = false;
        let mut last_failure = None;
        let mut number = 1;
        loop {
            let limit = Instant::now() + LIMIT;
            let until = deadline.map_or(limit, |deadline| deadline.min(limit));
            observer.attempt(number, false);
            let attempt = Attempt {
                client: inner.clone(),
                id: id.attempt(number),
                method: Method::BeginTransaction,
                leader: false,
                lane: self.lane(),
                deadline: Some(until),
            };
            let session = match timeout_at(until, inner.sessions.for_transaction()).await {
                Ok(session) => session.map_err(|(status, made)| Error::status(status, made)),
                Err(_) => {
                    let status = too_late(started.elapsed()).with_cause(last_failure.take());
                    Err(Error::status(status, number))
                }
            };
            let session = session.inspect_err(|error| observer.failed(error))?;
            let call = attempt.unary(&session, self.begin_request(&session));
            let status = match timeout_at(until, call).await {
                Ok(Ok(answer)) => match ResultMetadata::of_transaction(&answer) {
                    Ok(transaction) if transaction.transaction_id().is_empty() => no_transaction(),
                    Ok(transaction) => {
                        observer.ended();
                        return Ok((transaction, session));
                    }
                    Err(error) => Status::new(
                        Code::Internal,
                        format!("the new transaction cannot be read: {error}"),
                    ),
                },
                Ok(Err(status)) => at_the_end(status, deadline, started),
                Err(_) => too_late(started.elapsed()),
            };
            if status.is_session_not_found() && !changed_session {
                changed_session = true;
                observer.again(number, &status, Duration::ZERO, false);
                inner.sessions.forget(&session);
            } else {
                let wait = match retryable(&status) {
                    true => budget.wait(retry, started, deadline, &status),
                    false => Err(status.clone()),
                };
                match wait {
                    Ok(wait) => {
                        observer.again(number, &status, wait, false);
                        sleep(wait).await;
                    }
                    Err(status) => {
                        let status = because_of(status, last_failure);
                        observer.failed_with(&status);
                        return Err(Error::status(status, number));
                    }
                }
            }
            last_failure = Some(status);
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
