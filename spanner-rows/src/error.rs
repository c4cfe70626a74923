//! The error of this crate: one word wide, with everything known behind it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::error_details::ErrorDetails;
use crate::result::retry::retryable;
use crate::row::binder::BindError;
use crate::row::error::DecodeError;
use crate::wire::WireError;

/// Anything that can go wrong while reading.
///
/// One word wide. [`kind`](Self::kind) tells what happened, [`code`](Self::code)
/// how gRPC calls it. An error of one row ([`is_row_error`](Self::is_row_error))
/// leaves the stream usable; after any other error a stream stays ended.
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server, or the way to it, answered with a status other than OK.
    Status {
        /// The last status.
        status: Status,
        /// How many attempts were made, the first one included.
        attempts: u32,
    },
    /// The row does not fit the result; nothing was read.
    Bind(BindError),
    /// One value of one row cannot be read; the next row can.
    Row(DecodeError),
    /// A message is not what the protocol buffer format allows.
    Wire(WireError),
    /// A message is well formed but breaks the rules of a result stream.
    Protocol(String),
    /// A row was asked for and the result has none.
    NoRow,
    /// One row was asked for and the result has more.
    ManyRows,
    /// The request or the client's settings cannot be used.
    Config(String),
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }

    #[cold]
    pub(crate) fn protocol(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Protocol(text.into()))
    }

    #[cfg(feature = "client")]
    #[cold]
    pub(crate) fn config(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config(text.into()))
    }

    #[cold]
    pub(crate) fn status(status: Status, attempts: u32) -> Self {
        Self::new(ErrorKind::Status { status, attempts })
    }

    /// What went wrong, in detail.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The gRPC status code: the server's own, or the one that fits.
    #[must_use]
    pub fn code(&self) -> Code {
        match &*self.0 {
            ErrorKind::Status { status, .. } => status.code(),
            ErrorKind::Row(_) | ErrorKind::Wire(_) | ErrorKind::Protocol(_) => Code::Internal,
            ErrorKind::Bind(_) | ErrorKind::ManyRows => Code::FailedPrecondition,
            ErrorKind::NoRow => Code::NotFound,
            ErrorKind::Config(_) => Code::InvalidArgument,
        }
    }

    /// Whether only one row is affected, so that the stream goes on with the next.
    #[must_use]
    pub fn is_row_error(&self) -> bool {
        matches!(&*self.0, ErrorKind::Row(_))
    }

    /// Whether the same request may succeed when it is made anew: the server was not
    /// to be reached or overloaded, the connection broke, the transaction was aborted.
    ///
    /// The client has then tried already as its [`RetrySettings`](crate::RetrySettings)
    /// allow. Of a write that failed in this way nobody knows whether it was done.
    ///
    /// ```
    /// use spanner_rows::{Code, Error, Status};
    ///
    /// let error = Error::from(Status::new(Code::Unavailable, "connection refused"));
    /// assert!(error.is_retryable());
    /// let error = Error::from(Status::new(Code::NotFound, "Table not found: Singers"));
    /// assert!(!error.is_retryable());
    /// ```
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.grpc_status()
            .is_some_and(|status| status.code() == Code::Aborted || retryable(status))
    }

    /// The gRPC status, when that is what went wrong: with its message, its details and
    /// the status of the attempt before.
    #[must_use]
    pub fn grpc_status(&self) -> Option<&Status> {
        match &*self.0 {
            ErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// How long the server asks to wait before the next attempt
    /// (`google.rpc.RetryInfo.retry_delay` in the details of the status).
    #[must_use]
    pub fn retry_delay(&self) -> Option<Duration> {
        self.grpc_status()?.retry_delay()
    }

    /// What the server says of the failure beside its code and its words, read anew with each
    /// call; nothing for errors that are no status.
    ///
    /// Of a violated constraint (ALREADY_EXISTS for keys and unique indexes, and
    /// FAILED_PRECONDITION or OUT_OF_RANGE for others) the name and the values are in the
    /// [message](Status::message) only.
    #[must_use]
    pub fn details(&self) -> ErrorDetails {
        self.grpc_status()
            .map(Status::error_details)
            .unwrap_or_default()
    }

    /// The id under which Google finds the request, of its last attempt
    /// (`x-goog-spanner-request-id`).
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.grpc_status()?.request_id()
    }

    /// The position of the column whose value cannot be read, counted from zero; `None`
    /// for other errors, and for a row that does not fit, whose columns are all in the text.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match &*self.0 {
            ErrorKind::Row(error) => error.column(),
            _ => None,
        }
    }
}

