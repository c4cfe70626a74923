//! Partitioned DML: one statement over all rows of a table, in many small transactions.
//!
//! The server decides into which, and runs the statement in each of them at least once. All
//! that is left to do here is to begin the transaction, to wait for the end, and to say the
//! statement again when it was given up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tokio::time::{Instant, timeout_at};

use super::Client;
use super::headers::RequestId;
use super::options::Priority;
use super::query::{Query, RESUME_TOKEN};
use super::request::{Attempt, body, tag, with_token};
use super::rerun::Reruns;
use super::session::Session;
use super::snapshot::no_transaction;
use super::unary::Failed;
use crate::error::{Code, Error, ErrorKind, Status};
use crate::observe::{Observer, Operation};
use crate::proto::spanner as proto;
use crate::result::retry::RetrySettings;
use crate::result::retry::too_late;
use crate::result::stream::RowStream;
use crate::row::dynamic::Row;
use crate::transport::{BoxFuture, Lane, Messages, Method, Opener};
use crate::types::encode::ToColumn;
use crate::wire::RowCount;
use crate::wire::writer::put_bytes;

/// Field `id` of `google.spanner.v1.TransactionSelector`.
const ID: u8 = tag(2);

/// How long one attempt to begin may take.
const LIMIT: Duration = Duration::from_secs(30);

/// An UPDATE or DELETE that is run in parts, made by
/// [`Client::partitioned_dml`](crate::Client::partitioned_dml).
///
/// The server splits the rows into parts and runs the statement in each, in a transaction of
/// its own (`google.spanner.v1.TransactionOptions.PartitionedDml`). So a statement may change
/// more rows than one transaction can, and locks few of them at a time. In exchange:
///
/// * It is run **at least once** on each part: again, when something breaks. Running it twice
///   must be the same as running it once. `SET Active = FALSE WHERE LastSeen < @day` is;
///   `SET Visits = Visits + 1` is not.
/// * It is not atomic: others see some parts done and some not, and when it fails, parts that
///   are done stay done.
/// * It must be one that can be run part by part: no INSERT, no THEN RETURN, no subqueries
///   that look at other rows. The server refuses others with INVALID_ARGUMENT.
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// let at_least = client
///     .partitioned_dml("DELETE FROM Sessions WHERE LastSeen < @day")
///     .param("day", spanner_rows::Timestamp::new(1_700_000_000, 0))
///     .execute()
///     .await?;
/// println!("{at_least} rows or more");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a statement does nothing until it is executed"]
pub struct PartitionedDml {
    client: Client,
    query: Query,
    excluded_from_change_streams: bool,
}

impl PartitionedDml {
    pub(super) fn new(client: Client, sql: String) -> Self {
        Self {
            query: Query::new(client.clone().into(), sql),
            client,
            excluded_from_change_streams: false,
        }
    }

    /// The value of the parameter `@name`, as [`Query::param`] takes it.
    pub fn param<V: ToColumn>(mut self, name: impl Into<String>, value: V) -> Self {
        self.query = self.query.param(name, value);
        self
    }

    /// How important the statement is beside others, in place of the
    /// [client's setting](crate::ClientBuilder::priority).
    pub fn priority(mut self, priority: Priority) -> Self {
        self.query = self.query.priority(priority);
        self
    }

    /// A name under which the service's statistics count the statement
    /// (`RequestOptions.request_tag`): up to 50 printable ASCII characters, the service
    /// cuts off what is more.
    pub fn request_tag(mut self, tag: impl Into<String>) -> Self {
        self.query = self.query.request_tag(tag);
        self
    }

    /// The version of the optimizer that is to plan the statement, as
    /// [`Query::optimizer_version`] takes it.
    pub fn optimizer_version(mut self, version: impl Into<String>) -> Self {
        self.query = self.query.optimizer_version(version);
        self
    }

    /// The statistics package by which the statement is to be planned, as
    /// [`Query::optimizer_statistics_package`] takes it.
    pub fn optimizer_statistics_package(mut self, package: impl Into<String>) -> Self {
        self.query = self.query.optimizer_statistics_package(package);
        self
    }

