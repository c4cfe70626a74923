//! The messages of one answer, and how it ended.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::response::Parts;
use tonic::body::Body;
use tonic::codegen::Body as _;

use super::frames::Frames;
use super::pool::Running;
use super::{Messages, status};
use crate::error::{Code, Status};

/// Reads the body of a response. All state is here, none in a future.
#[derive(Debug)]
pub(super) struct Answer {
    /// `None` when the answer is over.
    body: Option<Body>,
    /// Counts the call as running until the answer is over.
    running: Option<Running>,
    frames: Frames,
    /// Whether the server has said OK already in the headers, after which
    /// nothing may come.
    ended_in_headers: bool,
    /// How many blocks of the body have come.
    blocks: u64,
}

impl Answer {
    /// Begins with the headers, which may be all there is.
    pub(super) fn new(head: &Parts, body: Body, running: Running) -> Result<Self, Status> {
        let ended_in_headers = match status::from_headers(&head.headers) {
            Some(Err(status)) => return Err(status),
            Some(Ok(())) => status::check_head(head).map(|()| true)?,
            None => status::check_head(head).map(|()| false)?,
        };
        Ok(Self {
            body: Some(body),
            running: Some(running),
            frames: Frames::default(),
            ended_in_headers,
            blocks: 0,
        })
    }

    /// What the end of the body means, given the status in the trailers.
    fn end(&self, trailers: Option<Result<(), Status>>) -> Result<(), Status> {
        let status = trailers.or(self.ended_in_headers.then_some(Ok(())));
        match status {
            Some(Ok(())) if self.frames.is_between_messages() => Ok(()),
            Some(Err(status)) => Err(status),
            _ if !self.frames.is_between_messages() => {
                Err(status::broken("the answer broke off inside a message"))
            }
            // hyper reports a stream that the peer or a proxy has reset with
            // NO_ERROR or CANCEL as a body that is over.
            _ => Err(status::broken(
                "the answer broke off: the server gave no final status (trailer grpc-status)",
            )),
        }
    }

    fn finish(&mut self, end: Result<(), Status>) -> Poll<Option<Result<Bytes, Status>>> {
        self.body = None;
        self.running = None;
        Poll::Ready(end.err().map(Err))
    }
}

impl Messages for Answer {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            match self.frames.next() {
                Ok(Some(_)) if self.ended_in_headers => {
                    let text = "the server sent a message after its final status";
                    return self.finish(Err(Status::new(Code::Internal, text)));
                }
                Ok(Some(message)) => return Poll::Ready(Some(Ok(message))),
                Ok(None) => {}
                Err(status) => return self.finish(Err(status)),
            }
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(block) => {
                        self.blocks += 1;
                        self.frames.push(block);
                    }
                    Err(frame) => {
                        if let Ok(trailers) = frame.into_trailers() {
                            let end = self.end(status::from_headers(&trailers));
                            return self.finish(end);
                        }
                    }
                },
                Some(Err(error)) => return self.finish(Err(status::from_failure(error))),
                None => {
                    let end = self.end(None);
                    return self.finish(end);
                }
            }
        }
    }
}
