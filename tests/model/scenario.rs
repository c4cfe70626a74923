//! A case as a plain value: what the server has, how its answers break, and how
//! the reader goes about it.

use std::time::Duration;

use spanner_rows::testing::{Failure, Step};
use spanner_rows::{Code, Field, OwnedValue, RetrySettings, RowType, Type, TypeCode};

/// The columns of every result.
pub(crate) const COLUMNS: [&str; 7] = ["n", "text", "flag", "x", "data", "list", "pairs"];

/// One client and the streams that are read on it at the same time.
#[derive(Clone, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) limits: Limits,
    /// How long the server waits before it answers each call, in milliseconds;
    /// then not at all.
    pub(crate) delays: Vec<u64>,
    pub(crate) streams: Vec<Plan>,
}

/// Where the client's settings are not the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) hold_messages: Option<usize>,
    pub(crate) hold_bytes: Option<usize>,
    pub(crate) max_attempts: Option<u32>,
}

impl Limits {
    pub(crate) fn settings(&self) -> RetrySettings {
        let mut settings = RetrySettings::new().initial_delay(Duration::ZERO);
        if let Some(messages) = self.hold_messages {
            settings = settings.hold_messages(messages);
        }
        if let Some(bytes) = self.hold_bytes {
            settings = settings.hold_bytes(bytes);
        }
        match self.max_attempts {
            Some(attempts) => settings.max_attempts(attempts),
            None => settings,
        }
    }

    /// How much memory a held message counts for is the library's business: limits
    /// in bytes are such that it makes no difference, none at all or very many.
    pub(crate) fn may_hold(&self, bytes: usize, messages: usize) -> bool {
        self.hold_bytes
            .is_none_or(|limit| bytes + messages <= limit)
            && self.hold_messages.is_none_or(|limit| messages <= limit)
    }
}

/// One stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) call: Call,
    pub(crate) row: RowKind,
    /// The messages of the result when nothing breaks. A second version has the
    /// same rows, its columns the other way round, and is cut in its own way: a
    /// statement that is run again from the start may come so.
    pub(crate) versions: Vec<Vec<Part>>,
    /// How each call goes; what comes after them goes to the end.
    pub(crate) attempts: Vec<Attempt>,
    /// How the rows are read; then by `next` to the end.
    pub(crate) reader: Vec<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Query,
    Read,
}

/// Into what rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowKind {
    Borrowed,
    Owned,
    Mixed,
    Dynamic,
}

/// One message of the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) values: Vec<OwnedValue>,
    pub(crate) chunked: bool,
    /// Empty for none.
    pub(crate) token: String,
    pub(crate) stats: bool,
    pub(crate) last: bool,
    /// How long the server waits before it, in milliseconds.
    pub(crate) pause: u64,
}

/// One call of the stream, which breaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    /// After how many messages of this call.
    pub(crate) after: usize,
    /// How many bytes of the next message are sent before the break.
    pub(crate) inside: usize,
    /// Whether headers are sent before a break that comes before everything.
    pub(crate) headers: bool,
    /// Which version a call without a token gets.
    pub(crate) version: usize,
    /// Whether each message comes as two where that can be.
    pub(crate) split: bool,
    pub(crate) metadata: Metadata,
    pub(crate) end: Break,
}

/// What a call that goes on behind a token says about columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metadata {
    Nothing,
    Again,
    /// Columns that are not those of the rows so far.
    Changed,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Break {
    Unavailable,
    /// With a delay for the next attempt, in milliseconds.
    UnavailableDelay(u64),
    Exhausted(u64),
    ExhaustedTrailer(u64),
    /// INTERNAL, with one of the texts that stand for a broken connection.
    Internal(usize),
    Reset(u32),
    NoStatus,
    Disconnect,
    GoAwayDisconnect,
    /// GOAWAY, and the call goes on to its end.
    GoAway,
    /// A status that no repetition makes better.
    Fatal(Code),
    /// OK, though the result is not at its end.
    Ok,
}

