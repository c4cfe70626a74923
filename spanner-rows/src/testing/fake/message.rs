//! One message of a scripted result.

use std::collections::BTreeMap;

use bytes::Bytes;
use prost::Message as _;

use super::convert::{to_query_plan, to_struct_type, to_timestamp};
use crate::proto::spanner::result_set_stats::RowCount;
use crate::proto::spanner::{
    MultiplexedSessionPrecommitToken, PartialResultSet, ResultSetMetadata, ResultSetStats,
    Transaction,
};
use crate::{Field, OwnedValue, QueryPlan, RowType, Timestamp, ToColumn, Type, ValueWriter};

/// One message of a streamed result (`google.spanner.v1.PartialResultSet`), to be put into a script.
///
/// Nothing is checked: a message may break every rule of the protocol, because a test may want to see what the client does then.
///
/// ```
/// use spanner_rows::TypeCode;
/// use spanner_rows::testing::Message;
///
/// let first = Message::new()
///     .columns([("Name", TypeCode::String)])
///     .value("first half and ")
///     .chunked()
///     .resume_token("one");
/// let second = Message::new().value("second half");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message(Box<PartialResultSet>);

impl Message {
    /// A message with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the columns of the result (`metadata.row_type`), which belong into the first message.
    #[must_use]
    pub fn columns<N: Into<Box<str>>, T: Into<Type>>(
        self,
        columns: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let fields = columns.into_iter();
        self.row_type(&RowType::new(
            fields.map(|(name, ty)| Field::new(name, ty.into())),
        ))
    }

    /// As [`columns`](Self::columns), from a row type.
    #[must_use]
    pub fn row_type(mut self, row_type: &RowType) -> Self {
        self.metadata().row_type = Some(to_struct_type(row_type));
        self
    }

    /// Adds the id of a transaction that began with the statement (`metadata.transaction.id`).
    #[must_use]
    pub fn transaction_id(mut self, id: impl Into<Bytes>) -> Self {
        self.transaction().id = id.into();
        self
    }

    /// Adds the time at which the data was read (`metadata.transaction.read_timestamp`).
    #[must_use]
    pub fn read_timestamp(mut self, timestamp: Timestamp) -> Self {
        self.transaction().read_timestamp = Some(to_timestamp(timestamp));
        self
    }

    /// Adds a value.
    #[must_use]
    pub fn value(self, value: impl ToColumn) -> Self {
        self.written(|out| value.write(out))
    }

    /// Adds values of any kind.
    #[must_use]
    pub fn values(self, values: impl IntoIterator<Item = OwnedValue>) -> Self {
        let values = values.into_iter();
        values.fold(self, |message, value| {
            message.written(|out| value.write(out))
        })
    }

    /// Adds a value by its encoding: the content of a `google.protobuf.Value` message, well-formed or not.
    #[must_use]
    pub fn raw_value(mut self, value: impl Into<Bytes>) -> Self {
        self.0.values.push(value.into());
        self
    }

    /// Says that the last value goes on in the next message (`chunked_value`).
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.0.chunked_value = true;
        self
    }

    /// Adds a token with which the client may ask for what follows this message (`resume_token`).
    #[must_use]
    pub fn resume_token(mut self, token: impl Into<Bytes>) -> Self {
        self.0.resume_token = token.into();
        self
    }

    /// Adds statistics of the execution (`stats.query_stats`); Spanner sends all of them as text.
    #[must_use]
    pub fn query_stats<K: Into<String>, V: Into<String>>(
        mut self,
        stats: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.stats().query_stats = encode_query_stats(stats);
        self
    }

    /// Adds how the statement is executed (`stats.query_plan`).
    #[must_use]
    pub fn query_plan(mut self, plan: &QueryPlan) -> Self {
        self.stats().query_plan = Some(to_query_plan(plan));
        self
    }

    /// Adds parameters that the statement names and the request did not give (`metadata.undeclared_parameters`).
    #[must_use]
    pub fn undeclared_parameters<N: Into<Box<str>>, T: Into<Type>>(
        mut self,
        parameters: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let fields = parameters.into_iter();
        let fields = RowType::new(fields.map(|(name, ty)| Field::new(name, ty.into())));
        self.metadata().undeclared_parameters = Some(to_struct_type(&fields));
        self
    }

    /// Adds the number of rows that a DML statement changed (`stats.row_count_exact`).
    #[must_use]
    pub fn row_count(mut self, rows: i64) -> Self {
        self.stats().row_count = Some(RowCount::RowCountExact(rows));
        self
    }

    /// Adds the number of rows that a partitioned DML statement changed at least (`stats.row_count_lower_bound`).
    #[must_use]
    pub fn row_count_lower_bound(mut self, rows: i64) -> Self {
        self.stats().row_count = Some(RowCount::RowCountLowerBound(rows));
        self
    }

    /// Adds a token for the commit (`precommit_token`).
    #[must_use]
    pub fn precommit_token(mut self, token: impl Into<Bytes>, seq_num: i32) -> Self {
        self.0.precommit_token = Some(MultiplexedSessionPrecommitToken {
            precommit_token: token.into(),
            seq_num,
        });
        self
    }

    /// Says that no message follows (`last`).
    #[must_use]
    pub fn last(mut self) -> Self {
        self.0.last = true;
        self
    }

    /// The message in protobuf form, as [`Step::Raw`](super::Step::Raw) takes it.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        self.0.encode_to_vec().into()
    }

    fn written(self, write: impl FnOnce(ValueWriter<'_>)) -> Self {
        let mut value = Vec::new();
        write(ValueWriter::new(&mut value));
        self.raw_value(value)
    }

    fn metadata(&mut self) -> &mut ResultSetMetadata {
        self.0.metadata.get_or_insert_default()
    }

    fn transaction(&mut self) -> &mut Transaction {
        self.metadata().transaction.get_or_insert_default()
    }

    fn stats(&mut self) -> &mut ResultSetStats {
        self.0.stats.get_or_insert_default()
    }
}

/// As a `google.protobuf.Struct` of strings.
pub(super) fn encode_query_stats<K: Into<String>, V: Into<String>>(
    stats: impl IntoIterator<Item = (K, V)>,
) -> Bytes {
    let fields: BTreeMap<String, prost_types::Value> = stats
        .into_iter()
        .map(|(name, text)| (name.into(), prost_types::Value::from(text.into())))
        .collect();
    prost_types::Struct { fields }.encode_to_vec().into()
}
