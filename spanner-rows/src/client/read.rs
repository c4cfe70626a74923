//! Reads of rows by their keys, without SQL.

use std::fmt;
use std::marker::PhantomData;

use super::key::{Key, KeyRange, put_key};
use super::options::{LockHint, OrderBy};
use super::origin::Origin;
use super::partition::{Partition, PartitionOptions, split};
use super::request::{ReadCall, integer_tag, put_integer, tag};
use super::settings::{CallSettings, methods_of_settings};
use crate::error::Error;
use crate::observe::Subject;
use crate::result::batch::RowBatch;
use crate::result::stream::RowStream;
use crate::row::spec::column_names;
use crate::row::traits::{OwnedRow, SpannerRow};
use crate::transport::Method;
use crate::wire::writer::put_bytes;

/// Fields of `google.spanner.v1.ReadRequest`.
const TABLE: u8 = tag(3);
const INDEX: u8 = tag(4);
const COLUMNS: u8 = tag(5);
const KEY_SET: u8 = tag(6);
const LIMIT_FIELD: u8 = 8;
pub(super) const RESUME_TOKEN: u8 = tag(9);
const DIRECTED_READ_OPTIONS: u8 = 14;
const DATA_BOOST_ENABLED: u8 = 15;
const ORDER_BY: u8 = 16;
const LOCK_HINT: u8 = 17;

/// Fields of `google.spanner.v1.KeySet`.
pub(super) const KEYS: u8 = tag(1);
pub(super) const RANGES: u8 = tag(2);
pub(super) const ALL: u8 = integer_tag(3);

/// A read that is being put together, made by [`Client::read`](crate::Client::read).
///
/// The columns are those that the row names: the fields of a derived struct.
/// Which rows are read must be said: by [`key`](Self::key), [`keys`](Self::keys)
/// and [`range`](Self::range), in any number, or by [`all`](Self::all).
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// let mut rows = client
///     .read::<(i64, &str)>("Singers")
///     .columns(["SingerId", "FirstName"])
///     .range(100_i64..200)
///     .rows()
///     .await?;
/// while let Some((id, name)) = rows.next().await? {
///     println!("{id} {name}");
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a read does nothing until rows are asked for"]
pub struct Read<T> {
    origin: Origin,
    table: String,
    index: String,
    columns: Option<Vec<String>>,
    /// The content of the field `key_set`.
    key_set: Vec<u8>,
    /// Whether the caller has said which rows, even if that was "none".
    selected: bool,
    limit: Option<u64>,
    order_by: Option<OrderBy>,
    lock_hint: Option<LockHint>,
    settings: CallSettings,
    _row: PhantomData<fn() -> T>,
}

impl<T> Read<T> {
    pub(super) const fn new(origin: Origin, table: String) -> Self {
        Self {
            origin,
            table,
            index: String::new(),
            columns: None,
            key_set: Vec::new(),
            selected: false,
            limit: None,
            order_by: None,
            lock_hint: None,
            settings: CallSettings::NONE,
            _row: PhantomData,
        }
    }

    /// Reads the row with this key, if there is one.
    ///
    /// A key that has fewer values than key columns is refused by the server;
    /// use [`KeyRange::prefix`] to read all rows that begin with it.
    pub fn key(self, key: impl Key) -> Self {
        self.keys([key])
    }

    /// Reads the rows with these keys, as far as there are such rows.
    ///
    /// Rows come in the order of the table or index, each once. No keys at all
    /// mean no rows.
    pub fn keys<K: Key>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.selected = true;
        for key in keys {
            put_key(&mut self.key_set, KEYS, &key);
        }
        self
    }

    /// Reads the rows in this range of keys: `10_i64..20`, `"m"..`, or a [`KeyRange`].
    pub fn range(mut self, range: impl Into<KeyRange>) -> Self {
        self.selected = true;
        put_bytes(&mut self.key_set, RANGES, range.into().encoded());
        self
    }

    /// Reads all rows of the table or index.
    pub fn all(mut self) -> Self {
        self.selected = true;
        self.key_set.extend_from_slice(&[ALL, 1]);
        self
    }

    /// The same read of no row at all.
    pub(super) fn of_no_key(mut self) -> Self {
        self.key_set.clear();
        self.keys::<i64>([])
    }

    /// Reads through a secondary index: keys and order are then those of the index.
    ///
    /// The columns must be in the index: as its keys, stored with it, or as keys
    /// of the table.
    pub fn index(mut self, index: impl Into<String>) -> Self {
        self.index = index.into();
        self
    }

    /// The columns to read, in place of those that the row names.
    ///
    /// A row that is matched by position, as a tuple is, or that names nothing,
    /// as [`Row`](crate::Row), needs them.
    pub fn columns<C: Into<String>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Reads the first `rows` rows only, in the order of the table or index;
    /// from 1 on.
    pub const fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// In which order the rows come; that of the table's or the index's key, unless this
    /// says otherwise.
    pub const fn order_by(mut self, order: OrderBy) -> Self {
        self.order_by = Some(order);
        self
    }

    /// Which locks the read takes in a read-write transaction.
    pub const fn lock_hint(mut self, hint: LockHint) -> Self {
        self.lock_hint = Some(hint);
        self
    }

    methods_of_settings!("read");
}

impl<T: SpannerRow> Read<T> {
    /// Sends the read and waits for the first part of its result.
    ///
    /// # Errors
    ///
    /// The server refuses the read; the columns do not fit `T`
    /// ([`ErrorKind::Bind`](crate::ErrorKind::Bind)); it is not said which rows
    /// or columns to read ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the read is then cancelled.
    pub async fn rows(self) -> Result<RowStream<T>, Error> {
        let call = self.encode()?;
        let subject = Subject::Table(&self.table);
        self.origin.send(call, &self.settings, subject).await
    }