/// What servers and proxies say of a broken connection.
pub(crate) const TEXTS: [&str; 6] = [
    "stream terminated by RST_STREAM",
    "Received Rst Stream",
    "Received unexpected EOS on DATA frame from server",
    "HTTP/2 error code: INTERNAL_ERROR",
    "Connection closed with unknown cause",
    "Authentication backend internal server error",
];

impl Break {
    /// What the server does.
    pub(crate) fn steps(self) -> Vec<Step> {
        let ms = Duration::from_millis;
        let unavailable = || Failure::unavailable("later");
        let exhausted = || Failure::resource_exhausted("busy");
        match self {
            Self::Unavailable => vec![Step::Fail(unavailable())],
            Self::UnavailableDelay(n) => vec![Step::Fail(unavailable().retry_after(ms(n)))],
            Self::Exhausted(n) => vec![Step::Fail(exhausted().retry_after(ms(n)))],
            Self::ExhaustedTrailer(n) => vec![Step::Fail(exhausted().retry_after_trailer(ms(n)))],
            Self::Internal(text) => vec![Step::Fail(Failure::internal(TEXTS[text % TEXTS.len()]))],
            Self::Reset(code) => vec![Step::Reset(code)],
            Self::NoStatus => vec![Step::EndWithoutStatus],
            Self::Disconnect => vec![Step::Disconnect],
            Self::GoAwayDisconnect => vec![Step::GoAway, Step::Disconnect],
            Self::GoAway => vec![Step::GoAway],
            Self::Fatal(code) => vec![Step::Fail(Failure::new(code, "for good"))],
            Self::Ok => vec![Step::End],
        }
    }

    /// Whether it concerns the whole connection.
    pub(crate) const fn hits_the_connection(self) -> bool {
        matches!(
            self,
            Self::Disconnect | Self::GoAwayDisconnect | Self::GoAway
        )
    }

    /// With which code the stream fails if it is not taken up again, and whether it may be.
    pub(crate) const fn means(self) -> (Code, bool) {
        match self {
            Self::Fatal(code) => (code, false),
            Self::Exhausted(_) | Self::ExhaustedTrailer(_) => (Code::ResourceExhausted, true),
            Self::Internal(_) => (Code::Internal, true),
            _ => (Code::Unavailable, true),
        }
    }
}

/// One thing that the reader does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Action {
    pub(crate) what: What,
    /// So many times.
    pub(crate) times: usize,
    /// Each future is dropped when it is not ready after so many polls.
    pub(crate) polls: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Next,
    Batch,
    ForEach,
    Extend,
    /// `optional`, which takes a row only if it is the last.
    Only,
    /// `try_collect`: to the end.
    Collect,
    /// `into_stream`: to the end.
    Stream,
    /// Does nothing for some milliseconds.
    Pause(u64),
    /// Drops the stream.
    Stop,
}

impl Scenario {
    /// Whether a break of one stream may be one of others, or may cost a call
    /// that the server never sees: then less can be foretold.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.streams
            .iter()
            .flat_map(|plan| &plan.attempts)
            .any(|attempt| attempt.end.hits_the_connection())
    }
}

/// The columns of a version.
pub(crate) fn row_type(version: usize) -> RowType {
    let pair = RowType::new([
        Field::new("k", TypeCode::Int64.into()),
        Field::new("v", TypeCode::String.into()),
    ]);
    let types = [
        TypeCode::Int64.into(),
        TypeCode::String.into(),
        TypeCode::Bool.into(),
        TypeCode::Float64.into(),
        TypeCode::Bytes.into(),
        Type::array(TypeCode::String.into()),
        Type::array(Type::structure(pair)),
    ];
    let mut fields: Vec<_> = COLUMNS
        .into_iter()
        .zip(types)
        .map(|(name, ty)| Field::new(name, ty))
        .collect();
    if version % 2 == 1 {
        fields.reverse();
    }
    RowType::new(fields)
}
