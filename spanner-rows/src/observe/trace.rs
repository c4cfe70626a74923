//! The span of one request, and the events in it.
//!
//! The span is never entered: a request waits most of its time, and other work of the same
//! thread is not a part of it. Events name it as their parent.

use std::fmt::Display;
use std::time::Duration;

use tracing::field::{Empty, display};
use tracing::{Level, Span};

use super::observer::Totals;
use super::operation::{Operation, Outcome, for_each_operation};
use super::start::Start;
use crate::error::{Code, Error, ErrorKind, Status};
use crate::result::retry::retryable;

/// For requests that are shown as parts of another one.
#[derive(Clone, Debug)]
pub(crate) struct Scope(Option<Span>);

impl Scope {
    /// Of no other one.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    fn id(&self) -> Option<tracing::Id> {
        self.0.as_ref().and_then(Span::id)
    }
}

#[derive(Debug)]
pub(super) struct Trace {
    span: Span,
    /// Whether texts of the program and of the server may be told.
    texts: bool,
}

/// An empty text is none.
fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

macro_rules! span_of {
    ($variant:ident, $name:literal, ($start:ident, $texts:ident)) => {
        match $start.scope.and_then(Scope::id) {
            Some(parent) => span_of!($variant, $name, $start, $texts, parent: parent,),
            // That of the program, if it has entered one.
            None => span_of!($variant, $name, $start, $texts,),
        }
    };
    ($variant:ident, $name:literal, $start:ident, $texts:ident, $($parent:tt)*) => {
        tracing::span!(
            target: "spanner_rows",
            $($parent)*
            Level::INFO,
            $name,
            otel.kind = "client",
            otel.status_code = Empty,
            db.system.name = "gcp.spanner",
            db.namespace = $start.database,
            db.operation.name = Operation::$variant.name(),
            db.collection.name = given($start.table),
            db.query.text = given($start.sql).filter(|_| $texts),
            db.response.status_code = Empty,
            db.response.returned_rows = Empty,
            error.type = Empty,
            rpc.method = Operation::$variant.rpc(),
            spanner.request_id = Empty,
            spanner.request_tag = given($start.request_tag),
            spanner.transaction_tag = given($start.transaction_tag),
            spanner.attempts = Empty,
            spanner.resumes = Empty,
            spanner.messages = Empty,
            spanner.bytes = Empty,
            spanner.outcome = Empty,
        )
    };
}

macro_rules! event {
    ($level:ident, $trace:expr, $($rest:tt)+) => {
        tracing::event!(
            target: "spanner_rows",
            parent: &$trace.span,
            Level::$level,
            $($rest)+
        )
    };
}

impl Trace {
    pub(super) fn start(start: &Start<'_>) -> Self {
        let texts = start.settings.texts;
        let span = for_each_operation!(span_of!(start.operation, (start, texts)));
        Self { span, texts }
    }

    pub(super) fn scope(&self) -> Scope {
        Scope(Some(self.span.clone()))
    }

    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    pub(super) fn request_id(&self, id: &dyn Display) {
        self.span.record("spanner.request_id", display(id));
    }

    pub(super) fn attempt(&self, number: u32, resumed: bool) {
        event!(DEBUG, self, attempt = number, resumed, "request sent");
    }

    pub(super) fn first_row(&self, after: Duration) {
        event!(TRACE, self, seconds = after.as_secs_f64(), "first row");
    }

    pub(super) fn again(
        &self,
        number: u32,
        status: &Status,
        cause: &'static str,
        wait: Duration,
        resumed: bool,
    ) {
        event!(
            DEBUG,
            self,
            attempt = number,
            code = %status.code(),
            cause,
            delay_seconds = wait.as_secs_f64(),
            resumed,
            server_message = self.message_of(status),
            "attempt failed, another one follows"
        );
    }

    pub(super) fn failed(&self, error: &Error) {
        let code = error.code();
        let status = error.grpc_status();
        self.span.record("otel.status_code", "ERROR");
        self.span.record("db.response.status_code", display(code));
        self.span.record("error.type", kind(error));
        let server_message = status.and_then(|status| self.message_of(status));
        macro_rules! given_up {
            ($level:ident) => {
                event!(
                    $level,
                    self,
                    code = %code,
                    error.type = kind(error),
                    request_id = error.request_id(),
                    server_message,
                    "request failed"
                )
            };
        }
        match level(error) {
            Level::ERROR => given_up!(ERROR),
            Level::WARN => given_up!(WARN),
            _ => given_up!(DEBUG),
        }
    }

    pub(super) fn finish(
        &self,
        operation: Operation,
        outcome: Outcome,
        totals: &Totals,
        elapsed: Duration,
    ) {
        let span = &self.span;
        if totals.attempts > 0 {
            span.record("spanner.attempts", totals.attempts);
        }
        if operation.has_rows() {
            span.record("db.response.returned_rows", totals.rows);
            span.record("spanner.messages", totals.messages);
            span.record("spanner.bytes", totals.bytes);
            span.record("spanner.resumes", totals.resumes);
        }
        span.record("spanner.outcome", outcome.name());
        event!(
            DEBUG,
            self,
            outcome = outcome.name(),
            rows = operation.has_rows().then_some(totals.rows),
            seconds = elapsed.as_secs_f64(),
            "request over"
        );
    }

    /// The words of the server, which may hold keys and values.
    fn message_of<'a>(&self, status: &'a Status) -> Option<&'a str> {
        self.texts.then(|| status.message())
    }
}

/// What went wrong, in one word.
const fn kind_name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Status { .. } => "status",
        ErrorKind::Bind(_) => "bind",
        ErrorKind::Row(_) => "row",
        ErrorKind::Wire(_) => "wire",
        ErrorKind::Protocol(_) => "protocol",
        ErrorKind::NoRow => "no_row",
        ErrorKind::ManyRows => "many_rows",
        ErrorKind::Config(_) => "config",
    }
}

fn kind(error: &Error) -> &'static str {
    kind_name(error.kind())
}

/// How loudly an error is told: what is made good elsewhere softly, what the server or the
/// way to it has to answer for more loudly than what the program asked for.
fn level(error: &Error) -> Level {
    match error.kind() {
        ErrorKind::Wire(_) | ErrorKind::Protocol(_) => Level::ERROR,
        ErrorKind::Status { status, .. } => match status.code() {
            // The transaction is run again, and the runner says if not.
            Code::Aborted | Code::Cancelled => Level::DEBUG,
            Code::Internal | Code::DataLoss | Code::Unknown if !retryable(status) => Level::ERROR,
            _ => Level::WARN,
        },
        _ => Level::WARN,
    }
}

/// The server does not know the session of the client any more.
pub(crate) fn session_lost() {
    tracing::event!(target: "spanner_rows", Level::INFO, "session lost, another one is made");
}

/// The client has a new session.
pub(crate) fn session_made() {
    tracing::event!(target: "spanner_rows", Level::DEBUG, "session made");
}
