//! What comes after the rows: `google.spanner.v1.ResultSetStats`.

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};

use super::error::WireError;
use super::plan::QueryPlan;
use super::reader::{Fields, Span};
use super::row_type::string;
use super::value;
use crate::row::value::{OwnedValue, Value};

/// What the server says of the work a statement was
/// (`google.spanner.v1.ResultSetStats`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultStats {
    row_count: Option<RowCount>,
    query_stats: Vec<(String, OwnedValue)>,
    query_plan: Bytes,
}

/// How many rows a DML statement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowCount {
    /// Of DML (`row_count_exact`).
    Exact(i64),
    /// Of partitioned DML, which may change a row more than once (`row_count_lower_bound`).
    LowerBound(i64),
}

impl ResultStats {
    /// How many rows were changed; `None` for a query.
    #[must_use]
    pub const fn row_count(&self) -> Option<RowCount> {
        self.row_count
    }

    /// Figures of the execution by name, in the order in which they came
    /// (`query_stats`); numbers come as strings: `"rows_returned"` is `"3"`,
    /// `"elapsed_time"` is `"1.22 secs"`. Empty unless the request asked for them.
    /// An entry that is a JSON object is left out.
    pub fn query_stats(&self) -> impl Iterator<Item = (&str, &OwnedValue)> {
        self.query_stats
            .iter()
            .map(|(name, value)| (&**name, value))
    }

    /// One figure of the execution.
    #[must_use]
    pub fn query_stat(&self, name: &str) -> Option<&OwnedValue> {
        self.query_stats()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// How the statement is, or was, executed (`query_plan`); `None` unless the
    /// [mode](crate::QueryMode) of the query asked for it. It is read anew with every call.
    ///
    /// # Errors
    ///
    /// The plan is malformed, or nests deeper than 100 levels.
    pub fn query_plan(&self) -> Result<Option<QueryPlan>, WireError> {
        if self.query_plan.is_empty() {
            return Ok(None);
        }
        QueryPlan::parse(&self.query_plan).map(Some)
    }

    /// The plan as it was sent: a serialised `google.spanner.v1.QueryPlan`; empty when
    /// there is none.
    #[must_use]
    pub const fn query_plan_bytes(&self) -> &Bytes {
        &self.query_plan
    }
}

/// Statistics that are being read. However often its fields come, they are copied once.
#[derive(Default)]
pub(super) struct StatsParts {
    query_plan: BytesMut,
    rest: ResultStats,
}

impl StatsParts {
    /// Adds the content of one `ResultSetStats`. A field that comes twice is
    /// joined as protobuf says.
    pub(super) fn read(&mut self, wire: &[u8], span: Span) -> Result<(), WireError> {
        let mut fields = Fields::new(wire, span);
        while let Some(field) = fields.next()? {
            match field.tag.field {
                // Copied, so that the message is not kept. Serialised messages put
                // one after the other are their join.
                1 => self.query_plan.extend_from_slice(field.message()?.of(wire)),
                2 => self.rest.read_query_stats(wire, field.message()?)?,
                3 => self.rest.row_count = Some(RowCount::Exact(field.integer()? as i64)),
                4 => self.rest.row_count = Some(RowCount::LowerBound(field.integer()? as i64)),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> ResultStats {
        self.rest.drop_replaced();
        ResultStats {
            query_plan: self.query_plan.freeze(),
            ..self.rest
        }
    }
}

impl ResultStats {
    /// Of entries with the same name the last one counts.
    fn drop_replaced(&mut self) {
        let mut last = HashMap::with_capacity(self.query_stats.len());
        for (i, (name, _)) in self.query_stats.iter().enumerate() {
            last.insert(name.clone(), i);
        }
        let mut i = 0;
        self.query_stats.retain(|(name, _)| {
            i += 1;
            last.get(name) == Some(&(i - 1))
        });
    }

    /// `google.protobuf.Struct`: a map, that is, entries of a key and a value.
    fn read_query_stats(&mut self, wire: &[u8], span: Span) -> Result<(), WireError> {
        let mut entries = Fields::new(wire, span);
        while let Some(entry) = entries.next()? {
            if entry.tag.field != 1 {
                continue;
            }
            let (mut name, mut value) = ("", None);
            let mut parts = Fields::new(wire, entry.message()?);
            while let Some(part) = parts.next()? {
                match part.tag.field {
                    1 => name = string(wire, part.message()?)?,
                    2 => value = Some(part.message()?),
                    _ => {}
                }
            }
            if let Some(value) = value {
                self.add_query_stat(name, wire, value)?;
            }
        }
        Ok(())
    }

    fn add_query_stat(&mut self, name: &str, wire: &[u8], value: Span) -> Result<(), WireError> {
        // Malformed bytes are an error, a kind that `OwnedValue` does not have is none.
        if value::check(wire, value)?.is_some() {
            return Ok(());
        }
        let Ok(value) = Value::read(wire, value) else {
            return Ok(());
        };
        self.query_stats.push((name.to_owned(), value.to_owned()));
        Ok(())
    }
}