    /// The only row of the result.
    ///
    /// # Errors
    ///
    /// Those of [`rows`](Self::rows) and of reading; the result has no row
    /// ([`ErrorKind::NoRow`](crate::ErrorKind::NoRow)) or more than one
    /// ([`ErrorKind::ManyRows`](crate::ErrorKind::ManyRows)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the read is then cancelled.
    pub async fn one(self) -> Result<T, Error>
    where
        T: OwnedRow,
    {
        self.rows().await?.one().await
    }

    /// The only row of the result, `None` when it has none.
    ///
    /// # Errors
    ///
    /// Those of [`rows`](Self::rows) and of reading; the result has more than
    /// one row ([`ErrorKind::ManyRows`](crate::ErrorKind::ManyRows)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the read is then cancelled.
    pub async fn optional(self) -> Result<Option<T>, Error>
    where
        T: OwnedRow,
    {
        self.rows().await?.optional().await
    }

    /// The only row of the result with its buffer, for rows that borrow.
    ///
    /// # Errors
    ///
    /// Those of [`one`](Self::one), but for a value that cannot be read: that is
    /// told by [`RowBatch::row`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the read is then cancelled.
    pub async fn one_batch(self) -> Result<RowBatch<T>, Error> {
        self.rows().await?.one_batch().await
    }

    /// Splits the result into parts that can be read at the same time, also by other
    /// machines, all at one point in time: see [`Partition`](crate::Partition).
    ///
    /// Outside of a [read-only transaction](crate::ReadOnlyTransaction) one is begun, with
    /// the bound of the read.
    ///
    /// # Errors
    ///
    /// The server refuses to split the read, or it cannot be reached; the transaction
    /// cannot be begun; the read has a limit, it is not said which rows or columns to
    /// read, or the bound is one of single reads only
    /// ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing but a transaction is left on the server, which expires.
    pub async fn partitions(self, options: PartitionOptions) -> Result<Vec<Partition>, Error> {
        if self.limit.is_some() {
            return Err(Error::config(format!(
                "the read of `{}` has a limit, which would hold for each of its partitions: leave one of them out",
                self.table
            )));
        }
        let call = self.encode()?;
        let statement = self.statement()?;
        split(&self.origin, call, statement, &self.settings, options).await
    }

    pub(super) fn encode(&self) -> Result<ReadCall, Error> {
        if !self.selected {
            return Err(Error::config(format!(
                "the read of `{}` does not say which rows: add `.key(…)`, `.keys(…)`, `.range(…)` or `.all()`",
                self.table
            )));
        }
        if self.limit == Some(0) {
            return Err(Error::config(format!(
                "the read of `{}` has the limit 0: a limit is at least 1, without one all rows are read",
                self.table
            )));
        }
        let mut fields = self.statement()?;
        let limit = self.limit.unwrap_or(0).min(i64::MAX as u64);
        put_integer(&mut fields, LIMIT_FIELD, limit);
        let (settings, defaults) = (&self.settings, self.origin.defaults());
        settings.put_options(
            &mut fields,
            &defaults,
            DIRECTED_READ_OPTIONS,
            DATA_BOOST_ENABLED,
        );
        put_integer(
            &mut fields,
            ORDER_BY,
            self.order_by.map_or(0, OrderBy::number),
        );
        put_integer(
            &mut fields,
            LOCK_HINT,
            self.lock_hint.map_or(0, LockHint::number),
        );
        Ok(ReadCall {
            method: Method::StreamingRead,
            selector: self.origin.selector(&self.settings)?,
            fields,
            token_tag: RESUME_TOKEN,
        })
    }

    /// The fields that `PartitionReadRequest` has, too, under the same numbers.
    fn statement(&self) -> Result<Vec<u8>, Error> {
        let mut fields = Vec::with_capacity(self.table.len() + self.key_set.len() + 128);
        put_bytes(&mut fields, TABLE, self.table.as_bytes());
        if !self.index.is_empty() {
            put_bytes(&mut fields, INDEX, self.index.as_bytes());
        }
        match &self.columns {
            Some(columns) => put_columns(&mut fields, columns),
            None => put_columns(&mut fields, &self.columns_of_row()?),
        }
        put_bytes(&mut fields, KEY_SET, &self.key_set);
        Ok(fields)
    }

    fn columns_of_row(&self) -> Result<Vec<String>, Error> {
        let cure = "add `.columns([…])`";
        match column_names(T::COLUMNS) {
            Ok(names) if names.is_empty() => Err(Error::config(format!(
                "the read of `{}` does not say which columns, and neither does its row: {cure}",
                self.table
            ))),
            Ok(names) => Ok(names),
            Err(field) => Err(Error::config(format!(
                "the read of `{}` does not say which columns, and the field `{field}` of its row has a position, no name: {cure}",
                self.table
            ))),
        }
    }
}

fn put_columns(out: &mut Vec<u8>, columns: &[String]) {
    for column in columns {
        put_bytes(out, COLUMNS, column.as_bytes());
    }
}

impl<T> Clone for Read<T> {
    fn clone(&self) -> Self {
        Self {
            origin: self.origin.clone(),
            table: self.table.clone(),
            index: self.index.clone(),
            columns: self.columns.clone(),
            key_set: self.key_set.clone(),
            selected: self.selected,
            limit: self.limit,
            order_by: self.order_by,
            lock_hint: self.lock_hint,
            settings: self.settings.clone(),
            _row: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Read<T> {
    /// Without the keys, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Read")
            .field("table", &self.table)
            .field("index", &self.index)
            .field("columns", &self.columns)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
