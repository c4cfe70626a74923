//! Several DML statements in one call.

use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tokio::time::{Instant, sleep};

use super::super::request::{ReadCall, put_integer, tag};
use super::super::unary::{Failed, at_the_end, because_of, within};
use super::Transaction;
use super::dml::Dml;
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation};
use crate::proto::rpc;
use crate::proto::spanner as proto;
use crate::result::retry::{Budget, retryable, too_late};
use crate::transport::status::status_of;
use crate::transport::{Method, Opener as _};
use crate::wire::writer::with_length;

/// Fields of `google.spanner.v1.ExecuteBatchDmlRequest`.
const STATEMENTS: u8 = tag(3);
const SEQNO: u8 = 4;
const REQUEST_OPTIONS: u8 = tag(5);
const LAST_STATEMENTS: u8 = 6;

/// Why not all statements of [`Transaction::batch_dml`](crate::Transaction::batch_dml) were
/// run, and what those before did.
///
/// It becomes an [`Error`] by `?`, or by `into()`.
#[derive(Debug)]
pub struct BatchDmlError {
    counts: Vec<i64>,
    error: Error,
}

impl BatchDmlError {
    /// How many rows each of the statements changed that were run before the one that failed.
    #[must_use]
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Why the statement behind those failed, or the whole call.
    #[must_use]
    pub const fn error(&self) -> &Error {
        &self.error
    }
}

impl fmt::Display for BatchDmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.counts.len() + 1;
        write!(f, "statement {failed} of the batch failed: {}", self.error)
    }
}

impl std::error::Error for BatchDmlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<BatchDmlError> for Error {
    fn from(error: BatchDmlError) -> Self {
        error.error
    }
}

impl From<Error> for BatchDmlError {
    fn from(error: Error) -> Self {
        Self {
            counts: Vec::new(),
            error,
        }
    }
}

pub(super) async fn run(
    transaction: &Transaction,
    statements: Vec<Dml>,
) -> Result<Vec<i64>, BatchDmlError> {
    if statements.is_empty() {
        return Ok(Vec::new());
    }
    let mut fields = Vec::new();
    let mut last = false;
    for statement in &statements {
        if last {
            let text = "a statement of a batch is marked as the last one of its transaction, and others follow it: mark the last one only";
            return Err(Error::config(text).into());
        }
        last = statement.query.is_last_statement();
        let mut encoded = Ok(());
        fields.push(STATEMENTS);
        with_length(&mut fields, |out| {
            encoded = statement.query.put_statement(out)
        });
        encoded?;
    }
    put_integer(&mut fields, SEQNO, transaction.life.next_number());
    put_integer(&mut fields, LAST_STATEMENTS, last.into());
    transaction.put_tag(&mut fields, REQUEST_OPTIONS);
    let answer = send(transaction, fields).await.map_err(Error::from)?;
    let answer = proto::ExecuteBatchDmlResponse::decode(answer).map_err(|error| {
        let text = format!("the answer to a batch of DML cannot be read: {error}");
        Error::status(Status::new(Code::Internal, text), 1)
    })?;
    let counts = answer.result_sets.iter().map(changed).collect::<Vec<_>>();
    match answer.status {
        Some(status) if status.code != 0 => {
            let status = transaction.life.failed(from_rpc(&status), true);
            let error = Error::status(status, 1);
            Err(BatchDmlError { counts, error })
        }
        _ if counts.len() == statements.len() => Ok(counts),
        _ => Err(Error::protocol("the answer to a batch of DML is shorter than the batch").into()),
    }
}

/// Sends the request as often as it takes: the server runs it once (`seqno`).
async fn send(transaction: &Transaction, fields: Vec<u8>) -> Result<Bytes, Failed> {
    let started = Instant::now();
    let retry = transaction.life.retry();
    let deadline = retry.total().and_then(|time| started.checked_add(time));
    let call = ReadCall {
        method: Method::ExecuteBatchDml,
        selector: (&[]).into(),
        fields,
        token_tag: 0,
    };
    let request = transaction.client().inner.observe(Operation::BatchDml);
    let request = request
        .started(started)
        .within(transaction.snapshot.scope());
    let mut observer = Observer::start(&request.transaction_tag(&transaction.life.settings().tag));
    let mut statement = transaction
        .snapshot
        .statement(call, retry, started, &observer);
    let mut budget = Budget::default();
    let mut attempts = 1;
    let mut changed_session = false;
    let mut last_failure = None;
    loop {
        observer.attempt(attempts, false);
        let answer = async {
            let mut messages = statement.open(&[], attempts).await?;
            let only = poll_fn(|cx| messages.poll_message(cx)).await.transpose()?;
            // It counts only with the status behind it.
            while poll_fn(|cx| messages.poll_message(cx))
                .await
                .transpose()?
                .is_some()
            {}
            only.ok_or_else(|| Status::new(Code::Internal, "the server sent no message"))
        };
        let idle = Instant::now().checked_add(retry.idle());
        let until = [idle, deadline].into_iter().flatten().min();
        let status = match within(until, answer).await {
            Some(Ok(answer)) => {
                observer.ended();
                return Ok(answer);
            }
            Some(Err(status)) => at_the_end(status, deadline, started),
            None => too_late(started.elapsed()),
        };
        let wait = if status.is_session_not_found() && statement.change_session() {
            match std::mem::replace(&mut changed_session, true) {
                false => Ok(Duration::ZERO),
                true => Err(status.clone()),
            }
        } else if retryable(&status) {
            budget.wait(retry, started, deadline, &status)
        } else {
            Err(status.clone())
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
                    unsure: false,
                });
            }
        }
        last_failure = Some(status);
        attempts += 1;
    }
}

fn changed(result: &proto::ResultSet) -> i64 {
    use proto::result_set_stats::RowCount;
    match result.stats.as_ref().and_then(|stats| stats.row_count) {
        Some(RowCount::RowCountExact(count) | RowCount::RowCountLowerBound(count)) => count,
        None => 0,
    }
}

/// The status of a statement, with what its details say.
pub(in super::super) fn from_rpc(status: &rpc::Status) -> Status {
    let code = Code::from_number(status.code);
    status_of(code, status.message.clone(), status.encode_to_vec().into())
}
