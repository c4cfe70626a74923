//! The way to the server, as the rest of the crate sees it.
//!
//! Everything above speaks of calls, headers and messages of bytes; the gRPC
//! library is named in this folder only, so that another one can take its place.
//!
//! * `endpoint`: which address, and whether it may be spoken to without TLS
//! * `settings`: how many connections there are, how they are kept, windows and frames
//! * `tls`: what is trusted, who we are, and what a refusal means
//! * `token`: access tokens that the program brings
//! * `credentials`: the headers that say who calls, and how long they are kept
//! * `pool`: several channels to one server, and which one a call takes
//! * `channel`: sends calls over a channel of tonic's
//! * `frames`: cuts the body of an answer into messages
//! * `answer`: the messages of one answer, and how it ended
//! * `status`: trailers and failures of the connection as [`Status`]

mod answer;
pub(crate) mod channel;
pub(crate) mod credentials;
pub(crate) mod endpoint;
mod frames;
mod pool;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod tls;
pub(crate) mod token;

#[cfg(test)]
mod channel_tests;
#[cfg(test)]
mod credentials_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod test_server;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;

use crate::error::{Code, Status};

/// A future on the heap, for traits that must be object-safe.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A call of the data service (`google.spanner.v1.Spanner`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    BatchWrite,
    BeginTransaction,
    Commit,
    CreateSession,
    ExecuteBatchDml,
    ExecuteStreamingSql,
    GetSession,
    Rollback,
    PartitionQuery,
    PartitionRead,
    StreamingRead,
}

impl Method {
    const fn path(self) -> &'static str {
        match self {
            Self::BatchWrite => "/google.spanner.v1.Spanner/BatchWrite",
            Self::BeginTransaction => "/google.spanner.v1.Spanner/BeginTransaction",
            Self::Commit => "/google.spanner.v1.Spanner/Commit",
            Self::CreateSession => "/google.spanner.v1.Spanner/CreateSession",
            Self::ExecuteBatchDml => "/google.spanner.v1.Spanner/ExecuteBatchDml",
            Self::ExecuteStreamingSql => "/google.spanner.v1.Spanner/ExecuteStreamingSql",
            Self::GetSession => "/google.spanner.v1.Spanner/GetSession",
            Self::Rollback => "/google.spanner.v1.Spanner/Rollback",
            Self::PartitionQuery => "/google.spanner.v1.Spanner/PartitionQuery",
            Self::PartitionRead => "/google.spanner.v1.Spanner/PartitionRead",
            Self::StreamingRead => "/google.spanner.v1.Spanner/StreamingRead",
        }
    }
}

/// One request, encoded.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// The request message.
    pub(crate) body: Bytes,
    pub(crate) lane: Lane,
}

/// On which connection a call is sent.
#[derive(Clone, Debug, Default)]
pub(crate) enum Lane {
    /// On that with the fewest calls.
    #[default]
    Any,
    /// On this one: all calls of a transaction that writes keep together.
    Only(Arc<Place>),
    /// On this one, unless others have fewer calls.
    Rather(Arc<Place>),
}

/// A place on one connection, which counts as a call as long as it is held.
#[derive(Debug)]
pub(crate) struct Place {
    /// Which of the connections.
    pub(crate) index: usize,
    /// How many calls run on it.
    count: Arc<AtomicUsize>,
}

impl Place {
    pub(crate) fn new(index: usize, count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self { index, count }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends calls to one server.
///
/// Connecting is the transport's business: a call that cannot be sent or whose
/// answer breaks off fails with a status that
/// [is of the transport](Status::is_transport), and the next call tries anew.
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// How many connections there may be: so many calls at once take one each.
    fn channels(&self) -> usize {
        1
    }

    /// A place on the connection with the fewest calls.
    fn place(&self) -> Place {
        Place::new(0, Arc::default())
    }

    /// Sends a call and waits until the answer begins.
    fn open(&self, call: Call) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>>;

    /// Sends a call whose answer is one message, and waits for all of it.
    fn unary(&self, call: Call) -> BoxFuture<'static, Result<Bytes, Status>> {
        let opened = self.open(call);
        Box::pin(async move {
            let mut messages = opened.await?;
            let mut only = None;
            while let Some(message) = poll_fn(|cx| messages.poll_message(cx)).await.transpose()? {
                if only.replace(message).is_some() {
                    let text = "the server sent several messages where one was to come";
                    return Err(Status::new(Code::Internal, text));
                }
            }
            only.ok_or_else(|| Status::new(Code::Internal, "the server sent no message"))
        })
    }
}

/// The messages of one answer, each as the server encoded it.
///
/// Dropping it early cancels the call.
pub(crate) trait Messages: Send {
    /// How many blocks of the answer have come; a large message has many. A wait
    /// in which this number grows is not one for a silent server.
    fn blocks(&self) -> u64 {
        0
    }

    /// The next message.
    ///
    /// `None` is said only after the server's own status OK: an answer that
    /// stops in any other way ends with an error. After `None` or an error the
    /// answer is over and `None` is all that follows.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>>;
}

/// Sends one request as often as its result stream needs it.
pub(crate) trait Opener: Send {
    /// Sends the request, to be answered from after `resume_token` on; an empty
    /// token means from the start.
    ///
    /// `attempt` counts from 1 over the whole life of the stream and goes into
    /// the request id. The future may be dropped at any time.
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>>;

    /// The server does not know the session of the request. Answers whether the
    /// request means the same on another session, which the next `open` then
    /// sends it on.
    fn change_session(&mut self) -> bool {
        false
    }
}