    /// Keeps the changes of the statement out of change streams that allow it
    /// (`TransactionOptions.exclude_txn_from_change_streams`).
    pub const fn exclude_from_change_streams(mut self, exclude: bool) -> Self {
        self.excluded_from_change_streams = exclude;
        self
    }

    /// When the statement is taken up again after a failure, in place of the
    /// [client's settings](crate::ClientBuilder::retry).
    ///
    /// Only these settings have an [idle limit](RetrySettings::idle_limit): without them
    /// the statement is waited for as long as the connection lives, since the server may say
    /// nothing until it is done.
    pub fn retry(mut self, settings: RetrySettings) -> Self {
        self.query = self.query.retry(settings);
        self
    }

    /// How long the statement may take as a whole, with all that is run again. Default: as
    /// long as it takes, which may be hours.
    ///
    /// It ends with DEADLINE_EXCEEDED when the time is over; parts that are done stay done.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.query = self.query.timeout(time);
        self
    }

    /// Runs the statement, at least once on every part; answers how many rows it changed, or
    /// fewer than that (`ResultSetStats.row_count_lower_bound`).
    ///
    /// When the stream of the answer breaks, it is taken up again from its last resume token
    /// on; without one, and when the server aborts the statement, it is run again from the
    /// start, in a new transaction.
    ///
    /// # Errors
    ///
    /// The server refuses the statement, or cannot be reached; a parameter's name cannot be
    /// ([`ErrorKind::Config`]). Parts that are done stay done.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: when the future is dropped, any parts may be done.
    pub async fn execute(self) -> Result<i64, Error> {
        let started = Instant::now();
        let fields = Bytes::from(self.query.fields_for_leader()?);
        let settings = self.query.settings();
        let retry = settings.retry_over(&self.client.inner.retry).into_owned();
        let retry = match &settings.retry {
            Some(_) => retry,
            None => retry.idle_limit(Duration::MAX),
        };
        let observer = Observer::start(&self.client.inner.observe(Operation::PartitionedDml));
        let mut runs = Reruns::new(&retry, observer);
        let scope = runs.scope();
        loop {
            let opener = Statement {
                client: self.client.clone(),
                options: self.transaction_options(),
                fields: fields.clone(),
                deadline: runs.deadline(),
                progress: Arc::default(),
            };
            let request = self.client.inner.observe(Operation::Query).within(&scope);
            let observer = Observer::start(&request.request_tag(&settings.tag));
            let error = match run(opener, &retry, started, observer).await {
                Ok(count) => {
                    runs.done();
                    return Ok(count);
                }
                Err(error) => error,
            };
            let ErrorKind::Status { status, attempts } = error.kind() else {
                runs.failed(&error);
                return Err(error);
            };
            let failed = Failed {
                status: status.clone(),
                attempts: *attempts,
                unsure: false,
            };
            runs.again(failed).await?;
        }
    }

    fn transaction_options(&self) -> proto::TransactionOptions {
        use proto::transaction_options::{Mode, PartitionedDml};
        proto::TransactionOptions {
            exclude_txn_from_change_streams: self.excluded_from_change_streams,
            mode: Some(Mode::PartitionedDml(PartitionedDml {})),
            ..proto::TransactionOptions::default()
        }
    }
}

/// Runs the statement until it has ended, or is given up.
async fn run(
    statement: Statement,
    retry: &RetrySettings,
    started: Instant,
    observer: Observer,
) -> Result<i64, Error> {
    let mut rows = RowStream::<Row>::open(Box::new(statement), retry, started, observer).await?;
    rows.for_each(|_| {}).await?;
    match rows.stats().and_then(|stats| stats.row_count()) {
        Some(RowCount::LowerBound(count) | RowCount::Exact(count)) => Ok(count),
        None => Err(Error::protocol(
            "the answer to a partitioned DML statement does not say how many rows it changed: a query is run by `Client::query`",
        )),
    }
}