/// One attempt that ended with this status.
impl From<Status> for Error {
    #[cold]
    fn from(status: Status) -> Self {
        Self::status(status, 1)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorKind::Status { status, attempts } if *attempts > 1 => {
                write!(f, "{status} (after {attempts} attempts)")
            }
            ErrorKind::Status { status, .. } => fmt::Display::fmt(status, f),
            ErrorKind::Bind(error) => fmt::Display::fmt(error, f),
            ErrorKind::Row(error) => fmt::Display::fmt(error, f),
            ErrorKind::Wire(error) => fmt::Display::fmt(error, f),
            ErrorKind::Protocol(text) => write!(f, "the result stream broke the protocol: {text}"),
            ErrorKind::NoRow => f.write_str("one row was asked for, the result has none"),
            ErrorKind::ManyRows => f.write_str("one row was asked for, the result has more"),
            ErrorKind::Config(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Status { status, .. } => Some(status),
            ErrorKind::Bind(error) => Some(error),
            ErrorKind::Row(error) => Some(error),
            ErrorKind::Wire(error) => Some(error),
            _ => None,
        }
    }
}

macro_rules! from {
    ($($variant:ident: $source:ty),+) => {
        $(impl From<$source> for Error {
            #[cold]
            fn from(error: $source) -> Self {
                Self::new(ErrorKind::$variant(error))
            }
        })+
    };
}

from!(Bind: BindError, Row: DecodeError, Wire: WireError);

/// A gRPC status other than OK, without the types of any gRPC library.
///
/// One word wide, as [`Error`] is.
#[derive(Clone)]
pub struct Status(Box<Parts>);

#[derive(Clone)]
struct Parts {
    code: Code,
    session_not_found: bool,
    message: String,
    retry_delay: Option<Duration>,
    details: Bytes,
    request_id: Option<Arc<str>>,
    transport: Option<Arc<dyn std::error::Error + Send + Sync>>,
    cause: Option<Arc<Status>>,
}

