//! What the server was asked besides the statement: when, how, and who is to serve it.

use super::convert::from_options;
use super::request::{Content, Request};
use crate::proto::spanner::directed_read_options::replica_selection::Type;
use crate::proto::spanner::directed_read_options::{ReplicaSelection, Replicas as Sent};
use crate::proto::spanner::execute_sql_request::{QueryMode as SentMode, QueryOptions};
use crate::proto::spanner::read_request::{LockHint as SentHint, OrderBy as SentOrder};
use crate::proto::spanner::request_options::Priority as SentPriority;
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{DirectedReadOptions, RequestOptions};
use crate::{
    DirectedReads, LockHint, OrderBy, Priority, QueryMode, ReplicaType, Replicas, TimestampBound,
};

impl Request {
    /// The timestamp bound of a read-only transaction: of the one that a statement or a
    /// read is or begins, or that `BeginTransaction` begins. Who names none asks for
    /// [`Strong`](TimestampBound::Strong), but in a transaction that has begun there is none.
    #[must_use]
    pub fn timestamp_bound(&self) -> Option<TimestampBound> {
        match self.content() {
            Content::Begin(request) => from_options(request.options.as_ref()?),
            Content::Sql(_) | Content::Read(_) => {
                match self.selector().and_then(|it| it.selector.as_ref()) {
                    None => Some(TimestampBound::Strong),
                    Some(Selector::SingleUse(options) | Selector::Begin(options)) => {
                        from_options(options)
                    }
                    Some(Selector::Id(_)) => None,
                }
            }
            _ => None,
        }
    }

    /// What a statement is to give besides its rows, or instead of them.
    #[must_use]
    pub fn query_mode(&self) -> QueryMode {
        match self.content() {
            Content::Sql(request) => match request.query_mode() {
                SentMode::Normal => QueryMode::Normal,
                SentMode::Plan => QueryMode::Plan,
                SentMode::Profile => QueryMode::Profile,
                SentMode::WithStats => QueryMode::WithStats,
                SentMode::WithPlanAndStats => QueryMode::WithPlanAndStats,
            },
            _ => QueryMode::Normal,
        }
    }

    /// How important a statement or a read is.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        match self.options()?.priority() {
            SentPriority::Unspecified => None,
            SentPriority::Low => Some(Priority::Low),
            SentPriority::Medium => Some(Priority::Medium),
            SentPriority::High => Some(Priority::High),
        }
    }

    /// The name of a statement or a read in statistics.
    #[must_use]
    pub fn request_tag(&self) -> &str {
        self.options().map_or("", |options| &options.request_tag)
    }

    /// Which replicas may serve a statement or a read.
    #[must_use]
    pub fn directed_reads(&self) -> Option<DirectedReads> {
        let sent = match self.content() {
            Content::Sql(request) => request.directed_read_options.as_ref(),
            Content::Read(request) => request.directed_read_options.as_ref(),
            _ => None,
        };
        from_directed(sent?)
    }

    /// Whether a statement or a read is to run on machines of its own.
    #[must_use]
    pub fn data_boost(&self) -> bool {
        match self.content() {
            Content::Sql(request) => request.data_boost_enabled,
            Content::Read(request) => request.data_boost_enabled,
            _ => false,
        }
    }

    /// How a result is to be split: about how many bytes a part is to have, and how many
    /// parts there are to be; 0 is as the server finds fit.
    #[must_use]
    pub fn partition_options(&self) -> (u64, u64) {
        let options = match self.content() {
            Content::PartitionQuery(request) => request.partition_options,
            Content::PartitionRead(request) => request.partition_options,
            _ => None,
        };
        let options = options.unwrap_or_default();
        let number = |n| u64::try_from(n).unwrap_or(0);
        (
            number(options.partition_size_bytes),
            number(options.max_partitions),
        )
    }

    /// In which order a read wants its rows.
    #[must_use]
    pub fn order_by(&self) -> Option<OrderBy> {
        let Content::Read(request) = self.content() else {
            return None;
        };
        match request.order_by() {
            SentOrder::Unspecified => None,
            SentOrder::PrimaryKey => Some(OrderBy::PrimaryKey),
            SentOrder::NoOrder => Some(OrderBy::NoOrder),
        }
    }

    /// Which locks a read wants.
    #[must_use]
    pub fn lock_hint(&self) -> Option<LockHint> {
        let Content::Read(request) = self.content() else {
            return None;
        };
        match request.lock_hint() {
            SentHint::Unspecified => None,
            SentHint::Shared => Some(LockHint::Shared),
            SentHint::Exclusive => Some(LockHint::Exclusive),
        }
    }

    /// Which version of the optimizer is to plan a statement.
    #[must_use]
    pub fn optimizer_version(&self) -> &str {
        let options = self.query_options();
        options.map_or("", |options| &options.optimizer_version)
    }

    /// By which statistics package a statement is to be planned.
    #[must_use]
    pub fn optimizer_statistics_package(&self) -> &str {
        let options = self.query_options();
        options.map_or("", |options| &options.optimizer_statistics_package)
    }

    pub(super) fn options(&self) -> Option<&RequestOptions> {
        match self.content() {
            Content::Sql(request) => request.request_options.as_ref(),
            Content::Read(request) => request.request_options.as_ref(),
            Content::Begin(request) => request.request_options.as_ref(),
            Content::Commit(request) => request.request_options.as_ref(),
            Content::BatchDml(request) => request.request_options.as_ref(),
            Content::BatchWrite(request) => request.request_options.as_ref(),
            _ => None,
        }
    }

    fn query_options(&self) -> Option<&QueryOptions> {
        match self.content() {
            Content::Sql(request) => request.query_options.as_ref(),
            _ => None,
        }
    }
}

fn from_directed(sent: &DirectedReadOptions) -> Option<DirectedReads> {
    Some(match sent.replicas.as_ref()? {
        Sent::IncludeReplicas(include) => {
            let replicas = include.replica_selections.iter().map(from_selection);
            let directed = DirectedReads::include(replicas);
            if include.auto_failover_disabled {
                directed.without_failover()
            } else {
                directed
            }
        }
        Sent::ExcludeReplicas(exclude) => {
            DirectedReads::exclude(exclude.replica_selections.iter().map(from_selection))
        }
    })
}

fn from_selection(sent: &ReplicaSelection) -> Replicas {
    let replicas = Replicas::at(sent.location.as_str());
    match sent.r#type() {
        Type::Unspecified => replicas,
        Type::ReadWrite => replicas.of_type(ReplicaType::ReadWrite),
        Type::ReadOnly => replicas.of_type(ReplicaType::ReadOnly),
    }
}
