//! Results made of Rust rows.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::convert::{to_query_plan, to_struct_type};
use super::cutter::Cut;
use super::failure::Failure;
use super::message::encode_query_stats;
use super::partition::Part;
use super::prepared::{PreparedRows, Stats};
use super::step::Step;
use super::to_row::{RowWriter, ToRow};
use crate::proto::spanner::result_set_stats::RowCount;
use crate::wire::reader::Span;
use crate::wire::value::Elements;
use crate::{Field, ListWriter, OwnedValue, QueryPlan, RowType, SpannerEncode, Type};

/// Bytes of values in a message, unless the test says otherwise.
const MESSAGE_SIZE: usize = 32 * 1024;
/// Bytes of a resume token, unless the test says otherwise.
const TOKEN_LEN: usize = 40;

/// A result made of rows, and how it is sent.
///
/// It is cut into messages of about 32 KiB, also inside of values, each but the last with a resume token; a client that comes back with a token gets
/// exactly what follows. The methods change all of that, and put failures and delays anywhere.
///
/// ```
/// use spanner_rows::testing::{Failure, Rows, Step};
///
/// let singers = [(1_i64, "Marc", Some("Richards")), (2, "Catalina", None)];
/// let rows = Rows::new(["SingerId", "FirstName", "LastName"], singers)
///     .message_size(20)
///     // In the first call the connection breaks after two messages.
///     .interrupt(1, 2, Step::Disconnect);
/// ```
#[derive(Clone, Debug)]
pub struct Rows {
    row_type: RowType,
    values: Arc<Values>,
    layout: Layout,
    interruptions: Vec<Interruption>,
}

/// How a result is cut into messages and what goes with them.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) cut: Cut,
    pub(super) message_sizes: Vec<usize>,
    pub(super) tokens: Tokens,
    pub(super) token_len: usize,
    pub(super) last: bool,
    pub(super) stats: Stats,
    pub(super) metadata_on_resume: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Tokens {
    Every(usize),
    After(Vec<usize>),
}

/// A step between two messages.
#[derive(Clone, Debug)]
pub(super) struct Interruption {
    /// Counted from 1; `None` is every call.
    pub(super) call: Option<usize>,
    /// After how many messages of the result.
    pub(super) after: usize,
    pub(super) step: Step,
}

impl Rows {
    /// Rows with these column names; the columns' types are those of the Rust types.
    ///
    /// # Panics
    ///
    /// If a row has not as many values as there are names.
    #[track_caller]
    pub fn new<N, R>(names: impl IntoIterator<Item = N>, rows: impl IntoIterator<Item = R>) -> Self
    where
        N: Into<Box<str>>,
        R: ToRow,
    {
        let names = names.into_iter().map(Into::into);
        let names: Vec<Box<str>> = names.collect();
        let types = R::column_types();
        assert_eq!(
            names.len(),
            types.len(),
            "the rows have another number of columns than there are names: {names:?}"
        );
        let fields = names.into_iter().zip(types);
        let row_type = RowType::new(fields.map(|(name, ty)| Field::new(name, ty)));

        let mut values = Values::new(row_type.len());
        for row in rows {
            let before = values.ends.len();
            row.write(&mut RowWriter::new(&mut values));
            values.check_width(before);
        }
        Self::from_values(row_type, values)
    }

    /// Rows made of structs that [`SpannerEncode`] knows; the columns are those of the struct.
    ///
    /// ```
    /// use spanner_rows::testing::Rows;
    /// use spanner_rows::SpannerEncode;
    ///
    /// #[derive(SpannerEncode)]
    /// struct Singer<'a> {
    ///     id: i64,
    ///     name: Option<&'a str>,
    /// }
    ///
    /// let rows = Rows::of([Singer { id: 1, name: Some("Marc") }, Singer { id: 2, name: None }]);
    /// assert_eq!(rows.row_type().to_string(), "STRUCT<id INT64, name STRING>");
    /// ```
    ///
    /// # Panics
    ///
    /// If a `SpannerEncode` written by hand writes more or fewer values than it has columns.
    #[track_caller]
    pub fn of<R: SpannerEncode>(rows: impl IntoIterator<Item = R>) -> Self {
        let row_type = R::row_type();
        let mut values = Values::new(row_type.len());
        let mut encoded = Vec::new();
        for row in rows {
            let before = values.ends.len();
            encoded.clear();
            row.write_columns(&mut ListWriter::new(&mut encoded));
            let all = Span {
                start: 0,
                end: encoded.len(),
            };
            let mut columns = Elements::of_list(&encoded, all);
            while let Ok(Some(Span { start, end })) = columns.next() {
                values.push(|out| out.extend_from_slice(&encoded[start..end]));
            }
            values.check_width(before);
        }
        Self::from_values(row_type, values)
    }

