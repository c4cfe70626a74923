//! A transport without a network: it records calls and answers from a script.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;

use super::Client;
use crate::error::{Code, Status};
use crate::proto::spanner as proto;
use crate::transport::{BoxFuture, Call, Messages, Method, Transport};

pub(super) const DATABASE: &str = "projects/p/instances/i/databases/d";
pub(super) const SESSION: &str = "projects/p/instances/i/databases/d/sessions/s 1";

/// What to answer to the n-th call, counted from 1.
type Script = dyn Fn(u32, &Call) -> Result<Vec<Bytes>, Status> + Send + Sync;

pub(super) struct Recorder {
    calls: Mutex<Vec<Call>>,
    count: AtomicU32,
    script: Box<Script>,
    delay: Duration,
}

impl Recorder {
    pub(super) fn new(
        script: impl Fn(u32, &Call) -> Result<Vec<Bytes>, Status> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            calls: Mutex::default(),
            count: AtomicU32::new(0),
            script: Box::new(script),
            delay: Duration::from_millis(100),
        })
    }

    /// Makes sessions; refuses everything else.
    pub(super) fn sessions_only() -> Arc<Self> {
        Self::new(|_, call| match call.method {
            Method::CreateSession => Ok(vec![session(SESSION)]),
            _ => Err(Status::new(Code::PermissionDenied, "only sessions here")),
        })
    }

    /// Makes sessions, but takes its time.
    pub(super) fn slow(delay: Duration) -> Arc<Self> {
        Arc::new(Self {
            calls: Mutex::default(),
            count: AtomicU32::new(0),
            script: Box::new(|_, _| Ok(vec![session(SESSION)])),
            delay,
        })
    }

    pub(super) fn client(self: &Arc<Self>) -> Client {
        let builder = Client::builder(DATABASE).database_role("reader");
        builder.build(self.clone(), "nowhere".to_owned()).unwrap()
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The last call, without that of the session.
    pub(super) fn last(&self) -> Call {
        self.calls().pop().unwrap()
    }
}

pub(super) fn session(name: &str) -> Bytes {
    let session = proto::Session {
        name: name.to_owned(),
        multiplexed: true,
        ..proto::Session::default()
    };
    session.encode_to_vec().into()
}

impl Transport for Recorder {
    fn open(&self, call: Call) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let n = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = (self.script)(n, &call);
        self.calls.lock().unwrap().push(call);
        let delay = self.delay;
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            Ok(Box::new(Answer(answer?.into_iter())) as Box<dyn Messages>)
        })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

struct Answer(std::vec::IntoIter<Bytes>);

impl Messages for Answer {
    fn poll_message(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}
