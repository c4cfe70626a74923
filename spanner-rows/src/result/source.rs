//! Drives the call behind a result stream: opens it, takes its messages, waits
//! and opens it again. All state lives here, none in a future, so dropping a
//! future that polls it loses nothing.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::reader::ResultReader;
use super::resumer::Retry;
use super::retry::{RetrySettings, too_late};
use super::rows::RowReader;
use crate::error::{Code, Error, Status};
use crate::observe::Observer;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Messages, Opener};

/// How long the trailers of a finished answer are waited for in the background.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// The time for a request is sent in whole milliseconds, so the other side may see its
/// end before this one.
pub(crate) const CLOCK_STEP: Duration = Duration::from_millis(2);

/// The call behind one result stream, over all its attempts.
pub(crate) struct Source {
    opener: Box<dyn Opener>,
    state: State,
    /// When the request was made; errors are timed from here.
    started: Instant,
    /// Wakes the stream when the time for the whole request is over.
    deadline: Option<Pin<Box<Sleep>>>,
    /// The failure that the current attempt is to make good.
    last_failure: Option<Status>,
    /// The request has changed to another session, which is done once.
    changed_session: bool,
    /// Since when the stream waits for anything to come; time in which nobody
    /// asked for a row does not count.
    waiting_since: Option<Instant>,
    /// How many blocks of the answer had come when it was last waited for.
    blocks: u64,
    /// Wakes the stream when nothing has come for long. Made once; set anew only
    /// when it fires, not for every message.
    idle: Option<Pin<Box<Sleep>>>,
    random: RandomState,
    observer: Observer,
}

enum State {
    /// Waiting for the answer to begin.
    Opening(BoxFuture<'static, Result<Box<dyn Messages>, Status>>),
    /// Messages may come.
    Open(Box<dyn Messages>),
    /// Waiting before the next attempt.
    BackingOff(Pin<Box<Sleep>>, Retry),
    /// Nothing more will come.
    Ended,
}

impl Source {
    /// Sends the request for the first time. `started` is when it was made, the
    /// moment from which `settings` count the time for all of it.
    pub(crate) fn new(
        mut opener: Box<dyn Opener>,
        settings: &RetrySettings,
        started: Instant,
        mut observer: Observer,
    ) -> Self {
        observer.attempt(1, false);
        let call = opener.open(&[], 1);
        let deadline = settings
            .total()
            .and_then(|timeout| started.checked_add(timeout));
        Self {
            opener,
            state: State::Opening(call),
            started,
            deadline: deadline.map(|at| Box::pin(sleep_until(at))),
            last_failure: None,
            changed_session: false,
            waiting_since: None,
            blocks: 0,
            idle: None,
            random: RandomState::new(),
            observer,
        }
    }

    /// Cancels the call; nothing more is wanted of it.
    pub(crate) fn close(&mut self) {
        self.state = State::Ended;
    }

    /// Tells the observer how the request ended, if it has.
    pub(crate) fn observe_end(&mut self, reader: &ResultReader) {
        if reader.is_finished() {
            match reader.stopped_by() {
                Some(error) => self.observer.failed(error),
                None => self.observer.ended(),
            }
        }
    }

    /// Tells the observer of an error behind which nothing follows.
    pub(crate) fn observe_error(&mut self, error: &Error) {
        self.observer.failed(error);
    }

    /// Takes messages in until `done` says that it has what it wants
    /// (`Ok(true)`), or nothing more comes (`Ok(false)`).
    ///
    /// `done` is asked before anything is awaited and after every step. Its
    /// error is the stream's; whether that ends the result is in `rows`.
    pub(crate) fn poll_until<T: SpannerRow>(
        &mut self,
        cx: &mut Context<'_>,
        rows: &mut RowReader<T>,
        mut done: impl FnMut(&mut RowReader<T>) -> Result<bool, Error>,
    ) -> Poll<Result<bool, Error>> {
        loop {
            let finished = rows.is_finished();
            match done(rows) {
                Ok(false) if finished => return Poll::Ready(Ok(false)),
                Ok(false) => ready!(self.poll_step(cx, rows.reader_mut())),
                done => return Poll::Ready(done),
            }
        }
    }

