//! What a change stream answers, as rows.
//!
//! The one column of the result is `ARRAY<STRUCT<ARRAY<STRUCT<… ARRAY<STRUCT<…>>>>>>`.
//! A derived row is a column type, so it takes nothing but one struct per STRUCT.
//! The names, types and order of their fields are those of the table function
//! `READ_<stream>` in GoogleSQL; fields that are not wanted may be left out.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;
use spanner_rows::{BorrowedJson, JsonDocument, SpannerRow};

/// One row of the result: an array of one record, so far.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
pub(crate) struct Change<'row> {
    pub(crate) change_record: Vec<ChangeRecord<'row>>,
}

/// Exactly one of the three has an element.
#[derive(Debug, SpannerRow)]
pub(crate) struct ChangeRecord<'row> {
    pub(crate) data_change_record: Vec<DataChange<'row>>,
    pub(crate) heartbeat_record: Vec<Heartbeat>,
    pub(crate) child_partitions_record: Vec<ChildPartitions<'row>>,
}

/// What one transaction did to one table in one way, or a part of that.
#[derive(Debug, SpannerRow)]
pub(crate) struct DataChange<'row> {
    pub(crate) commit_timestamp: jiff::Timestamp,
    pub(crate) record_sequence: &'row str,
    pub(crate) server_transaction_id: &'row str,
    pub(crate) is_last_record_in_transaction_in_partition: bool,
    pub(crate) table_name: &'row str,
    pub(crate) column_types: Vec<WatchedColumn<'row>>,
    pub(crate) mods: Vec<Mod<'row>>,
    pub(crate) mod_type: &'row str,
    pub(crate) value_capture_type: &'row str,
    pub(crate) number_of_records_in_transaction: i64,
    pub(crate) number_of_partitions_in_transaction: i64,
    pub(crate) transaction_tag: Option<&'row str>,
    pub(crate) is_system_transaction: bool,
}

/// A column of the table that the stream watches.
#[derive(Debug, SpannerRow)]
pub(crate) struct WatchedColumn<'row> {
    pub(crate) name: &'row str,
    pub(crate) r#type: BorrowedJson<WatchedType<'row>>,
    pub(crate) is_primary_key: bool,
    pub(crate) ordinal_position: i64,
}

/// The change of one row of the table. Which values are there depends on the value
/// capture type of the stream.
#[derive(Debug, SpannerRow)]
pub(crate) struct Mod<'row> {
    pub(crate) keys: BorrowedJson<Values<'row>>,
    pub(crate) new_values: Option<BorrowedJson<Values<'row>>>,
    pub(crate) old_values: Option<BorrowedJson<Values<'row>>>,
}

impl<'row> Mod<'row> {
    /// The JSON of a key column; nothing when the column is not part of the key.
    pub(crate) fn key(&self, column: &str) -> Option<&'row str> {
        self.keys.0.get(column)
    }

    /// The JSON of a value before the change; nothing when it was not captured.
    pub(crate) fn before(&self, column: &str) -> Option<&'row str> {
        self.old_values.as_ref()?.0.get(column)
    }

    /// The JSON of a value after the change; nothing when it was not captured.
    pub(crate) fn after(&self, column: &str) -> Option<&'row str> {
        self.new_values.as_ref()?.0.get(column)
    }
}

/// Nothing happened up to this time.
#[derive(Debug, SpannerRow)]
pub(crate) struct Heartbeat {
    pub(crate) timestamp: jiff::Timestamp,
}

/// Partitions to go on with: those to begin with, or where this one ends.
#[derive(Debug, SpannerRow)]
pub(crate) struct ChildPartitions<'row> {
    pub(crate) start_timestamp: jiff::Timestamp,
    pub(crate) record_sequence: &'row str,
    pub(crate) child_partitions: Vec<ChildPartition<'row>>,
}

#[derive(Debug, SpannerRow)]
pub(crate) struct ChildPartition<'row> {
    pub(crate) token: &'row str,
    pub(crate) parent_partition_tokens: Vec<&'row str>,
}

/// The JSON of a type, such as `{"code":"ARRAY","array_element_type":{"code":"STRING"}}`.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct WatchedType<'row> {
    code: &'row str,
    #[serde(borrow)]
    array_element_type: Option<Box<Self>>,
}

impl JsonDocument for WatchedType<'_> {
    type At<'row> = WatchedType<'row>;
    type Static = WatchedType<'static>;
}

impl fmt::Display for WatchedType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.array_element_type {
            Some(element) => write!(f, "{}<{element}>", self.code),
            None => f.write_str(self.code),
        }
    }
}

/// The JSON of values by column, each left as it was sent: what it stands for
/// depends on the column's type. INT64 and NUMERIC are sent as text.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Values<'row> {
    #[serde(borrow)]
    by_column: BTreeMap<&'row str, &'row RawValue>,
}

impl JsonDocument for Values<'_> {
    type At<'row> = Values<'row>;
    type Static = Values<'static>;
}

impl<'row> Values<'row> {
    fn get(&self, column: &str) -> Option<&'row str> {
        self.by_column.get(column).map(|value| value.get())
    }
}
