//! Mutations: rows to be written or deleted by a commit, without SQL.

use std::fmt;

use super::key::{Key, KeyRange, put_key};
use super::read::{ALL, KEYS, RANGES};
use super::request::tag;
use crate::error::Error;
use crate::types::encode::ToColumn;
use crate::types::encode_row::SpannerEncode;
use crate::wire::reader::{Fields, Span};
use crate::wire::writer::{ListWriter, put_bytes, with_length};

/// Fields of `google.spanner.v1.Mutation.Write` and `Mutation.Delete`.
const TABLE: u8 = tag(1);
const COLUMNS: u8 = tag(2);
const VALUES: u8 = tag(3);
const KEY_SET: u8 = tag(2);

/// A change of rows of one table that a commit makes (`google.spanner.v1.Mutation`).
///
/// Commit mutations with [`Client::write`](crate::Client::write), or together with what a
/// transaction has read with [`Transaction::buffer`](crate::Transaction::buffer). They are
/// applied in their order and all at once.
///
/// One row is put together by hand with [`set`](Self::set). Many rows of a table are one
/// mutation, too: structs that derive [`SpannerEncode`] are given to [`rows`](Self::rows),
/// tuples to [`values`](Self::values) behind [`columns`](Self::columns). What is to be deleted
/// is said by [`key`](Self::key), [`keys`](Self::keys), [`range`](Self::range) and
/// [`all`](Self::all). A mutation that makes no sense is refused when it is to be committed.
///
/// ```
/// use spanner_rows::{Mutation, SpannerEncode};
///
/// #[derive(SpannerEncode)]
/// #[spanner(rename_all = "PascalCase")]
/// struct Singer<'a> {
///     singer_id: i64,
///     first_name: &'a str,
/// }
///
/// let singers = [
///     Singer { singer_id: 1, first_name: "Marc" },
///     Singer { singer_id: 2, first_name: "Catalina" },
/// ];
/// let mutations = [
///     Mutation::insert("Singers").rows(singers),
///     Mutation::update("Singers").set("SingerId", 3_i64).set("FirstName", "Alice"),
///     Mutation::insert_or_update("Singers")
///         .columns(["SingerId", "FirstName"])
///         .values([(4_i64, "Lea"), (5, "David")]),
///     Mutation::delete("Singers").key(6_i64).range(100_i64..200),
/// ];
/// # let _ = mutations;
/// ```
#[derive(Clone)]
#[must_use = "a mutation does nothing until it is committed"]
pub struct Mutation {
    operation: Operation,
    table: String,
    columns: Vec<String>,
    /// Of one row that is put together column by column: its values.
    row: Vec<u8>,
    /// The fields `values`, or the content of `key_set`.
    content: Vec<u8>,
    rows: usize,
    filled: Filled,
    /// What is wrong; told when the mutation is committed.
    problem: Option<String>,
}

/// The fields of `google.spanner.v1.Mutation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Insert = 1,
    Update = 2,
    InsertOrUpdate = 3,
    Replace = 4,
    Delete = 5,
}

/// How it was said which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Nothing,
    /// By `columns`; values may follow.
    Columns,
    /// By `set`.
    Set,
    /// By `rows`.
    Rows,
    Keys,
}

impl Mutation {
    /// New rows; the commit fails with ALREADY_EXISTS when one is there already.
    pub fn insert(table: impl Into<String>) -> Self {
        Self::new(Operation::Insert, table.into())
    }

    /// Other values in rows that are there; the commit fails with NOT_FOUND when one is not.
    /// The key columns say which row, and columns that are not named keep their values.
    pub fn update(table: impl Into<String>) -> Self {
        Self::new(Operation::Update, table.into())
    }

    /// New rows, or other values in those that are there already: then columns that are not
    /// named keep their values.
    pub fn insert_or_update(table: impl Into<String>) -> Self {
        Self::new(Operation::InsertOrUpdate, table.into())
    }

    /// New rows in place of any that are there already: columns that are not named become
    /// NULL. Rows of child tables that go with their parent (`ON DELETE CASCADE`) are
    /// deleted. Prefer [`insert_or_update`](Self::insert_or_update) to change rows.
    pub fn replace(table: impl Into<String>) -> Self {
        Self::new(Operation::Replace, table.into())
    }

