//! The inside of a read-only transaction: who begins it, and how its statements are sent.
//!
//! The first statement begins the transaction, and the others wait for its id. The call
//! that begins runs in a task of its own up to its first message, which has the id: so
//! nobody depends on somebody else's future being polled. When that call fails, or whoever
//! wanted it is gone, everybody who waits is woken, and the first to come begins.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Client;
use super::bound::TimestampBound;
use super::headers::RequestId;
use super::request::{Attempt, ReadCall, body, tag, with_token};
use super::session::Session;
use super::settings::CallSettings;
use crate::error::{Code, Error, Status};
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Messages, Opener};
use crate::types::timestamp::Timestamp;
use crate::wire::ResultMetadata;
use crate::wire::writer::{put_bytes, with_length};

/// Fields of `google.spanner.v1.TransactionSelector`.
const ID: u8 = tag(2);
const BEGIN: u8 = tag(3);

/// A read-only transaction, begun or not.
pub(super) struct Snapshot {
    client: Client,
    bound: TimestampBound,
    state: watch::Sender<State>,
}

enum State {
    /// The next statement is to begin.
    Idle,
    /// A call is under way that begins.
    Beginning,
    Begun(Arc<Begun>),
}

/// What statements of a transaction have in common once it has begun.
struct Begun {
    /// A transaction is one of its session.
    session: Arc<Session>,
    /// The content of `TransactionSelector`, with the id.
    selector: Vec<u8>,
    read_timestamp: Option<Timestamp>,
}

/// What a statement is to do.
enum Turn {
    Join(Arc<Begun>),
    Begin(Right),
    Wait,
}

impl Snapshot {
    pub(super) fn new(client: Client, bound: TimestampBound) -> Result<Self, Error> {
        bound.check()?;
        if bound.is_single_use() {
            return Err(Error::config(format!(
                "a transaction cannot be bound to a time that the server chooses ({bound}): only a single query or read can; use `Strong`, `ReadTimestamp` or `ExactStaleness`"
            )));
        }
        Ok(Self {
            client,
            bound,
            state: watch::Sender::new(State::Idle),
        })
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    pub(super) const fn bound(&self) -> TimestampBound {
        self.bound
    }

    pub(super) fn read_timestamp(&self) -> Option<Timestamp> {
        match &*self.state.borrow() {
            State::Begun(begun) => begun.read_timestamp,
            _ => None,
        }
    }

    /// Sends a statement of the transaction and waits for the first message of its result.
    pub(super) async fn send<T: SpannerRow>(
        self: &Arc<Self>,
        call: ReadCall,
        settings: &CallSettings,
    ) -> Result<RowStream<T>, Error> {
        let started = Instant::now();
        let retry = settings.retry_over(&self.client.inner.retry);
        let deadline = retry.total().and_then(|time| started.checked_add(time));
        let statement = Statement {
            snapshot: self.clone(),
            id: self.client.inner.headers.new_request(),
            call: call.into(),
            deadline,
            sent_on: Arc::default(),
        };
        let stream = RowStream::open(Box::new(statement), &retry, started).await?;
        Ok(stream.reading_at(self.read_timestamp()))
    }

    fn turn(self: &Arc<Self>) -> Turn {
        let mut turn = Turn::Wait;
        self.state.send_if_modified(|state| {
            match state {
                State::Begun(begun) => turn = Turn::Join(begun.clone()),
                State::Beginning => {}
                State::Idle => {
                    *state = State::Beginning;
                    turn = Turn::Begin(Right(Some(self.clone())));
                }
            }
            // Nobody waits for any of this.
            false
        });
        turn
    }

    /// The transaction is that of the server's answer, `google.spanner.v1.Transaction`.
    pub(super) fn begun(&self, transaction: &ResultMetadata, session: Arc<Session>) {
        let id = transaction.transaction_id();
        let mut selector = Vec::with_capacity(id.len() + 4);
        put_bytes(&mut selector, ID, id);
        let begun = Begun {
            session,
            selector,
            read_timestamp: transaction.read_timestamp(),
        };
        self.state.send_replace(State::Begun(Arc::new(begun)));
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyTransaction")
            .field("client", &self.client)
            .field("bound", &self.bound)
            .field("read_timestamp", &self.read_timestamp())
            .finish_non_exhaustive()
    }
}

/// The right to begin the transaction, held by one statement at a time.
struct Right(Option<Arc<Snapshot>>);

impl Right {
    fn begun(mut self, transaction: &ResultMetadata, session: Arc<Session>) {
        if let Some(snapshot) = self.0.take() {
            snapshot.begun(transaction, session);
        }
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        if let Some(snapshot) = self.0.take() {
            snapshot.state.send_replace(State::Idle);
        }
    }
}

/// One statement of a transaction, sent as often as its result stream needs it.
struct Statement {
    snapshot: Arc<Snapshot>,
    id: RequestId,
    call: Arc<ReadCall>,
    /// When the answer is no longer wanted.
    deadline: Option<Instant>,
    sent_on: SentOn,
}

/// The session of the last attempt.
type SentOn = Arc<Mutex<Option<Arc<Session>>>>;

fn lock(sent_on: &SentOn) -> MutexGuard<'_, Option<Arc<Session>>> {
    sent_on.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opener for Statement {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let sending = Sending {
            attempt: Attempt {
                client: self.snapshot.client.inner.clone(),
                id: self.id.attempt(attempt).into(),
                method: self.call.method,
                leader: false,
                deadline: self.deadline,
            },
            snapshot: self.snapshot.clone(),
            call: self.call.clone(),
            token: Bytes::copy_from_slice(resume_token),
            sent_on: self.sent_on.clone(),
        };
        Box::pin(sending.open())
    }

