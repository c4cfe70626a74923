//! Batch write: groups of mutations, each committed by itself.
//!
//! The server answers in a stream, in any order, several groups at a time. When the stream
//! breaks, only the groups that have no answer are sent again. All state lives in the stream,
//! none in a future, so dropping a future loses no answer.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use prost::Message as _;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::Client;
use super::commit::timestamp_of;
use super::headers::RequestId;
use super::mutation::Mutation;
use super::options::Priority;
use super::request::{Attempt, SESSION, put_integer, tag};
use super::session::Session;
use super::transaction::batch::from_rpc;
use super::unary::{at_the_end, because_of};
use super::write_settings::WriteSettings;
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation};
use crate::proto::spanner as proto;
use crate::result::retry::{Budget, RetrySettings, retryable, too_late};
use crate::result::source::drain_in_background;
use crate::transport::{BoxFuture, Lane, Messages, Method};
use crate::types::timestamp::Timestamp;
use crate::wire::writer::put_bytes;

/// Fields of `google.spanner.v1.BatchWriteRequest`.
const REQUEST_OPTIONS: u8 = tag(3);
const MUTATION_GROUPS: u8 = tag(4);
const EXCLUDE_TXN_FROM_CHANGE_STREAMS: u8 = 5;
/// Field `mutations` of its `MutationGroup`.
const MUTATIONS: u8 = tag(1);

/// Groups of mutations that are to be committed, each by itself, made by
/// [`Client::batch_write`](crate::Client::batch_write).
///
/// The mutations of a group are committed together, all or none; the groups are not, and
/// in no order. Prefer it to many [`write`](crate::Client::write)s for bulk loads, where each group
/// is a small part (a row with its children, say) and any may be written before the others.
///
/// A group may be committed **more than once**: the service does not protect against replays
/// (`Spanner.BatchWrite`), and groups whose answer is lost are sent again here. So a group
/// should be one that can be repeated: [`insert_or_update`](Mutation::insert_or_update) is,
/// an [`insert`](Mutation::insert) fails with ALREADY_EXISTS the second time, and a row
/// whose key is made by the server or by its commit timestamp is there twice. With
/// [`retry`](Self::retry)`(`[`RetrySettings::never()`]`)` nothing is sent again, and which groups have
/// no answer is said by [`BatchWriteStream::unanswered`].
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// use spanner_rows::Mutation;
///
/// let groups = (0..100_i64).map(|id| {
///     let singer = Mutation::insert_or_update("Singers").set("SingerId", id);
///     let album = Mutation::insert_or_update("Albums").set("SingerId", id).set("AlbumId", 1_i64);
///     [singer, album]
/// });
/// let mut results = client.batch_write(groups).start()?;
/// while let Some(result) = results.next().await? {
///     match result.outcome {
///         Ok(timestamp) => println!("group {} at {timestamp}", result.group),
///         Err(error) => println!("group {} not: {error}", result.group),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "nothing is written until the results of `start` are asked for"]
pub struct BatchWrite {
    client: Client,
    groups: Vec<Vec<Mutation>>,
    settings: WriteSettings,
}

impl BatchWrite {
    pub(super) fn new(client: Client, groups: Vec<Vec<Mutation>>) -> Self {
        Self {
            client,
            groups,
            settings: WriteSettings::default(),
        }
    }

