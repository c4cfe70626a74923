//! Encoding requests, and sending one as often as its result stream needs it.
//!
//! Requests are written in wire form directly, not through generated messages:
//! parameters and keys are encoded already when they arrive here.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};

use super::Client;
use super::headers::{Headers, RequestId};
use super::session::Session;
use crate::error::{Code, Error, Status};
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Call, Messages, Method, Opener, Transport};
use crate::wire::writer::{put_bytes, put_varint};

/// The tag of a length-delimited field.
pub(super) const fn tag(field: u8) -> u8 {
    field << 3 | 2
}

/// The tag of a field that is a variable-length integer.
pub(super) const fn integer_tag(field: u8) -> u8 {
    field << 3
}

/// `ExecuteSqlRequest` and `ReadRequest` agree in these two fields.
const SESSION: u8 = tag(1);
const TRANSACTION: u8 = tag(2);

/// `TransactionSelector.single_use.read_only { strong: true, return_read_timestamp: true }`
const STRONG_READ: &[u8] = &[tag(1), 6, tag(2), 4, integer_tag(1), 1, integer_tag(6), 1];

/// A request whose answer is a result stream, without session and transaction.
#[derive(Debug)]
pub(super) struct ReadCall {
    pub(super) method: Method,
    /// The fields of the request behind the transaction.
    pub(super) fields: Vec<u8>,
    /// The tag of `resume_token`.
    pub(super) token_tag: u8,
}

impl Client {
    /// Sends a strong read and waits for the first message of its result.
    pub(super) async fn send<T: SpannerRow>(&self, call: ReadCall) -> Result<RowStream<T>, Error> {
        let sender = self.sender(&call, self.session().await?);
        RowStream::open(Box::new(sender), &self.inner.retry).await
    }

    pub(super) fn sender(&self, call: &ReadCall, session: Arc<Session>) -> Sender {
        let mut body = Vec::with_capacity(session.name().len() + call.fields.len() + 16);
        put_bytes(&mut body, SESSION, session.name().as_bytes());
        put_bytes(&mut body, TRANSACTION, STRONG_READ);
        body.extend_from_slice(&call.fields);
        Sender {
            transport: self.inner.transport.clone(),
            headers: self.inner.headers.clone(),
            id: self.inner.headers.new_request(),
            session,
            method: call.method,
            body: body.into(),
            token_tag: call.token_tag,
        }
    }
}

/// Sends one request, each time from another resume token on.
#[derive(Debug)]
pub(super) struct Sender {
    transport: Arc<dyn Transport>,
    headers: Arc<Headers>,
    id: RequestId,
    session: Arc<Session>,
    method: Method,
    body: Bytes,
    token_tag: u8,
}

impl Opener for Sender {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let id: Arc<str> = self.id.attempt(attempt).into();
        let headers = match self.headers.of_read(self.session.params(), &id) {
            Ok(headers) => headers,
            Err(error) => {
                let status = Status::new(Code::Internal, error.to_string());
                return Box::pin(std::future::ready(Err(status)));
            }
        };
        let answer = self.transport.open(Call {
            method: self.method,
            headers,
            body: with_token(&self.body, self.token_tag, resume_token),
        });
        Box::pin(async move {
            match answer.await {
                Ok(messages) => Ok(Box::new(Named { messages, id }) as Box<dyn Messages>),
                Err(status) => Err(status.with_request_id(id)),
            }
        })
    }
}

/// The request with a resume token; fields may stand in any order on the wire.
fn with_token(body: &Bytes, tag: u8, token: &[u8]) -> Bytes {
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
        out.push(integer_tag(field));
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
