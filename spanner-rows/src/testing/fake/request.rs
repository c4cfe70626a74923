//! What the server was asked.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;
use prost::Message as _;

use super::convert::{from_list, from_type, from_value};
use super::failure::Failure;
use crate::proto::spanner::transaction_selector::Selector;
use crate::proto::spanner::{
    BatchWriteRequest, BeginTransactionRequest, CommitRequest, CreateSessionRequest,
    ExecuteBatchDmlRequest, ExecuteSqlRequest, GetSessionRequest, KeySet, PartitionQueryRequest,
    PartitionReadRequest, ReadRequest, RollbackRequest, TransactionSelector, key_range,
};
use crate::{OwnedValue, Type};

/// A request that [`FakeSpanner`](super::FakeSpanner) received.
///
/// A getter answers with nothing (`None`, empty, 0) when the request has no such field.
#[derive(Clone)]
pub struct Request {
    method: String,
    headers: HeaderMap,
    body: Bytes,
    call: usize,
    connection: usize,
    content: Content,
}

/// The request by its method.
#[derive(Clone, Debug)]
pub(super) enum Content {
    CreateSession(CreateSessionRequest),
    GetSession(GetSessionRequest),
    Sql(ExecuteSqlRequest),
    BatchDml(ExecuteBatchDmlRequest),
    Read(ReadRequest),
    Begin(BeginTransactionRequest),
    Commit(CommitRequest),
    BatchWrite(BatchWriteRequest),
    PartitionQuery(PartitionQueryRequest),
    PartitionRead(PartitionReadRequest),
    Rollback(RollbackRequest),
    /// Of a method that is not answered.
    Other,
}

/// Which transaction a statement or a read ran in (`google.spanner.v1.TransactionSelector`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestTransaction {
    /// None was named: a single strong read.
    Unspecified,
    /// One of its own (`single_use`).
    SingleUse,
    /// A new one, whose id the result brings (`begin`).
    Begin,
    /// The one with this id (`id`).
    Id(Bytes),
}

/// A range of keys in a read (`google.spanner.v1.KeyRange`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestKeyRange {
    /// The first key, or the one before it.
    pub start: Vec<OwnedValue>,
    /// Whether `start` belongs to the range.
    pub start_closed: bool,
    /// The last key, or the one after it.
    pub end: Vec<OwnedValue>,
    /// Whether `end` belongs to the range.
    pub end_closed: bool,
}

impl Request {
    /// Reads the message of a method.
    pub(super) fn decode(method: &str, headers: HeaderMap, body: Bytes) -> Result<Self, Failure> {
        let content = Content::decode(method, body.clone()).map_err(|error| {
            Failure::internal(format!("the request for {method} is malformed: {error}"))
        })?;
        Ok(Self {
            method: method.to_owned(),
            headers,
            body,
            call: 0,
            connection: 0,
            content,
        })
    }

    pub(super) const fn content(&self) -> &Content {
        &self.content
    }

    pub(super) const fn set_call(&mut self, call: usize) {
        self.call = call;
    }

    pub(super) const fn set_connection(&mut self, connection: usize) {
        self.connection = connection;
    }

    /// On which connection it came, counted from 1.
    #[must_use]
    pub const fn connection(&self) -> usize {
        self.connection
    }

    /// The method, for instance `ExecuteStreamingSql`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// How many calls of the same statement, read or method there were, this one included, since its answer was set.
    #[must_use]
    pub const fn call(&self) -> usize {
        self.call
    }

    /// The value of a header, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The request message as it came.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The session; for `CreateSession` there is none yet.
    #[must_use]
    pub fn session(&self) -> &str {
        match &self.content {
            Content::CreateSession(_) | Content::Other => "",
            Content::GetSession(request) => &request.name,
            Content::Sql(request) => &request.session,
            Content::BatchDml(request) => &request.session,
            Content::Read(request) => &request.session,
            Content::Begin(request) => &request.session,
            Content::Commit(request) => &request.session,
            Content::BatchWrite(request) => &request.session,
            Content::Rollback(request) => &request.session,
            Content::PartitionQuery(request) => &request.session,
            Content::PartitionRead(request) => &request.session,
        }
    }

    /// The database, in `CreateSession`.
    #[must_use]
    pub fn database(&self) -> &str {
        match &self.content {
            Content::CreateSession(request) => &request.database,
            _ => "",
        }
    }

    /// Whether `CreateSession` asked for a multiplexed session.
    #[must_use]
    pub fn multiplexed(&self) -> bool {
        match &self.content {
            Content::CreateSession(request) => {
                request.session.as_ref().is_some_and(|s| s.multiplexed)
            }
            _ => false,
        }
    }

    /// The database role, in `CreateSession`.
    #[must_use]
    pub fn creator_role(&self) -> &str {
        match &self.content {
            Content::CreateSession(request) => {
                request.session.as_ref().map_or("", |s| &s.creator_role)
            }
            _ => "",
        }
    }

    /// The statement.
    #[must_use]
    pub fn sql(&self) -> &str {
        self.sql_request().map_or("", |request| &request.sql)
    }