    /// How important the writes are beside others, in place of the
    /// [client's setting](crate::ClientBuilder::priority).
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.settings.priority = Some(priority);
        self
    }

    /// A name under which the service's statistics count the writes
    /// (`RequestOptions.transaction_tag`): up to 50 printable ASCII characters, the service
    /// cuts off what is more.
    pub fn transaction_tag(mut self, tag: impl Into<String>) -> Self {
        self.settings.tag = tag.into();
        self
    }

    /// Keeps the changes out of change streams that allow it
    /// (`BatchWriteRequest.exclude_txn_from_change_streams`).
    pub const fn exclude_from_change_streams(mut self, exclude: bool) -> Self {
        self.settings.excluded_from_change_streams = exclude;
        self
    }

    /// When groups without an answer are sent again after the stream has broken, in place of the
    /// [client's settings](crate::ClientBuilder::retry).
    pub fn retry(mut self, settings: RetrySettings) -> Self {
        self.settings.retry = Some(settings);
        self
    }

    /// How long all groups together may take, from the first call of
    /// [`next`](BatchWriteStream::next) on. Groups that have no answer when the time is over
    /// may have been committed or not.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.settings.timeout = Some(time);
        self
    }

    /// The results, one for each group. Nothing is sent before the first is asked for.
    ///
    /// # Errors
    ///
    /// A mutation makes no sense, or a group has none
    /// ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    pub fn start(self) -> Result<BatchWriteStream, Error> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for (number, group) in self.groups.iter().enumerate() {
            group.iter().try_for_each(Mutation::check)?;
            let mut encoded = Vec::new();
            for mutation in group.iter().filter(|mutation| !mutation.is_empty()) {
                mutation.encode(&mut encoded, MUTATIONS);
            }
            if encoded.is_empty() {
                return Err(Error::config(format!(
                    "the group {number} of a batch write changes nothing: leave it out"
                )));
            }
            groups.push(Group {
                encoded: encoded.into(),
                answered: false,
            });
        }
        let mut options = Vec::new();
        if let Some(request_options) = self.settings.request_options(&self.client) {
            put_bytes(
                &mut options,
                REQUEST_OPTIONS,
                &request_options.encode_to_vec(),
            );
        }
        put_integer(
            &mut options,
            EXCLUDE_TXN_FROM_CHANGE_STREAMS,
            self.settings.excluded_from_change_streams.into(),
        );
        Ok(BatchWriteStream {
            id: self.client.inner.headers.new_request(),
            retry: self.settings.retry(&self.client).into_owned(),
            client: self.client,
            open: groups.len(),
            of_no_group: None,
            groups,
            options,
            sent: Arc::default(),
            ready: VecDeque::new(),
            state: State::Idle,
            started: None,
            deadline: None,
            idle: None,
            blocks: 0,
            budget: Budget::default(),
            last_failure: None,
            attempts: 0,
            sent_on: Arc::default(),
            changed_session: false,
            tag: self.settings.tag,
            observer: None,
        })
    }
}

impl fmt::Debug for BatchWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchWrite")
            .field("client", &self.client)
            .field("groups", &self.groups)
            .finish_non_exhaustive()
    }
}

/// What became of one group of a batch write (`google.spanner.v1.BatchWriteResponse`).
#[derive(Debug)]
#[non_exhaustive]
pub struct BatchWriteResult {
    /// Which of the groups it was, in the order in which they were given, counted from 0.
    pub group: usize,
    /// When it was committed (`commit_timestamp`), or why it was not. Nothing of a group that
    /// was not committed has an effect, and no group is sent again for such an error.
    pub outcome: Result<Timestamp, Error>,
}

/// The results of a batch write, in the order in which the server gives them, made by
/// [`BatchWrite::start`].
///
/// When the stream of the answer breaks (UNAVAILABLE, a lost connection, a lost session), the
/// groups that have no answer yet are sent again, and only those. It is also a
/// [`Stream`](futures_core::Stream) of the same results. Dropping it cancels the call: groups without an answer may then be
/// committed or not.
pub struct BatchWriteStream {
    client: Client,
    id: RequestId,
    groups: Vec<Group>,
    /// How many of them have no answer.
    open: usize,
    /// A failure that the server told of no group.
    of_no_group: Option<Status>,
    /// The fields of the request besides session and groups.
    options: Vec<u8>,
    /// Which groups the last request had.
    sent: Arc<[usize]>,
    ready: VecDeque<BatchWriteResult>,
    state: State,
    retry: RetrySettings,
    started: Option<Instant>,
    /// Wakes when the time for all groups is over.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Wakes when nothing has come for long.
    idle: Option<Pin<Box<Sleep>>>,
    /// How many blocks of the answer had come when it was last waited for.
    blocks: u64,
    budget: Budget,
    last_failure: Option<Status>,
    attempts: u32,
    /// The session of the last attempt.
    sent_on: Arc<Mutex<Option<Arc<Session>>>>,
    changed_session: bool,
    /// For the observer.
    tag: String,
    /// There is one from the first sending on.
    observer: Option<Observer>,
}

struct Group {
    /// The content of a `MutationGroup`.
    encoded: Bytes,
    answered: bool,
}

enum State {
    /// The groups without an answer are to be sent.
    Idle,
    Opening(BoxFuture<'static, Result<Box<dyn Messages>, Status>>),
    Open(Box<dyn Messages>),
    BackingOff(Pin<Box<Sleep>>),
    Ended,
}

impl BatchWriteStream {
    /// The next result, or `None` when every group has had its own.
    ///
    /// # Errors
    ///
    /// The server refuses the request as a whole, or cannot be reached, or the time is over:
    /// [`unanswered`](Self::unanswered) groups may then be committed or not. Nothing follows.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no result is lost.
    pub async fn next(&mut self) -> Result<Option<BatchWriteResult>, Error> {
        std::future::poll_fn(|cx| self.poll_result(cx))
            .await
            .transpose()
    }