    /// Rows of any values, with the columns given by name and type. The values are sent as they are, whether they fit the types or not.
    ///
    /// # Panics
    ///
    /// If a row has not as many values as there are columns.
    #[track_caller]
    pub fn of_values<N, T, R>(
        columns: impl IntoIterator<Item = (N, T)>,
        rows: impl IntoIterator<Item = R>,
    ) -> Self
    where
        N: Into<Box<str>>,
        T: Into<Type>,
        R: IntoIterator<Item = OwnedValue>,
    {
        let fields = columns.into_iter();
        let row_type = RowType::new(fields.map(|(name, ty)| Field::new(name, ty.into())));
        let mut values = Values::new(row_type.len());
        for row in rows {
            let before = values.ends.len();
            for value in row {
                values.push(|out| value.write(crate::ValueWriter::new(out)));
            }
            values.check_width(before);
        }
        Self::from_values(row_type, values)
    }

    /// No rows and no columns, but a number of rows changed: the result of a DML statement.
    #[must_use]
    pub fn changed(row_count: i64) -> Self {
        Self::from_values(RowType::default(), Values::new(0)).row_count(row_count)
    }

    /// As [`changed`](Self::changed), but the number is a lower bound (`stats.row_count_lower_bound`): the result of a partitioned DML statement.
    #[must_use]
    pub fn changed_at_least(row_count: i64) -> Self {
        let mut rows = Self::from_values(RowType::default(), Values::new(0));
        rows.layout.stats.get_or_insert_default().row_count =
            Some(RowCount::RowCountLowerBound(row_count));
        rows
    }

    fn from_values(row_type: RowType, values: Values) -> Self {
        Self {
            row_type,
            values: Arc::new(values),
            layout: Layout {
                cut: Cut::default(),
                message_sizes: vec![MESSAGE_SIZE],
                tokens: Tokens::Every(1),
                token_len: TOKEN_LEN,
                last: false,
                stats: None,
                metadata_on_resume: false,
            },
            interruptions: Vec::new(),
        }
    }

    /// Where messages may end; anywhere, unless this says otherwise.
    #[must_use]
    pub const fn cut(mut self, cut: Cut) -> Self {
        self.layout.cut = cut;
        self
    }

    /// Cuts messages with about this many bytes of values. A message brings at least a character or a value.
    #[must_use]
    pub fn message_size(self, bytes: usize) -> Self {
        self.message_sizes([bytes])
    }

    /// As [`message_size`](Self::message_size), with sizes taken in turn.
    #[must_use]
    pub fn message_sizes(mut self, bytes: impl IntoIterator<Item = usize>) -> Self {
        self.layout.message_sizes = bytes.into_iter().collect();
        self
    }

    /// Puts a resume token into every n-th message; into none if `messages` is `usize::MAX`. The last message has none, as the service does it.
    #[must_use]
    pub fn token_every(mut self, messages: usize) -> Self {
        self.layout.tokens = Tokens::Every(messages);
        self
    }

    /// Puts resume tokens into these messages, counted from 0, and no others.
    #[must_use]
    pub fn tokens_in(mut self, messages: impl IntoIterator<Item = usize>) -> Self {
        self.layout.tokens = Tokens::After(messages.into_iter().collect());
        self
    }

    /// Makes resume tokens this long, in bytes; 16 at least, and 40 if this is not called.
    #[must_use]
    pub const fn token_len(mut self, bytes: usize) -> Self {
        self.layout.token_len = bytes;
        self
    }

    /// Whether the last message says that it is (`last`); it does not, unless this says otherwise.
    #[must_use]
    pub const fn mark_last(mut self, mark: bool) -> Self {
        self.layout.last = mark;
        self
    }

    /// Whether a resumed stream repeats the metadata; it does not, unless this says otherwise.
    #[must_use]
    pub const fn metadata_on_resume(mut self, repeat: bool) -> Self {
        self.layout.metadata_on_resume = repeat;
        self
    }

    /// Sends statistics of the execution with the last message (`stats.query_stats`).
    #[must_use]
    pub fn query_stats<K: Into<String>, V: Into<String>>(
        mut self,
        stats: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.layout.stats.get_or_insert_default().query_stats = encode_query_stats(stats);
        self
    }

    /// Sends how the statement is executed with the last message (`stats.query_plan`).
    #[must_use]
    pub fn query_plan(mut self, plan: &QueryPlan) -> Self {
        self.layout.stats.get_or_insert_default().query_plan = Some(to_query_plan(plan));
        self
    }

    /// Sends the number of rows that DML changed with the last message (`stats.row_count_exact`).
    #[must_use]
    pub fn row_count(mut self, rows: i64) -> Self {
        self.layout.stats.get_or_insert_default().row_count = Some(RowCount::RowCountExact(rows));
        self
    }

    /// Does something during one call, after some messages.
    ///
    /// Calls of a statement are counted from 1, and a resumed stream is a call of its own. Messages are counted from the start of the result, also in a
    /// resumed stream: with `after` 3 the step comes between the third and the fourth message, unless the call begins behind it. Steps at the same place
    /// are done in the order in which they were added.
    #[must_use]
    pub fn interrupt(mut self, call: usize, after: usize, step: Step) -> Self {
        self.interruptions.push(Interruption {
            call: Some(call),
            after,
            step: step.encoded(),
        });
        self
    }

