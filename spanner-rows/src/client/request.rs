//! Encoding requests, and sending one as often as its result stream needs it.
//!
//! Requests are written in wire form directly, not through generated messages:
//! parameters and keys are encoded already when they arrive here.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

use super::headers::{AttemptId, RequestId, put_timeout};
use super::session::Session;
use super::settings::CallSettings;
use super::{Client, Inner};
use crate::error::{Error, Status};
use crate::observe::{Observer, Operation, Subject};
use crate::result::retry::too_late;
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Call, Lane, Messages, Method, Opener};
use crate::wire::writer::{put_bytes, put_varint};

/// The tag of a length-delimited field.
pub(super) const fn tag(field: u8) -> u8 {
    field << 3 | 2
}

/// The tag of a field that is a variable-length integer.
pub(super) const fn integer_tag(field: u8) -> u8 {
    field << 3
}

/// `ExecuteSqlRequest` and `ReadRequest` agree in these two fields, and
/// `BeginTransactionRequest` in the first.
pub(super) const SESSION: u8 = tag(1);
const TRANSACTION: u8 = tag(2);

/// Field `single_use` of `google.spanner.v1.TransactionSelector`.
pub(super) const SINGLE_USE: u8 = tag(1);

/// `TransactionSelector.single_use.read_only { strong: true, return_read_timestamp: true }`
pub(super) const STRONG_READ: &[u8] = &[
    SINGLE_USE,
    6,
    tag(2),
    4,
    integer_tag(1),
    1,
    integer_tag(6),
    1,
];

/// A request whose answer is a result stream, without the session.
#[derive(Debug)]
pub(super) struct ReadCall {
    pub(super) method: Method,
    /// The content of `transaction`; empty where it is not known yet.
    pub(super) selector: Cow<'static, [u8]>,
    /// The fields of the request behind the transaction.
    pub(super) fields: Vec<u8>,
    /// The tag of `resume_token`.
    pub(super) token_tag: u8,
}

impl Client {
    /// Sends a read of its own transaction and waits for the first message of its result.
    pub(super) async fn send<T: SpannerRow>(
        &self,
        call: ReadCall,
        settings: &CallSettings,
        subject: Subject<'_>,
    ) -> Result<RowStream<T>, Error> {
        let started = Instant::now();
        let request = self.inner.observe(Operation::of(call.method));
        let request = request.request_tag(&settings.tag).subject(subject);
        let mut observer = Observer::start(&request.started(started));
        let retry = settings.retry_over(&self.inner.retry);
        let deadline = retry.total().and_then(|time| started.checked_add(time));
        let session = match deadline {
            None => self.session().await,
            Some(deadline) => timeout_at(deadline, self.session())
                .await
                .unwrap_or_else(|_| {
                    let limit = retry.total().unwrap_or_default();
                    Err(Error::status(too_late(limit), 1))
                }),
        };
        let session = session.inspect_err(|error| observer.failed(error))?;
        let sender = self.sender(call, session, deadline, &observer);
        RowStream::open(Box::new(sender), &retry, started, observer).await
    }

    pub(super) fn sender(
        &self,
        call: ReadCall,
        session: Arc<Session>,
        deadline: Option<Instant>,
        observer: &Observer,
    ) -> Sender {
        Sender {
            client: self.inner.clone(),
            id: self.inner.new_request(observer),
            body: body(&session, &call.selector, &call.fields),
            session,
            next_session: None,
            call,
            deadline,
        }
    }
}

/// The whole request.
pub(super) fn body(session: &Session, selector: &[u8], fields: &[u8]) -> Bytes {
    let len = session.name().len() + selector.len() + fields.len() + 8;
    let mut body = Vec::with_capacity(len);
    put_bytes(&mut body, SESSION, session.name().as_bytes());
    put_bytes(&mut body, TRANSACTION, selector);
    body.extend_from_slice(fields);
    body.into()
}

/// Sends one request, each time from another resume token on.
pub(super) struct Sender {
    client: Arc<Inner>,
    id: RequestId,
    session: Arc<Session>,
    /// Filled by the attempt that finds out which session takes the place of a lost one.
    next_session: Option<Arc<OnceLock<Arc<Session>>>>,
    call: ReadCall,
    body: Bytes,
    /// When the answer is no longer wanted.
    deadline: Option<Instant>,
}