    /// The groups of which no answer has come, in ascending order; at the end, after an error,
    /// those that may have been committed or not.
    #[must_use]
    pub fn unanswered(&self) -> Vec<usize> {
        let groups = self.groups.iter().enumerate();
        let open = groups.filter(|(_, group)| !group.answered);
        open.map(|(number, _)| number).collect()
    }

    fn poll_result(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BatchWriteResult, Error>>> {
        loop {
            if let Some(result) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(result)));
            }
            if matches!(self.state, State::Ended) {
                return Poll::Ready(None);
            }
            let step = ready!(self.poll_step(cx));
            self.observe(&step);
            if let Err(error) = step {
                self.state = State::Ended;
                return Poll::Ready(Some(Err(error)));
            }
            self.idle = None;
        }
    }

    /// Tells the observer when all is over.
    fn observe(&mut self, step: &Result<(), Error>) {
        if let Some(observer) = &mut self.observer {
            match step {
                Err(error) => observer.failed(error),
                Ok(()) if matches!(self.state, State::Ended) => observer.ended(),
                Ok(()) => {}
            }
        }
    }

    /// Goes one step on: an answer opened, a message taken, a wait over.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(self.too_late()));
        }
        Poll::Ready(match &mut self.state {
            State::Idle => {
                self.state = self.open();
                Ok(())
            }
            State::Opening(call) => match call.as_mut().poll(cx) {
                Poll::Ready(Ok(messages)) => {
                    self.state = State::Open(messages);
                    Ok(())
                }
                Poll::Ready(Err(status)) => self.failed(status),
                Poll::Pending => return self.poll_idle(cx),
            },
            State::Open(messages) => match messages.poll_message(cx) {
                Poll::Ready(Some(Ok(message))) => self.received(message),
                Poll::Ready(Some(Err(status))) => self.failed(status),
                Poll::Ready(None) => self.ended(),
                Poll::Pending => {
                    let blocks = messages.blocks();
                    if std::mem::replace(&mut self.blocks, blocks) != blocks {
                        self.idle = None;
                    }
                    return self.poll_idle(cx);
                }
            },
            State::BackingOff(wait) => {
                ready!(wait.as_mut().poll(cx));
                self.state = State::Idle;
                Ok(())
            }
            State::Ended => Ok(()),
        })
    }

    /// Sends the groups that have no answer.
    fn open(&mut self) -> State {
        let groups = self.unanswered();
        if groups.is_empty() {
            return State::Ended;
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        let deadline = self
            .retry
            .total()
            .and_then(|time| started.checked_add(time));
        if self.attempts == 0 {
            self.deadline = deadline.map(|at| Box::pin(sleep_until(at)));
        }
        let mut fields = self.options.clone();
        for group in &groups {
            if let Some(group) = self.groups.get(*group) {
                put_bytes(&mut fields, MUTATION_GROUPS, &group.encoded);
            }
        }
        self.sent = groups.into();
        self.attempts += 1;
        let observer = self.observer.get_or_insert_with(|| {
            let request = self.client.inner.observe(Operation::BatchWrite);
            let observer = Observer::start(&request.started(started).transaction_tag(&self.tag));
            observer.request_id(&self.id);
            observer
        });
        observer.attempt(self.attempts, false);
        self.blocks = 0;
        let attempt = Attempt {
            client: self.client.inner.clone(),
            id: self.id.attempt(self.attempts),
            method: Method::BatchWrite,
            leader: true,
            lane: Lane::Any,
            deadline,
        };
        let sent_on = self.sent_on.clone();
        State::Opening(Box::pin(async move {
            let session = attempt.client.sessions.get().await;
            let session = session.map_err(|(status, _)| status)?;
            *sent_on.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
            let mut body = Vec::with_capacity(session.name().len() + fields.len() + 8);
            put_bytes(&mut body, SESSION, session.name().as_bytes());
            body.extend_from_slice(&fields);
            attempt.send(session, body.into()).await
        }))
    }

    fn received(&mut self, message: Bytes) -> Result<(), Error> {
        let answer = proto::BatchWriteResponse::decode(message).map_err(|error| {
            Error::protocol(format!(
                "an answer to a batch write cannot be read: {error}"
            ))
        })?;
        // All or nothing of an answer counts.
        let mut numbers = Vec::with_capacity(answer.indexes.len());
        for index in answer.indexes.iter().copied() {
            let sent = usize::try_from(index).ok();
            let Some(number) = sent.and_then(|index| self.sent.get(index).copied()) else {
                return Err(Error::protocol(format!(
                    "an answer to a batch write is about group {index}, and {} were sent",
                    self.sent.len()
                )));
            };
            numbers.push(number);
        }
        if numbers.is_empty()
            && let Some(status) = answer.status.as_ref().filter(|status| status.code != 0)
        {
            self.of_no_group = Some(from_rpc(status));
        }
        let mut got_ahead = false;
        for number in numbers {
            let Some(group) = self.groups.get_mut(number) else {
                continue;
            };
            // The first answer counts.
            if std::mem::replace(&mut group.answered, true) {
                continue;
            }
            got_ahead = true;
            self.open = self.open.saturating_sub(1);
            let outcome = match &answer.status {
                Some(status) if status.code != 0 => {
                    let id = self.id.attempt(self.attempts).text;
                    Err(from_rpc(status).with_request_id(id))
                }
                _ => timestamp_of(answer.commit_timestamp.as_ref()),
            };
            self.ready.push_back(BatchWriteResult {
                group: number,
                outcome: outcome.map_err(|status| Error::status(status, 1)),
            });
        }
        if got_ahead {
            self.budget.progress();
        }
        // Nothing that may follow would change anything, so nobody waits for it.
        if self.open == 0
            && let State::Open(messages) = std::mem::replace(&mut self.state, State::Ended)
        {
            drain_in_background(messages);
        }
        Ok(())
    }

    /// The server has said that this is all.
    fn ended(&mut self) -> Result<(), Error> {
        self.state = State::Ended;
        let open = self.open;
        match self.of_no_group.take() {
            _ if open == 0 => Ok(()),
            Some(status) => {
                let status = status
                    .explained(&format!(
                        "the batch write failed with {open} groups unanswered"
                    ))
                    .with_request_id(self.id.attempt(self.attempts).text);
                Err(Error::status(status, self.attempts))
            }
            None => Err(Error::protocol(format!(
                "the answer to a batch write ended and says nothing of {open} of the groups"
            ))),
        }
    }

    fn failed(&mut self, status: Status) -> Result<(), Error> {
        let started = self.started.unwrap_or_else(Instant::now);
        let deadline = self.deadline.as_ref().map(|sleep| sleep.deadline());
        let status = at_the_end(status, deadline, started);
        let wait = if status.is_session_not_found()
            && !std::mem::replace(&mut self.changed_session, true)
        {
            let session = self
                .sent_on
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(session) = session {
                self.client.inner.sessions.forget(&session);
            }
            Ok(Duration::ZERO)
        } else if retryable(&status) {
            (self.budget).wait(&self.retry, started, deadline, &status)
        } else {
            Err(because_of(status.clone(), self.last_failure.take()))
        };
        match wait {
            Ok(wait) => {
                if let Some(observer) = &mut self.observer {
                    observer.again(self.attempts, &status, wait, false);
                }
                self.last_failure = Some(status);
                self.state = State::BackingOff(Box::pin(sleep(wait)));
                Ok(())
            }
            Err(status) if status.code() == Code::Unimplemented => {
                let status = status.explained(
                    "the server has no batch write (that of the emulator has not): write each group by `Client::write`",
                );
                Err(Error::status(status, self.attempts))
            }
            Err(status) => Err(Error::status(status, self.attempts)),
        }
    }

    fn too_late(&mut self) -> Error {
        let limit = self.retry.total().unwrap_or_default();
        let status = too_late(limit).with_cause(self.last_failure.take());
        Error::status(status, self.attempts.max(1))
    }

    /// Fails when nothing has come for too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let limit = self.retry.idle();
        let idle = self.idle.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(idle.as_mut().poll(cx));
        let text = format!("no message came for {limit:?}, the idle limit of the stream");
        let status = Status::new(Code::DeadlineExceeded, text);
        Poll::Ready(Err(Error::status(status, self.attempts)))
    }
}

impl Stream for BatchWriteStream {
    type Item = Result<BatchWriteResult, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_result(cx)
    }
}

impl fmt::Debug for BatchWriteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchWriteStream")
            .field("groups", &self.groups.len())
            .field("unanswered", &self.unanswered())
            .finish_non_exhaustive()
    }
}