    /// Deletes rows, as far as there are such rows.
    pub fn delete(table: impl Into<String>) -> Self {
        Self::new(Operation::Delete, table.into())
    }

    const fn new(operation: Operation, table: String) -> Self {
        Self {
            operation,
            table,
            columns: Vec::new(),
            row: Vec::new(),
            content: Vec::new(),
            rows: 0,
            filled: Filled::Nothing,
            problem: None,
        }
    }

    /// The value of one column, of a mutation of one row.
    pub fn set<V: ToColumn>(mut self, column: impl Into<String>, value: V) -> Self {
        let column = column.into();
        if self.fill(Filled::Set, "`set`") && self.check_column(&column) {
            self.columns.push(column);
            ListWriter::new(&mut self.row).element(|out| value.write(out));
            self.rows = 1;
        }
        self
    }

    /// The columns of the [`values`](Self::values) that follow.
    pub fn columns<C: Into<String>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        if !self.columns.is_empty() {
            self.wrong("names its columns twice: name them once, before the values");
        } else if self.fill(Filled::Columns, "`columns`") {
            for column in columns {
                let column = column.into();
                if self.check_column(&column) {
                    self.columns.push(column);
                }
            }
        }
        self
    }

    /// Rows, each a tuple with a value for every one of the [`columns`](Self::columns);
    /// a row of one column is the value itself.
    pub fn values<R: Key>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        if self.filled != Filled::Columns {
            self.wrong("has values without columns: name them by `columns` before");
            return self;
        }
        for row in rows {
            let start = self.content.len();
            put_key(&mut self.content, VALUES, &row);
            self.rows += 1;
            let (width, columns) = (self.width_from(start), self.columns.len());
            if width != columns {
                let (row, text) = (self.rows, plural(width, "value"));
                self.wrong(&format!(
                    "has {} and {text} in its row {row}: give a value for every column",
                    plural(columns, "column")
                ));
            }
        }
        self
    }

    /// Rows made of structs that derive [`SpannerEncode`](macro@crate::SpannerEncode), whose
    /// fields name the columns. No rows at all change nothing.
    pub fn rows<R: SpannerEncode>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        if !self.fill(Filled::Rows, "`rows`") {
            return self;
        }
        let row_type = R::row_type();
        let names = row_type.fields().iter().map(|field| field.name());
        if self.columns.is_empty() {
            for (i, name) in names.enumerate() {
                if name.is_empty() {
                    self.wrong(&format!(
                        "has rows whose column {} has no name: use a struct with named fields, or `columns` and `values`",
                        i + 1
                    ));
                    return self;
                }
                if self.check_column(name) {
                    self.columns.push(name.to_owned());
                }
            }
        } else if !names.eq(self.columns.iter().map(String::as_str)) {
            self.wrong("has rows with different columns: make a mutation of each kind");
            return self;
        }
        for row in rows {
            self.content.push(VALUES);
            with_length(&mut self.content, |out| {
                row.write_columns(&mut ListWriter::new(out));
            });
            self.rows += 1;
        }
        self
    }

    /// One row made of a struct, as [`rows`](Self::rows) takes many.
    pub fn row<R: SpannerEncode>(self, row: R) -> Self {
        self.rows([row])
    }

    /// Deletes the row with this key.
    ///
    /// A key that has fewer values than key columns is refused by the server;
    /// use [`KeyRange::prefix`] to delete all rows that begin with it.
    pub fn key(self, key: impl Key) -> Self {
        self.keys([key])
    }

    /// Deletes the rows with these keys.
    pub fn keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        if self.fill(Filled::Keys, "`keys`") {
            for key in keys {
                put_key(&mut self.content, KEYS, &key);
            }
        }
        self
    }

    /// Deletes the rows in this range of keys: `10_i64..20`, `"m"..`, or a [`KeyRange`].
    pub fn range(mut self, range: impl Into<KeyRange>) -> Self {
        if self.fill(Filled::Keys, "`range`") {
            put_bytes(&mut self.content, RANGES, range.into().encoded());
        }
        self
    }

    /// Deletes all rows of the table.
    pub fn all(mut self) -> Self {
        if self.fill(Filled::Keys, "`all`") {
            self.content.extend_from_slice(&[ALL, 1]);
        }
        self
    }

    /// Notes how the mutation is filled, and answers whether that is possible.
    fn fill(&mut self, how: Filled, call: &str) -> bool {
        let deletes = self.operation == Operation::Delete;
        if deletes != (how == Filled::Keys) {
            let cure = if deletes {
                "say which rows by `key`, `keys`, `range` or `all`"
            } else {
                "keys are for `Mutation::delete`"
            };
            self.wrong(&format!("does not take {call}: {cure}"));
        } else if self.filled != how && self.filled != Filled::Nothing {
            self.wrong("is filled in different ways: use `set` alone, `rows` alone, or `columns` and `values`");
        } else {
            self.filled = how;
            return true;
        }
        false
    }

    fn check_column(&mut self, column: &str) -> bool {
        let twice = self
            .columns
            .iter()
            .any(|other| other.eq_ignore_ascii_case(column));
        if column.is_empty() {
            self.wrong("has a column without a name");
        } else if twice {
            self.wrong(&format!("has the column `{column}` twice"));
        } else {
            return true;
        }
        false
    }

    /// How many values the row has that was written from `start` on.
    fn width_from(&self, start: usize) -> usize {
        let written = self.content.get(start..).unwrap_or_default();
        let mut width = 0;
        let mut lists = Fields::new(written, Span::whole(written));
        while let Ok(Some(list)) = lists.next() {
            let mut elements = Fields::new(written, list.span);
            while let Ok(Some(_)) = elements.next() {
                width += 1;
            }
        }
        width
    }

    #[cold]
    fn wrong(&mut self, what: &str) {
        self.problem.get_or_insert_with(|| what.to_owned());
    }

    /// The name of the operation in the code of its caller.
    const fn name(&self) -> &'static str {
        match self.operation {
            Operation::Insert => "insert",
            Operation::Update => "update",
            Operation::InsertOrUpdate => "insert_or_update",
            Operation::Replace => "replace",
            Operation::Delete => "delete",
        }
    }

    /// Says what is wrong with the mutation.
    pub(super) fn check(&self) -> Result<(), Error> {
        let problem = match &self.problem {
            Some(problem) => problem,
            None if self.filled != Filled::Nothing => return Ok(()),
            None if self.operation == Operation::Delete => {
                "does not say which rows: add `.key(…)`, `.keys(…)`, `.range(…)` or `.all()`"
            }
            None => "has no row: add `.set(…)`, `.rows(…)`, or `.columns(…)` and `.values(…)`",
        };
        Err(Error::config(format!(
            "the mutation `{}` of `{}` {problem}",
            self.name(),
            self.table
        )))
    }

    /// Whether committing it does nothing.
    pub(super) const fn is_empty(&self) -> bool {
        match self.operation {
            Operation::Delete => self.content.is_empty(),
            _ => self.rows == 0,
        }
    }

    /// How well it stands for others when a transaction begins
    /// (`BeginTransactionRequest.mutation_key`): the server takes it to find out where the
    /// transaction belongs. The keys of an insert may not be known yet, and more keys say more.
    pub(super) const fn weight(&self) -> (bool, usize) {
        (!matches!(self.operation, Operation::Insert), self.rows)
    }

    /// Appends the mutation as a length-delimited field.
    pub(super) fn encode(&self, out: &mut Vec<u8>, field: u8) {
        out.push(field);
        with_length(out, |out| {
            out.push(tag(self.operation as u8));
            with_length(out, |out| {
                put_bytes(out, TABLE, self.table.as_bytes());
                if self.operation == Operation::Delete {
                    put_bytes(out, KEY_SET, &self.content);
                    return;
                }
                for column in &self.columns {
                    put_bytes(out, COLUMNS, column.as_bytes());
                }
                if self.filled == Filled::Set {
                    put_bytes(out, VALUES, &self.row);
                }
                out.extend_from_slice(&self.content);
            });
        });
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl fmt::Debug for Mutation {
    /// Without values and keys, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutation")
            .field("operation", &self.name())
            .field("table", &self.table)
            .field("columns", &self.columns)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