    /// Goes one step on: an answer opened, a message taken, a wait over.
    fn poll_step(&mut self, cx: &mut Context<'_>, reader: &mut ResultReader) -> Poll<()> {
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            let timeout = reader.settings().total().unwrap_or_default();
            self.give_up(too_late(timeout), reader);
            return Poll::Ready(());
        }
        match &mut self.state {
            State::Opening(call) => match call.as_mut().poll(cx) {
                Poll::Ready(Ok(messages)) => self.state = State::Open(messages),
                Poll::Ready(Err(status)) => self.on_failure(status, reader),
                Poll::Pending => return self.poll_idle(cx, reader),
            },
            State::Open(messages) => match messages.poll_message(cx) {
                Poll::Ready(Some(Ok(message))) => {
                    self.last_failure = None;
                    self.observer.message(message.len());
                    reader.receive(message);
                }
                Poll::Ready(Some(Err(status))) => self.on_failure(status, reader),
                Poll::Ready(None) => reader.end(),
                Poll::Pending => {
                    // A part of a message is a sign of life, too.
                    let blocks = messages.blocks();
                    if std::mem::replace(&mut self.blocks, blocks) != blocks {
                        self.waiting_since = None;
                    }
                    return self.poll_idle(cx, reader);
                }
            },
            State::BackingOff(wait, retry) => {
                ready!(wait.as_mut().poll(cx));
                let call = self.opener.open(&retry.resume_token, retry.attempt);
                let resumed = !retry.resume_token.is_empty();
                self.observer.attempt(retry.attempt, resumed);
                self.state = State::Opening(call);
            }
            State::Ended => {}
        }
        self.waiting_since = None;
        let (rows, held) = (reader.tally().rows(), reader.held_bytes());
        self.observer.progress(rows, held);
        if reader.is_finished() {
            self.finish(reader.saw_last());
        }
        Poll::Ready(())
    }

    fn on_failure(&mut self, status: Status, reader: &mut ResultReader) {
        if let Some(timeout) = reader.settings().total()
            && self.started.elapsed() + CLOCK_STEP >= timeout
            && comes_of_the_end(&status)
        {
            if status.code() != Code::DeadlineExceeded {
                self.last_failure = Some(status);
            }
            self.give_up(too_late(timeout), reader);
            return;
        }
        let attempt = reader.attempt();
        let retry = if status.is_session_not_found()
            && self.opener.change_session()
            && !std::mem::replace(&mut self.changed_session, true)
            && let Some(retry) = reader.start_over()
        {
            Some(retry)
        } else {
            let mut random = self.random.build_hasher();
            random.write_u32(attempt);
            reader.fail(status.clone(), self.started.elapsed(), random.finish())
        };
        if let Some(retry) = &retry {
            let resumes = !retry.resume_token.is_empty();
            self.observer.again(attempt, &status, retry.after, resumes);
        }
        self.last_failure = Some(status);
        self.state = match retry {
            Some(retry) => State::BackingOff(Box::pin(sleep(retry.after)), retry),
            None => State::Ended,
        };
    }

    /// Fails the result with a status that no retry makes good.
    fn give_up(&mut self, status: Status, reader: &mut ResultReader) {
        let status = status.with_cause(self.last_failure.take());
        let retry = reader.fail(status, self.started.elapsed(), 0);
        debug_assert!(retry.is_none(), "the code of a limit is not retryable");
        self.state = State::Ended;
    }

    /// Ends the call. When the server has said that no message follows, the rows
    /// do not wait for the trailers, but the answer is read to its end: dropping
    /// it now would reset the HTTP/2 stream, and many resets close the connection.
    fn finish(&mut self, saw_last: bool) {
        if let State::Open(messages) = std::mem::replace(&mut self.state, State::Ended)
            && saw_last
        {
            drain_in_background(messages);
        }
    }

    /// Fails the result when nothing has come for too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>, reader: &mut ResultReader) -> Poll<()> {
        let limit = reader.settings().idle();
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let Some(deadline) = since.checked_add(limit) else {
            return Poll::Pending;
        };
        let idle = self
            .idle
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        while Instant::now() < deadline {
            ready!(idle.as_mut().poll(cx));
            idle.as_mut().reset(deadline);
        }
        let text = format!("no message came for {limit:?}, the idle limit of the stream");
        self.give_up(Status::new(Code::DeadlineExceeded, text), reader);
        Poll::Ready(())
    }
}

/// Whether a failure at the end of the time of a request is what that end looks like: a server
/// may say so, or just end the call.
pub(crate) fn comes_of_the_end(status: &Status) -> bool {
    let codes = [Code::DeadlineExceeded, Code::Cancelled, Code::Unavailable];
    codes.contains(&status.code()) || status.is_transport()
}

/// Reads an answer to its end, of which nothing more is wanted.
pub(crate) fn drain_in_background(messages: Box<dyn Messages>) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(drain(messages));
    }
}

async fn drain(mut messages: Box<dyn Messages>) {
    let to_the_end = std::future::poll_fn(|cx| {
        while let Some(Ok(_)) = ready!(messages.poll_message(cx)) {}
        Poll::Ready(())
    });
    let _ = tokio::time::timeout(DRAIN_LIMIT, to_the_end).await;
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = match self.state {
            State::Opening(_) => "opening",
            State::Open(_) => "open",
            State::BackingOff(..) => "backing off",
            State::Ended => "ended",
        };
        f.debug_struct("Source")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