    /// As [`interrupt`](Self::interrupt), during every call.
    #[must_use]
    pub fn interrupt_every(mut self, after: usize, step: Step) -> Self {
        self.interruptions.push(Interruption {
            call: None,
            after,
            step: step.encoded(),
        });
        self
    }

    /// The columns.
    #[must_use]
    pub const fn row_type(&self) -> &RowType {
        &self.row_type
    }
}

/// The values of all rows, encoded.
pub(super) struct Values {
    width: usize,
    data: Vec<u8>,
    /// Where each value ends.
    ends: Vec<usize>,
}

impl Values {
    const fn new(width: usize) -> Self {
        Self {
            width,
            data: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.data);
        self.ends.push(self.data.len());
    }

    #[track_caller]
    fn check_width(&self, before: usize) {
        let values = self.ends.len() - before;
        assert_eq!(
            values, self.width,
            "a row has {values} values, but there are {} columns",
            self.width
        );
    }

    fn rows(&self) -> usize {
        self.ends.len().checked_div(self.width).unwrap_or(0)
    }

    fn value(&self, row: usize, column: usize) -> &[u8] {
        let index = row * self.width + column;
        let start = match index.checked_sub(1) {
            Some(before) => self.ends.get(before).copied(),
            None => Some(0),
        };
        let range = start.zip(self.ends.get(index).copied());
        range
            .and_then(|(start, end)| self.data.get(start..end))
            .unwrap_or_default()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.rows())
    }
}

/// Rows ready to be sent; for reads, once for each list of columns asked for.
#[derive(Debug)]
pub(super) struct RowsAnswer {
    rows: Rows,
    prepared: Mutex<HashMap<Selection, Arc<PreparedRows>>>,
}

/// What of the rows is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Selection {
    columns: Vec<usize>,
    part: Part,
    /// At most so many of the part's rows.
    limit: usize,
}

impl RowsAnswer {
    pub(super) fn new(rows: Rows) -> Self {
        Self {
            rows,
            prepared: Mutex::default(),
        }
    }

    /// What interrupts the call of this number when it begins with message
    /// `first`, each with the number of messages before it, in order.
    pub(super) fn interruptions(&self, call: usize, first: usize) -> Vec<(usize, Step)> {
        let all = self.rows.interruptions.iter();
        let mut wanted: Vec<_> = all
            .filter(|it| it.after >= first && it.call.is_none_or(|wanted| wanted == call))
            .map(|it| (it.after, it.step.clone()))
            .collect();
        // Stable: steps at one place stay as they were added.
        wanted.sort_by_key(|(after, _)| *after);
        wanted
    }

    pub(super) fn stats(&self) -> Stats {
        self.rows.layout.stats.clone()
    }

    /// Rows with all columns.
    pub(super) fn all(&self, part: Part) -> Arc<PreparedRows> {
        self.prepare(Selection {
            columns: (0..self.rows.row_type.len()).collect(),
            part,
            limit: usize::MAX,
        })
    }

    /// No rows, with all columns: what a statement is answered with that is not run.
    pub(super) fn none(&self) -> Arc<PreparedRows> {
        self.prepare(Selection {
            columns: (0..self.rows.row_type.len()).collect(),
            part: Part::ALL,
            limit: 0,
        })
    }

    /// The columns that a read asks for, and at most `limit` rows (0 = all).
    pub(super) fn columns(
        &self,
        table: &str,
        columns: &[String],
        part: Part,
        limit: i64,
    ) -> Result<Arc<PreparedRows>, Failure> {
        let position = |name: &String| {
            self.rows.row_type.position(name).ok_or_else(|| {
                Failure::not_found(format!("Column not found in table {table}: {name}"))
            })
        };
        Ok(self.prepare(Selection {
            columns: columns.iter().map(position).collect::<Result<_, _>>()?,
            part,
            limit: match usize::try_from(limit) {
                Ok(limit) if limit > 0 => limit,
                _ => usize::MAX,
            },
        }))
    }

    /// All rows, each as a list of its encoded values.
    pub(super) fn whole_rows(&self) -> impl Iterator<Item = impl Iterator<Item = &[u8]>> {
        let values = &self.rows.values;
        (0..values.rows())
            .map(move |row| (0..values.width).map(move |column| values.value(row, column)))
    }

    fn prepare(&self, selection: Selection) -> Arc<PreparedRows> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = prepared.get(&selection) {
            return Arc::clone(found);
        }
        let fields = self.rows.row_type.fields();
        let selected = selection.columns.iter().filter_map(|&i| fields.get(i));
        let row_type = to_struct_type(&RowType::new(selected.cloned()));
        let rows = selection.part.of(self.rows.values.rows());
        let values = rows.take(selection.limit).flat_map(|row| {
            let columns = selection.columns.iter().enumerate();
            columns.map(move |(i, &column)| (self.rows.values.value(row, column), i == 0))
        });
        let name = (&self.rows.row_type, &selection);
        let new = Arc::new(PreparedRows::new(
            row_type,
            values,
            &self.rows.layout,
            &name,
        ));
        prepared.insert(selection, Arc::clone(&new));
        new
    }
}