impl Opener for Sender {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        if let Some(session) = self.next_session.as_ref().and_then(|next| next.get()) {
            self.session = session.clone();
            self.body = body(&self.session, &self.call.selector, &self.call.fields);
            self.next_session = None;
        }
        let attempt = Attempt {
            client: self.client.clone(),
            id: self.id.attempt(attempt),
            method: self.call.method,
            leader: false,
            lane: Lane::Any,
            deadline: self.deadline,
        };
        match &self.next_session {
            None => {
                let body = with_token(&self.body, self.call.token_tag, resume_token);
                Box::pin(attempt.send(self.session.clone(), body))
            }
            Some(next) => {
                let next = next.clone();
                let (selector, fields) = (self.call.selector.clone(), self.call.fields.clone());
                Box::pin(async move {
                    let session = attempt.client.sessions.get().await;
                    let session = session.map_err(|(status, _)| status)?;
                    // A token would be one of the lost session: there is none.
                    let body = body(next.get_or_init(|| session.clone()), &selector, &fields);
                    attempt.send(session, body).await
                })
            }
        }
    }

    fn change_session(&mut self) -> bool {
        self.client.sessions.forget(&self.session);
        self.next_session = Some(Arc::default());
        // A read in a transaction of its own has no tie to its session.
        true
    }
}

/// One attempt of a request.
pub(super) struct Attempt {
    pub(super) client: Arc<Inner>,
    pub(super) id: AttemptId,
    pub(super) method: Method,
    /// Whether only a leader can do it.
    pub(super) leader: bool,
    pub(super) lane: Lane,
    pub(super) deadline: Option<Instant>,
}

impl Attempt {
    pub(super) async fn send(
        self,
        session: Arc<Session>,
        body: Bytes,
    ) -> Result<Box<dyn Messages>, Status> {
        let call = self.call(&session, body)?;
        let id = self.id.text;
        match self.client.transport.open(call).await {
            Ok(messages) => Ok(Box::new(Named { messages, id })),
            Err(status) => Err(status.with_request_id(id)),
        }
    }

    /// Sends a request whose answer is one message.
    pub(super) async fn unary(self, session: &Session, body: Bytes) -> Result<Bytes, Status> {
        let call = self.call(session, body)?;
        let answer = self.client.transport.unary(call).await;
        answer.map_err(|status| status.with_request_id(self.id.text))
    }

    fn call(&self, session: &Session, body: Bytes) -> Result<Call, Status> {
        let headers = self.headers(session);
        Ok(Call {
            method: self.method,
            headers: headers.map_err(|error| Status::new(error.code(), error.to_string()))?,
            body,
            lane: self.lane.clone(),
        })
    }

    fn headers(&self, session: &Session) -> Result<HeaderMap, Error> {
        let (all, params) = (&self.client.headers, session.params());
        let mut headers = if self.leader {
            all.of_leader(params, &self.id)?
        } else {
            all.of_read(params, &self.id)?
        };
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            put_timeout(&mut headers, left)?;
        }
        Ok(headers)
    }
}

/// The request with a resume token; fields may stand in any order on the wire.
pub(super) fn with_token(body: &Bytes, tag: u8, token: &[u8]) -> Bytes {
    if token.is_empty() {
        return body.clone();
    }
    let mut field = Vec::with_capacity(token.len() + 6);
    put_bytes(&mut field, tag, token);
    let mut all = BytesMut::with_capacity(body.len() + field.len());
    all.put_slice(body);
    all.put_slice(&field);
    all.freeze()
}

/// Appends an integer field; zero is what an absent field means.
pub(super) fn put_integer(out: &mut Vec<u8>, field: u8, value: u64) {
    if value != 0 {
        put_varint(out, u64::from(field) << 3);
        put_varint(out, value);
    }
}

/// An answer whose errors name the request.
struct Named {
    messages: Box<dyn Messages>,
    id: Arc<str>,
}

impl Messages for Named {
    fn blocks(&self) -> u64 {
        self.messages.blocks()
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        let polled = self.messages.poll_message(cx);
        polled.map_err(|status| status.with_request_id(self.id.clone()))
    }
}
