//! The body of a response that follows a script.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Frame;

use super::answer::Script;
use super::failure::ok_trailers;
use super::io::{Command, Control};
use super::step::Step;

/// Plays a script as the server's side of a call.
pub(super) struct ScriptBody {
    first: Option<Step>,
    script: Script,
    control: Arc<Control>,
    state: BodyState,
}

enum BodyState {
    Playing,
    Waiting(Wait),
    /// RST_STREAM once what was sent is written.
    Resetting(Wait, u32),
    /// The same for the whole connection.
    Disconnecting(Wait),
    Ended,
}

type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

impl ScriptBody {
    /// Plays `first`, then the rest of the script.
    pub(super) const fn new(first: Step, script: Script, control: Arc<Control>) -> Self {
        Self {
            first: Some(first),
            script,
            control,
            state: BodyState::Playing,
        }
    }

    fn flushed(&self) -> Wait {
        Box::pin(Arc::clone(&self.control).flushed())
    }
}

impl http_body::Body for ScriptBody {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        loop {
            match &mut self.state {
                BodyState::Playing => {}
                BodyState::Waiting(wait) => {
                    ready!(wait.as_mut().poll(cx));
                    self.state = BodyState::Playing;
                }
                BodyState::Resetting(wait, code) => {
                    let code = *code;
                    ready!(wait.as_mut().poll(cx));
                    self.state = BodyState::Ended;
                    return Poll::Ready(Some(Err(h2::Reason::from(code).into())));
                }
                BodyState::Disconnecting(wait) => {
                    ready!(wait.as_mut().poll(cx));
                    self.control.send(Command::Disconnect);
                    self.state = BodyState::Waiting(Box::pin(pending()));
                    continue;
                }
                BodyState::Ended => return Poll::Ready(None),
            }
            let step = self.first.take().unwrap_or_else(|| self.script.next());
            let data = match step.encoded() {
                Step::Unframed(bytes) => bytes,
                Step::Delay(time) => {
                    self.state = BodyState::Waiting(Box::pin(tokio::time::sleep(time)));
                    continue;
                }
                Step::Wait(gate) => {
                    self.state = BodyState::Waiting(Box::pin(gate.pass()));
                    continue;
                }
                Step::Fail(failure) => {
                    self.state = BodyState::Ended;
                    return Poll::Ready(Some(Ok(Frame::trailers(failure.trailers()))));
                }
                Step::End => {
                    self.state = BodyState::Ended;
                    return Poll::Ready(Some(Ok(Frame::trailers(ok_trailers()))));
                }
                Step::EndWithoutStatus => {
                    self.state = BodyState::Ended;
                    return Poll::Ready(None);
                }
                Step::Reset(code) => {
                    self.state = BodyState::Resetting(self.flushed(), code);
                    continue;
                }
                Step::GoAway => {
                    self.control.send(Command::GoAway);
                    continue;
                }
                Step::Disconnect | Step::LoseAnswer => {
                    self.state = BodyState::Disconnecting(self.flushed());
                    continue;
                }
                // Messages are encoded by now.
                Step::Hang | Step::Message(_) | Step::Raw(_) => {
                    self.state = BodyState::Waiting(Box::pin(pending()));
                    continue;
                }
            };
            self.control.queue(data.len());
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
    }
}
