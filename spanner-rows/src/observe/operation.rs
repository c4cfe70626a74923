//! The kinds of requests, and how they can end.

#[cfg(any(feature = "metrics", feature = "tracing"))]
use crate::error::{Code, Status};
use crate::transport::Method;

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $span:literal;)+) => {
        /// What a program asks for; some of them take several calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($(#[$doc])* $variant,)+
        }

        #[cfg(any(feature = "metrics", feature = "tracing"))]
        impl Operation {
            /// The label `operation` of counters, and `db.operation.name` of spans.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        /// Calls a macro with each operation and the name of its span.
        #[allow(unused_macros, reason = "there is one user for each of the features")]
        macro_rules! for_each_operation {
            ($then:ident!($operation:expr, $arguments:tt)) => {
                match $operation {
                    $(Operation::$variant => $then!($variant, $span, $arguments),)+
                }
            };
        }
        #[allow(unused_imports, reason = "there is one user for each of the features")]
        pub(super) use for_each_operation;
    };
}

operations! {
    /// A query, or a DML statement in a transaction.
    Query = "query", "spanner.query";
    Read = "read", "spanner.read";
    PartitionQuery = "partition_query", "spanner.partition_query";
    PartitionRead = "partition_read", "spanner.partition_read";
    /// The rows of one partition.
    ReadPartition = "read_partition", "spanner.read_partition";
    BatchDml = "batch_dml", "spanner.batch_dml";
    Begin = "begin", "spanner.begin";
    Commit = "commit", "spanner.commit";
    Rollback = "rollback", "spanner.rollback";
    /// Mutations without a transaction: its calls are spans of their own in it.
    Write = "write", "spanner.write";
    BatchWrite = "batch_write", "spanner.batch_write";
    PartitionedDml = "partitioned_dml", "spanner.partitioned_dml";
    /// A read-write transaction with all its runs.
    Transaction = "transaction", "spanner.transaction";
    CreateSession = "create_session", "spanner.create_session";
}

impl Operation {
    /// That of a call whose answer is one message, or of a statement.
    pub(crate) const fn of(method: Method) -> Self {
        match method {
            Method::BatchWrite => Self::BatchWrite,
            Method::BeginTransaction => Self::Begin,
            Method::Commit => Self::Commit,
            Method::CreateSession | Method::GetSession => Self::CreateSession,
            Method::ExecuteBatchDml => Self::BatchDml,
            Method::ExecuteStreamingSql => Self::Query,
            Method::Rollback => Self::Rollback,
            Method::PartitionQuery => Self::PartitionQuery,
            Method::PartitionRead => Self::PartitionRead,
            Method::StreamingRead => Self::Read,
        }
    }

    /// Whether rows may come.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(super) const fn has_rows(self) -> bool {
        matches!(self, Self::Query | Self::Read | Self::ReadPartition)
    }

    /// The call by which it is done, where that is always the same one.
    #[cfg(feature = "tracing")]
    pub(super) const fn rpc(self) -> Option<&'static str> {
        Some(match self {
            Self::Query => "ExecuteStreamingSql",
            Self::Read => "StreamingRead",
            Self::PartitionQuery => "PartitionQuery",
            Self::PartitionRead => "PartitionRead",
            Self::BatchDml => "ExecuteBatchDml",
            Self::Begin => "BeginTransaction",
            Self::Commit => "Commit",
            Self::Rollback => "Rollback",
            Self::BatchWrite => "BatchWrite",
            Self::CreateSession => "CreateSession",
            Self::ReadPartition | Self::Write | Self::PartitionedDml | Self::Transaction => {
                return None;
            }
        })
    }
}

/// How a request ended.
#[cfg(any(feature = "metrics", feature = "tracing"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of the answer has come.
    End,
    Error,
    /// The program dropped the stream or the future before.
    Dropped,
    /// The closure of a transaction gave it up.
    RolledBack,
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Outcome {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Error => "error",
            Self::Dropped => "dropped",
            Self::RolledBack => "rolled_back",
        }
    }
}

/// Why a request is sent again, in few words: the label `cause`.
#[cfg(any(feature = "metrics", feature = "tracing"))]
pub(super) fn cause(status: &Status) -> &'static str {
    match status.code() {
        _ if status.is_session_not_found() => "session_lost",
        Code::Aborted => "aborted",
        // Also where the connection's own failure is told with another code.
        _ if status.is_transport() => "connection",
        Code::Unavailable => "unavailable",
        Code::ResourceExhausted => "resource_exhausted",
        Code::DeadlineExceeded => "deadline_exceeded",
        // RST_STREAM and the like, in the server's words.
        Code::Internal | Code::Unknown => "connection",
        _ => "other",
    }
}