    fn change_session(&mut self) -> bool {
        let Some(session) = lock(&self.sent_on).take() else {
            return false;
        };
        let client = &self.snapshot.client;
        client.inner.sessions.forget(&session);
        // A transaction that has begun is lost with its session. One that has not, or
        // that somebody else began on another one, is not.
        match &*self.snapshot.state.borrow() {
            State::Begun(begun) => !Arc::ptr_eq(&begun.session, &session),
            _ => true,
        }
    }
}

/// One attempt of a statement.
struct Sending {
    attempt: Attempt,
    snapshot: Arc<Snapshot>,
    call: Arc<ReadCall>,
    token: Bytes,
    sent_on: SentOn,
}

impl Sending {
    async fn open(self) -> Result<Box<dyn Messages>, Status> {
        let mut state = self.snapshot.state.subscribe();
        loop {
            match self.snapshot.turn() {
                Turn::Join(begun) => return self.join(&begun).await,
                Turn::Begin(right) => return Task(tokio::spawn(self.begin(right))).result().await,
                Turn::Wait => {
                    let waited = state.wait_for(|state| !matches!(state, State::Beginning));
                    // It fails only without a sender, which the transaction is.
                    let _ = waited.await;
                }
            }
        }
    }

    /// Sends the statement in the transaction that has begun.
    async fn join(self, begun: &Begun) -> Result<Box<dyn Messages>, Status> {
        let session = begun.session.clone();
        *lock(&self.sent_on) = Some(session.clone());
        let body = body(&session, &begun.selector, &self.call.fields);
        let body = with_token(&body, self.call.token_tag, &self.token);
        let messages = self.attempt.send(session, body).await.map_err(if_lost)?;
        Ok(Box::new(InTransaction {
            first: None,
            messages,
        }))
    }

    /// Sends the statement to begin the transaction, and waits for the message that says
    /// which one it is.
    async fn begin(self, right: Right) -> Result<Box<dyn Messages>, Status> {
        debug_assert!(self.token.is_empty(), "a token comes behind the id");
        let session = self.attempt.client.sessions.get().await;
        let session = session.map_err(|(status, _)| status)?;
        *lock(&self.sent_on) = Some(session.clone());
        let mut selector = Vec::with_capacity(32);
        selector.push(BEGIN);
        with_length(&mut selector, |out| self.snapshot.bound.encode_options(out));
        let body = body(&session, &selector, &self.call.fields);
        let id = self.attempt.id.clone();
        let mut messages = self.attempt.send(session.clone(), body).await?;
        let first = poll_fn(|cx| messages.poll_message(cx)).await.transpose()?;
        // Whatever else is wrong with the message, the reader of the result will say.
        if let Some(metadata) = first
            .as_ref()
            .and_then(|message| ResultMetadata::of_transaction_in(message).ok())
        {
            if metadata.transaction_id().is_empty() {
                return Err(no_transaction().with_request_id(id));
            }
            right.begun(&metadata, session);
        }
        Ok(Box::new(InTransaction { first, messages }))
    }
}

#[cold]
pub(super) fn no_transaction() -> Status {
    let text = "no transaction returned: the request began one, and the answer has no id";
    Status::new(Code::Internal, text)
}

/// A task that ends with whoever waits for it.
struct Task<T>(JoinHandle<Result<T, Status>>);

impl<T> Task<T> {
    async fn result(mut self) -> Result<T, Status> {
        (&mut self.0).await.unwrap_or_else(|_| {
            let text = "the runtime that was beginning the transaction is gone: ask again";
            Err(Status::new(Code::Cancelled, text))
        })
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The answer to a statement in a transaction.
struct InTransaction {
    /// Received already.
    first: Option<Bytes>,
    messages: Box<dyn Messages>,
}

impl Messages for InTransaction {
    fn blocks(&self) -> u64 {
        self.messages.blocks()
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.messages.poll_message(cx).map_err(if_lost),
        }
    }
}

/// Says what a lost session means to a transaction.
fn if_lost(status: Status) -> Status {
    if !status.is_session_not_found() {
        return status;
    }
    status.explained(
        "the session of the read-only transaction is gone, and the transaction with it: begin a new one (one with the bound `ReadTimestamp` sees the same state)",
    )
}