/// Sends the statement as often as its answer needs it: with a resume token in the same
/// transaction, without one in a new one.
struct Statement {
    client: Client,
    options: proto::TransactionOptions,
    fields: Bytes,
    deadline: Option<Instant>,
    progress: Arc<Mutex<Progress>>,
}

#[derive(Default)]
struct Progress {
    /// That of the last attempt to begin.
    session: Option<Arc<Session>>,
    begun: Option<Begun>,
}

/// The statement in a transaction.
#[derive(Clone)]
struct Begun {
    session: Arc<Session>,
    /// The request, without a resume token.
    body: Bytes,
    lane: Lane,
    id: RequestId,
    /// Of the attempts of the stream, the one that sent it first.
    first_attempt: u32,
}

impl Statement {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opener for Statement {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let (client, deadline) = (self.client.clone(), self.deadline);
        let begun = self.progress().begun.clone();
        if let Some(begun) = begun.filter(|_| !resume_token.is_empty()) {
            let body = with_token(&begun.body, RESUME_TOKEN, resume_token);
            return Box::pin(begun.send(client, body, attempt, deadline));
        }
        let (options, fields) = (self.options.clone(), self.fields.clone());
        let progress = self.progress.clone();
        Box::pin(async move {
            let session = client.inner.sessions.for_transaction().await;
            let session = session.map_err(|(status, _)| status)?;
            *lock(&progress) = Progress {
                session: Some(session.clone()),
                begun: None,
            };
            let lane = Lane::Only(client.inner.transport.place().into());
            let transaction = begin(&client, &session, lane.clone(), options, deadline).await?;
            let mut selector = Vec::with_capacity(transaction.len() + 4);
            put_bytes(&mut selector, ID, &transaction);
            let begun = Begun {
                body: body(&session, &selector, &fields),
                session,
                lane,
                id: client.inner.headers.new_request(),
                first_attempt: attempt,
            };
            lock(&progress).begun = Some(begun.clone());
            let body = begun.body.clone();
            begun.send(client, body, attempt, deadline).await
        })
    }

    fn change_session(&mut self) -> bool {
        let session = self.progress().session.take();
        if let Some(session) = &session {
            self.client.inner.sessions.forget(session);
        }
        session.is_some()
    }
}

impl Begun {
    async fn send(
        self,
        client: Client,
        body: Bytes,
        attempt: u32,
        deadline: Option<Instant>,
    ) -> Result<Box<dyn Messages>, Status> {
        let number = attempt.saturating_sub(self.first_attempt) + 1;
        let attempt = Attempt {
            client: client.inner.clone(),
            id: self.id.attempt(number),
            method: Method::ExecuteStreamingSql,
            leader: true,
            lane: self.lane,
            deadline,
        };
        attempt.send(self.session, body).await
    }
}

/// Asks for a transaction, once; answers its id.
async fn begin(
    client: &Client,
    session: &Session,
    lane: Lane,
    options: proto::TransactionOptions,
    deadline: Option<Instant>,
) -> Result<Bytes, Status> {
    let started = Instant::now();
    let limit = started + LIMIT;
    let until = deadline.map_or(limit, |deadline| deadline.min(limit));
    let attempt = Attempt {
        client: client.inner.clone(),
        id: client.inner.headers.new_request().attempt(1),
        method: Method::BeginTransaction,
        leader: true,
        lane,
        deadline: Some(until),
    };
    let request = proto::BeginTransactionRequest {
        session: session.name().to_owned(),
        options: Some(options),
        ..proto::BeginTransactionRequest::default()
    };
    let call = attempt.unary(session, request.encode_to_vec().into());
    let answer = timeout_at(until, call).await;
    let answer = answer.unwrap_or_else(|_| Err(too_late(until - started)))?;
    let transaction = proto::Transaction::decode(answer).map_err(|error| {
        let text = format!("the new transaction cannot be read: {error}");
        Status::new(Code::Internal, text)
    })?;
    if transaction.id.is_empty() {
        return Err(no_transaction());
    }
    Ok(transaction.id)
}