    /// The value of a query parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<OwnedValue> {
        let params = &self.sql_request()?.params;
        let mut params = prost_types::Struct::decode(params.clone()).ok()?;
        from_value(params.fields.remove(name)?)
    }

    /// The type that was sent with a query parameter.
    #[must_use]
    pub fn param_type(&self, name: &str) -> Option<Type> {
        self.sql_request()?.param_types.get(name).map(from_type)
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &str {
        self.read_request().map_or("", |request| &request.table)
    }

    /// The secondary index; empty for the primary key.
    #[must_use]
    pub fn index(&self) -> &str {
        self.read_request().map_or("", |request| &request.index)
    }

    /// The columns that a read asks for.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        self.read_request().map_or(&[], |request| &request.columns)
    }

    /// The keys that a read asks for.
    #[must_use]
    pub fn keys(&self) -> Vec<Vec<OwnedValue>> {
        let Some(set) = self.key_set() else {
            return Vec::new();
        };
        set.keys.iter().map(key).collect()
    }

    /// The ranges of keys that a read asks for.
    #[must_use]
    pub fn key_ranges(&self) -> Vec<RequestKeyRange> {
        self.key_set().map(key_ranges).unwrap_or_default()
    }

    /// Whether a read asks for all keys.
    #[must_use]
    pub fn all_keys(&self) -> bool {
        self.key_set().is_some_and(|set| set.all)
    }

    /// At most how many rows a read asks for; 0 = all.
    #[must_use]
    pub fn limit(&self) -> i64 {
        self.read_request().map_or(0, |request| request.limit)
    }

    /// From where the stream is to go on; empty = from the start.
    #[must_use]
    pub fn resume_token(&self) -> &[u8] {
        match &self.content {
            Content::Sql(request) => &request.resume_token,
            Content::Read(request) => &request.resume_token,
            _ => &[],
        }
    }

    /// The partition to read.
    #[must_use]
    pub fn partition_token(&self) -> &[u8] {
        match &self.content {
            Content::Sql(request) => &request.partition_token,
            Content::Read(request) => &request.partition_token,
            _ => &[],
        }
    }

    /// The transaction that a statement or a read ran in.
    #[must_use]
    pub fn transaction(&self) -> RequestTransaction {
        match self.selector().and_then(|it| it.selector.as_ref()) {
            None => RequestTransaction::Unspecified,
            Some(Selector::SingleUse(_)) => RequestTransaction::SingleUse,
            Some(Selector::Begin(_)) => RequestTransaction::Begin,
            Some(Selector::Id(id)) => RequestTransaction::Id(id.clone()),
        }
    }

    pub(super) fn selector(&self) -> Option<&TransactionSelector> {
        match &self.content {
            Content::Sql(request) => request.transaction.as_ref(),
            Content::BatchDml(request) => request.transaction.as_ref(),
            Content::Read(request) => request.transaction.as_ref(),
            Content::PartitionQuery(request) => request.transaction.as_ref(),
            Content::PartitionRead(request) => request.transaction.as_ref(),
            _ => None,
        }
    }

    fn sql_request(&self) -> Option<&ExecuteSqlRequest> {
        match &self.content {
            Content::Sql(request) => Some(request),
            _ => None,
        }
    }

    fn read_request(&self) -> Option<&ReadRequest> {
        match &self.content {
            Content::Read(request) => Some(request),
            _ => None,
        }
    }

    fn key_set(&self) -> Option<&KeySet> {
        self.read_request()?.key_set.as_ref()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("call", &self.call)
            .field("headers", &self.headers)
            .field("content", &self.content)
            .finish()
    }
}

impl Content {
    fn decode(method: &str, body: Bytes) -> Result<Self, prost::DecodeError> {
        Ok(match method {
            "CreateSession" => Self::CreateSession(CreateSessionRequest::decode(body)?),
            "GetSession" => Self::GetSession(GetSessionRequest::decode(body)?),
            "ExecuteSql" | "ExecuteStreamingSql" => Self::Sql(ExecuteSqlRequest::decode(body)?),
            "ExecuteBatchDml" => Self::BatchDml(ExecuteBatchDmlRequest::decode(body)?),
            "StreamingRead" => Self::Read(ReadRequest::decode(body)?),
            "BeginTransaction" => Self::Begin(BeginTransactionRequest::decode(body)?),
            "BatchWrite" => Self::BatchWrite(BatchWriteRequest::decode(body)?),
            "Commit" => Self::Commit(CommitRequest::decode(body)?),
            "PartitionQuery" => Self::PartitionQuery(PartitionQueryRequest::decode(body)?),
            "PartitionRead" => Self::PartitionRead(PartitionReadRequest::decode(body)?),
            "Rollback" => Self::Rollback(RollbackRequest::decode(body)?),
            _ => Self::Other,
        })
    }
}

pub(super) fn key_ranges(set: &KeySet) -> Vec<RequestKeyRange> {
    use key_range::{EndKeyType, StartKeyType};
    let ranges = set.ranges.iter();
    ranges
        .map(|range| {
            let (start, start_closed) = match &range.start_key_type {
                Some(StartKeyType::StartClosed(start)) => (key(start), true),
                Some(StartKeyType::StartOpen(start)) => (key(start), false),
                None => (Vec::new(), false),
            };
            let (end, end_closed) = match &range.end_key_type {
                Some(EndKeyType::EndClosed(end)) => (key(end), true),
                Some(EndKeyType::EndOpen(end)) => (key(end), false),
                None => (Vec::new(), false),
            };
            RequestKeyRange {
                start,
                start_closed,
                end,
                end_closed,
            }
        })
        .collect()
}

/// A key that is malformed is empty; its bytes are in the body.
pub(super) fn key(encoded: &Bytes) -> Vec<OwnedValue> {
    let list = prost_types::ListValue::decode(encoded.clone());
    list.ok().and_then(from_list).unwrap_or_default()
}