impl Status {
    /// A status as a transport of your own received it.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            session_not_found: false,
            message: message.into(),
            retry_delay: None,
            details: Bytes::new(),
            request_id: None,
            transport: None,
            cause: None,
        }))
    }

    /// The delay that the server asks for (`google.rpc.RetryInfo.retry_delay`).
    #[must_use]
    pub fn with_retry_delay(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_delay = delay;
        self
    }

    /// The serialised `google.rpc.Status` that came with the status.
    #[must_use]
    pub fn with_details(mut self, details: Bytes) -> Self {
        self.0.details = details;
        self
    }

    /// The id of the request that ended with the status.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// The failure of the connection behind the status: it did not come from the server.
    #[must_use]
    pub fn with_transport(mut self, source: Arc<dyn std::error::Error + Send + Sync>) -> Self {
        self.0.transport = Some(source);
        self
    }

    /// The details say that the session is not known
    /// (`google.rpc.ResourceInfo.resource_type`).
    #[cfg(feature = "client")]
    pub(crate) fn with_session_not_found(mut self, yes: bool) -> Self {
        self.0.session_not_found = yes;
        self
    }

    /// The failure before this one, which led to it.
    pub(crate) fn with_cause(mut self, cause: Option<Self>) -> Self {
        self.0.cause = cause.map(Arc::new);
        self
    }

    /// What the server's words mean here, before them.
    #[cfg(feature = "client")]
    pub(crate) fn explained(mut self, meaning: &str) -> Self {
        self.0.message = format!("{meaning}: {}", self.0.message);
        self
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// The server's words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The delay before a retry that the server asks for.
    #[must_use]
    pub const fn retry_delay(&self) -> Option<Duration> {
        self.0.retry_delay
    }

    /// What the server says of the failure beside its code and its words, read anew with each
    /// call. It may differ from [`retry_delay`](Self::retry_delay) where a transport of your
    /// own set that.
    #[must_use]
    pub fn error_details(&self) -> ErrorDetails {
        ErrorDetails::read(&self.0.details)
    }

    /// The serialised `google.rpc.Status` with the details, or nothing. Details that came in
    /// trailers of their own are in it.
    #[must_use]
    pub const fn details(&self) -> &Bytes {
        &self.0.details
    }

    /// The id of the request (header `x-goog-spanner-request-id`), by which the
    /// service's support finds it; its last number is the attempt.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Whether the connection failed, not the request.
    #[must_use]
    pub const fn is_transport(&self) -> bool {
        self.0.transport.is_some()
    }

    /// Whether the server does not know the session of the request (any more).
    ///
    /// A client then makes another session; a read that has not begun is sent
    /// again on it, so this is seen only in the middle of a result, and in a
    /// transaction, which is lost with its session.
    #[must_use]
    pub fn is_session_not_found(&self) -> bool {
        // The text is promised by the service, the details are not always there.
        self.0.code == Code::NotFound
            && (self.0.session_not_found || self.0.message.contains("Session not found"))
    }

    /// Whether the server does not know the transaction of the request (any more), though it
    /// knows its session.
    ///
    /// Google's emulator says so when another transaction began in the same session (see
    /// `client/own_session.rs`), or when it has cleared the transaction away. The service
    /// says ABORTED instead.
    #[cfg(feature = "client")]
    pub(crate) fn is_transaction_not_found(&self) -> bool {
        let message = &self.0.message;
        match self.0.code {
            Code::NotFound => message.contains("Transaction not found"),
            Code::FailedPrecondition => message.contains("Invalid transaction ID"),
            _ => false,
        }
    }

    /// What had failed before a time limit of this side ended the request: the
    /// status of the last attempt.
    #[must_use]
    pub fn cause(&self) -> Option<&Self> {
        self.0.cause.as_deref()
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Status")
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("retry_delay", &self.0.retry_delay)
            .field("request_id", &self.0.request_id)
            .field("transport", &self.0.transport)
            .field("cause", &self.0.cause)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.code)?;
        if !self.0.message.is_empty() {
            write!(f, ": {}", self.0.message)?;
        }
        match &self.0.cause {
            Some(cause) => write!(f, "; the attempt before ended with {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Status {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.transport {
            Some(source) => Some(&**source),
            None => self.0.cause.as_deref().map(|cause| cause as _),
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $text:literal,)+) => {
        /// The gRPC status codes (`google.rpc.Code`) other than OK.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant = $number,)+
        }

        impl Code {
            /// The code of this number; numbers that gRPC does not know are `Unknown`.
            #[must_use]
            pub const fn from_number(number: i32) -> Self {
                match number {
                    $($number => Self::$variant,)+
                    _ => Self::Unknown,
                }
            }

            /// The number of the code.
            #[must_use]
            pub const fn number(self) -> i32 {
                self as i32
            }
        }

        impl fmt::Display for Code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }
    };
}

codes! {
    /// The caller cancelled.
    Cancelled = 1 "CANCELLED",
    /// An error without a known code.
    Unknown = 2 "UNKNOWN",
    /// The request is wrong whatever the state of the database.
    InvalidArgument = 3 "INVALID_ARGUMENT",
    /// The time ran out.
    DeadlineExceeded = 4 "DEADLINE_EXCEEDED",
    /// Something that the request names does not exist.
    NotFound = 5 "NOT_FOUND",
    /// Something that the request creates exists.
    AlreadyExists = 6 "ALREADY_EXISTS",
    /// The caller may not do this.
    PermissionDenied = 7 "PERMISSION_DENIED",
    /// A quota is used up.
    ResourceExhausted = 8 "RESOURCE_EXHAUSTED",
    /// The database is not in a state for this request.
    FailedPrecondition = 9 "FAILED_PRECONDITION",
    /// The transaction was aborted; it may be run again as a whole.
    Aborted = 10 "ABORTED",
    /// A value is out of range.
    OutOfRange = 11 "OUT_OF_RANGE",
    /// The server does not have this call.
    Unimplemented = 12 "UNIMPLEMENTED",
    /// A rule that both sides rely on is broken.
    Internal = 13 "INTERNAL",
    /// The server cannot be reached for now.
    Unavailable = 14 "UNAVAILABLE",
    /// Data is lost.
    DataLoss = 15 "DATA_LOSS",
    /// The caller is not known.
    Unauthenticated = 16 "UNAUTHENTICATED",
}
