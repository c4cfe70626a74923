//! Options of requests: how important one is, who serves it, how it is run and ordered.

use super::request::{integer_tag, put_integer, tag};
use crate::wire::writer::{put_bytes, with_length};

/// Fields of `google.spanner.v1.DirectedReadOptions`.
const INCLUDE: u8 = tag(1);
const EXCLUDE: u8 = tag(2);
/// Fields of its `IncludeReplicas` and `ExcludeReplicas`.
const SELECTIONS: u8 = tag(1);
const AUTO_FAILOVER_DISABLED: u8 = integer_tag(2);
/// Fields of its `ReplicaSelection`.
const LOCATION: u8 = tag(1);
const TYPE: u8 = 2;

/// How important a request is beside others (`google.spanner.v1.RequestOptions.Priority`).
///
/// The service gives way to more important work of the same instance when there is
/// not enough of it for all. Without one it takes [`High`](Self::High).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// Work that can wait, such as an export.
    Low,
    /// Between the others.
    Medium,
    /// What somebody waits for.
    High,
}

impl Priority {
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Low => 1,
            Self::Medium => 2,
            Self::High => 3,
        }
    }
}

/// What a query is to give: its rows, how it is executed, what that took
/// (`google.spanner.v1.ExecuteSqlRequest.QueryMode`).
///
/// Plan and figures are [`RowStream::stats`](crate::RowStream::stats), which are there at
/// the end of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueryMode {
    /// Rows only.
    #[default]
    Normal,
    /// The plan only: the query is not run. The parameters that it names and that were
    /// not given are
    /// [`ResultMetadata::undeclared_parameters`](crate::ResultMetadata::undeclared_parameters).
    Plan,
    /// Rows, the plan with the figures of each of its nodes, and the figures of the whole
    /// query. It costs the most.
    Profile,
    /// Rows and the figures of the whole query.
    WithStats,
    /// Rows, the plan without figures, and the figures of the whole query.
    WithPlanAndStats,
}

impl QueryMode {
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Normal => 0,
            Self::Plan => 1,
            Self::Profile => 2,
            Self::WithStats => 3,
            Self::WithPlanAndStats => 4,
        }
    }
}

/// In which order the rows of a read come (`google.spanner.v1.ReadRequest.OrderBy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OrderBy {
    /// That of the table's or the index's key.
    #[default]
    PrimaryKey,
    /// Any, which may be faster.
    NoOrder,
}

impl OrderBy {
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::PrimaryKey => 1,
            Self::NoOrder => 2,
        }
    }
}

/// Which locks a read takes in a read-write transaction
/// (`google.spanner.v1.ReadRequest.LockHint`); elsewhere reads take none, and a hint is
/// without effect or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockHint {
    /// Others may read the rows, too: what a read takes without a hint.
    Shared,
    /// Nobody else may read the rows in a read-write transaction: for rows that are
    /// about to be written.
    Exclusive,
}

impl LockHint {
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Shared => 1,
            Self::Exclusive => 2,
        }
    }
}

/// Which replicas may serve a read that is not in a read-write transaction
/// (`google.spanner.v1.DirectedReadOptions`).
///
/// ```
/// use spanner_rows::{DirectedReads, ReplicaType, Replicas};
///
/// let near = DirectedReads::include([
///     Replicas::at("us-east1"),
///     Replicas::at("us-east4").of_type(ReplicaType::ReadOnly),
/// ]);
/// let not_the_leader = DirectedReads::exclude([Replicas::any().of_type(ReplicaType::ReadWrite)]);
/// # let _ = (near, not_the_leader);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectedReads(Directed);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Directed {
    Include {
        replicas: Vec<Replicas>,
        auto_failover_disabled: bool,
    },
    Exclude(Vec<Replicas>),
}

impl DirectedReads {
    /// The first of these replicas that can serve; any other, when none can
    /// (`include_replicas`). The service takes ten at most.
    pub fn include(replicas: impl IntoIterator<Item = Replicas>) -> Self {
        Self(Directed::Include {
            replicas: replicas.into_iter().collect(),
            auto_failover_disabled: false,
        })
    }

    /// Any replicas but these (`exclude_replicas`). The service takes ten at most.
    pub fn exclude(replicas: impl IntoIterator<Item = Replicas>) -> Self {
        Self(Directed::Exclude(replicas.into_iter().collect()))
    }

    /// Fails when none of the included replicas can serve, in place of asking others
    /// (`auto_failover_disabled`). Excluded replicas never serve anyway.
    #[must_use]
    pub fn without_failover(mut self) -> Self {
        if let Directed::Include {
            auto_failover_disabled,
            ..
        } = &mut self.0
        {
            *auto_failover_disabled = true;
        }
        self
    }

    /// Appends the content of the message.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Directed::Include {
                replicas,
                auto_failover_disabled,
            } => {
                out.push(INCLUDE);
                with_length(out, |out| {
                    put_replicas(out, replicas);
                    if *auto_failover_disabled {
                        out.extend_from_slice(&[AUTO_FAILOVER_DISABLED, 1]);
                    }
                });
            }
            Directed::Exclude(replicas) => {
                out.push(EXCLUDE);
                with_length(out, |out| put_replicas(out, replicas));
            }
        }
    }
}

/// Replicas by where and what they are
/// (`google.spanner.v1.DirectedReadOptions.ReplicaSelection`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replicas {
    location: String,
    replica_type: Option<ReplicaType>,
}

/// What a replica is for (`google.spanner.v1.DirectedReadOptions.ReplicaSelection.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplicaType {
    /// Votes on writes, and may lead.
    ReadWrite,
    /// Serves reads only.
    ReadOnly,
}

impl Replicas {
    /// All replicas, to be narrowed down by [`of_type`](Self::of_type).
    #[must_use]
    pub const fn any() -> Self {
        Self {
            location: String::new(),
            replica_type: None,
        }
    }

    /// The replicas in a location, for instance `us-east1`.
    pub fn at(location: impl Into<String>) -> Self {
        Self {
            location: location.into(),
            replica_type: None,
        }
    }

    /// Of these the ones of one type only.
    #[must_use]
    pub const fn of_type(mut self, replica_type: ReplicaType) -> Self {
        self.replica_type = Some(replica_type);
        self
    }
}

fn put_replicas(out: &mut Vec<u8>, replicas: &[Replicas]) {
    for replica in replicas {
        out.push(SELECTIONS);
        with_length(out, |out| {
            if !replica.location.is_empty() {
                put_bytes(out, LOCATION, replica.location.as_bytes());
            }
            let replica_type = match replica.replica_type {
                None => 0,
                Some(ReplicaType::ReadWrite) => 1,
                Some(ReplicaType::ReadOnly) => 2,
            };
            put_integer(out, TYPE, replica_type);
        });
    }
}
