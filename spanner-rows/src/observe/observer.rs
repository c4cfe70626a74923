//! Follows one request from its start to its end.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::Instant;

use super::meter::Meter;
use super::operation::{Operation, Outcome, cause};
use super::start::Start;
use super::trace::{Scope, Trace};
use crate::error::{Error, Status};

/// Held by whoever carries a request out: a stream, or the future of a call. The request has
/// ended when it says so, or else was dropped.
#[derive(Debug)]
pub(crate) struct Observer {
    operation: Operation,
    started: Instant,
    trace: Trace,
    meter: Meter,
    totals: Totals,
    over: bool,
}

/// What a request has come to so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) messages: u64,
    pub(super) held: usize,
    pub(super) attempts: u32,
    pub(super) resumes: u32,
}

impl Observer {
    pub(crate) fn start(start: &Start<'_>) -> Self {
        Self {
            operation: start.operation,
            started: start.started.unwrap_or_else(Instant::now),
            trace: Trace::start(start),
            meter: Meter::start(start.operation),
            totals: Totals::default(),
            over: false,
        }
    }

    /// For requests that are a part of this one.
    pub(crate) fn scope(&self) -> Scope {
        self.trace.scope()
    }

    /// Does something as a part of the request that does not wait.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.trace.within(work)
    }

    /// The id that all attempts have in common.
    pub(crate) fn request_id(&self, id: &dyn Display) {
        self.trace.request_id(id);
    }

    /// The request is sent, for the time of this number; `resumed` behind a resume token.
    pub(crate) fn attempt(&mut self, number: u32, resumed: bool) {
        self.totals.attempts = number;
        self.trace.attempt(number, resumed);
    }

    /// A message of this length has come.
    pub(crate) fn message(&mut self, bytes: usize) {
        self.totals.messages += 1;
        self.totals.bytes += bytes as u64;
        self.meter.message(bytes as u64);
    }

    /// So many rows were released since the start, and so many bytes are held back.
    pub(crate) fn progress(&mut self, rows: u64, held: usize) {
        let before = self.totals;
        if rows != before.rows {
            if before.rows == 0 {
                let elapsed = self.started.elapsed();
                self.trace.first_row(elapsed);
                self.meter.first_row(self.operation, elapsed);
            }
            self.totals.rows = rows;
            self.meter.rows(rows - before.rows);
        }
        if held != before.held {
            self.totals.held = held;
            self.meter.held(before.held, held);
        }
    }

    /// The attempt of this number failed, and another one follows after `wait`.
    pub(crate) fn again(&mut self, number: u32, status: &Status, wait: Duration, resumed: bool) {
        let cause = cause(status);
        self.totals.resumes += u32::from(resumed);
        self.trace.again(number, status, cause, wait, resumed);
        self.meter.again(cause, resumed);
    }

    /// All of the answer has come.
    pub(crate) fn ended(&mut self) {
        if !self.over {
            self.finish(Outcome::End);
        }
    }

    /// Nothing follows this error.
    pub(crate) fn failed(&mut self, error: &Error) {
        if !self.over {
            self.trace.failed(error);
            self.finish(Outcome::Error);
        }
    }

    /// Nothing follows this status.
    pub(crate) fn failed_with(&mut self, status: &Status) {
        if !self.over {
            self.failed(&Error::status(status.clone(), self.totals.attempts.max(1)));
        }
    }

    /// The closure of a transaction gave it up.
    pub(crate) fn rolled_back(&mut self) {
        if !self.over {
            self.finish(Outcome::RolledBack);
        }
    }

    fn finish(&mut self, outcome: Outcome) {
        self.over = true;
        let elapsed = self.started.elapsed();
        self.trace
            .finish(self.operation, outcome, &self.totals, elapsed);
        self.meter.finish(self.operation, outcome, elapsed);
        self.meter.held(self.totals.held, 0);
        self.totals.held = 0;
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if !self.over {
            self.finish(Outcome::Dropped);
        }
    }
}
