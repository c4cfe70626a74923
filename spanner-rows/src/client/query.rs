//! SQL queries with typed parameters.

use std::fmt;

use super::options::QueryMode;
use super::origin::Origin;
use super::partition::{Partition, PartitionOptions, split};
use super::request::{ReadCall, put_integer, tag};
use super::settings::{CallSettings, Defaults, Optimizer, methods_of_settings};
use crate::error::Error;
use crate::observe::Subject;
use crate::result::batch::RowBatch;
use crate::result::stream::RowStream;
use crate::row::traits::{OwnedRow, SpannerRow};
use crate::transport::Method;
use crate::types::encode::ToColumn;
use crate::wire::reader::{Fields, Span};
use crate::wire::writer::{put_bytes, put_value, with_length};

/// Fields of `google.spanner.v1.ExecuteSqlRequest`.
const SQL: u8 = tag(3);
const PARAMS: u8 = tag(4);
const PARAM_TYPES: u8 = tag(5);
pub(super) const RESUME_TOKEN: u8 = tag(6);
const QUERY_MODE: u8 = 7;
const QUERY_OPTIONS: u8 = tag(10);
const DIRECTED_READ_OPTIONS: u8 = 15;
const DATA_BOOST_ENABLED: u8 = 16;
const LAST_STATEMENT: u8 = 17;

/// Fields of `google.spanner.v1.ExecuteBatchDmlRequest.Statement`.
const STATEMENT_SQL: u8 = tag(1);
const STATEMENT_PARAMS: u8 = tag(2);
const STATEMENT_PARAM_TYPES: u8 = tag(3);

/// Fields of `google.spanner.v1.ExecuteSqlRequest.QueryOptions`.
const OPTIMIZER_VERSION: u8 = tag(1);
const OPTIMIZER_STATISTICS_PACKAGE: u8 = tag(2);

/// Of an entry of a map; `google.protobuf.Struct` has nothing but a map in field 1.
const ENTRY: u8 = tag(1);
const KEY: u8 = tag(1);
const VALUE: u8 = tag(2);

/// A query that is being put together, made by [`Client::query`](crate::Client::query).
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// let mut rows = client
///     .query("SELECT SingerId, FirstName FROM Singers WHERE SingerId > @id")
///     .param("id", 100_i64)
///     .rows::<(i64, &str)>()
///     .await?;
/// while let Some((id, name)) = rows.next().await? {
///     println!("{id} {name}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a query does nothing until rows are asked for"]
pub struct Query {
    origin: Origin,
    sql: String,
    names: Vec<String>,
    /// The fields `params` and `param_types`, encoded without their own tags.
    params: Vec<u8>,
    param_types: Vec<u8>,
    /// What is wrong with the parameters; told when the query is sent.
    problem: Option<String>,
    mode: QueryMode,
    optimizer: Optimizer,
    last_statement: bool,
    settings: CallSettings,
}

impl Query {
    pub(super) const fn new(origin: Origin, sql: String) -> Self {
        Self {
            origin,
            sql,
            names: Vec::new(),
            params: Vec::new(),
            param_types: Vec::new(),
            problem: None,
            mode: QueryMode::Normal,
            optimizer: Optimizer::NONE,
            last_statement: false,
            settings: CallSettings::NONE,
        }
    }

    /// The value of the parameter `@name`; the name is given without `@`.
    ///
    /// The type goes with the value, so that NULL (`None::<i64>`) has one, too.
    /// Naming a parameter twice makes the query fail: names are the same when
    /// they differ in upper and lower case only.
    pub fn param<V: ToColumn>(mut self, name: impl Into<String>, value: V) -> Self {
        let name = name.into();
        self.check_name(&name);
        put_entry(&mut self.params, ENTRY, &name, |out| {
            put_value(out, VALUE, |out| value.write(out));
        });
        put_entry(&mut self.param_types, PARAM_TYPES, &name, |out| {
            out.push(VALUE);
            with_length(out, |out| V::column_type().encode(out));
        });
        self.names.push(name);
        self
    }

    /// What the query is to give besides its rows, or instead of them.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use spanner_rows::{QueryMode, Row};
    ///
    /// let query = client.query("SELECT FirstName FROM Singers");
    /// let mut rows = query.mode(QueryMode::Profile).rows::<Row>().await?;
    /// rows.for_each(|row| println!("{row:?}")).await?;
    /// let stats = rows.stats().expect("the result has ended");
    /// println!("{:?}", stats.query_stat("elapsed_time"));
    /// if let Some(plan) = stats.query_plan()? {
    ///     println!("{plan}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub const fn mode(mut self, mode: QueryMode) -> Self {
        self.mode = mode;
        self
    }

    /// The version of the optimizer that is to plan the query, a number or `latest`
    /// (`QueryOptions.optimizer_version`), in place of the
    /// [client's setting](crate::ClientBuilder::optimizer_version).
    pub fn optimizer_version(mut self, version: impl Into<String>) -> Self {
        self.optimizer.version = version.into();
        self
    }

    /// The statistics package by which the query is to be planned
    /// (`QueryOptions.optimizer_statistics_package`), in place of the
    /// [client's setting](crate::ClientBuilder::optimizer_statistics_package).
    pub fn optimizer_statistics_package(mut self, package: impl Into<String>) -> Self {
        self.optimizer.statistics_package = package.into();
        self
    }

    methods_of_settings!("query");

    fn check_name(&mut self, name: &str) {
        let twice = self
            .names
            .iter()
            .any(|other| other.eq_ignore_ascii_case(name));
        let problem = if twice {
            format!("the query parameter `{name}` is given twice")
        } else if let Some(bare) = name.strip_prefix('@') {
            format!("the query parameter `{name}` is named with `@`: write `{bare}`")
        } else if name.is_empty() {
            "a query parameter has an empty name".to_owned()
        } else {
            return;
        };
        self.problem.get_or_insert(problem);
    }

    /// Sends the query and waits for the first part of its result.
    ///
    /// # Errors
    ///
    /// The server refuses the query; the columns do not fit `T`
    /// ([`ErrorKind::Bind`](crate::ErrorKind::Bind)); a parameter's name cannot
    /// be ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the query is then cancelled.
    pub async fn rows<T: SpannerRow>(self) -> Result<RowStream<T>, Error> {
        let call = self.encode()?;
        let subject = Subject::Sql(&self.sql);
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
    /// Cancel safe: the query is then cancelled.
    pub async fn one<T: OwnedRow>(self) -> Result<T, Error> {
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
    /// Cancel safe: the query is then cancelled.
    pub async fn optional<T: OwnedRow>(self) -> Result<Option<T>, Error> {
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
    /// Cancel safe: the query is then cancelled.
    pub async fn one_batch<T: SpannerRow>(self) -> Result<RowBatch<T>, Error> {
        self.rows().await?.one_batch().await
    }

    /// Splits the result into parts that can be read at the same time, also by other
    /// machines, all at one point in time: see [`Partition`](crate::Partition).
    ///
    /// The service splits queries only that it can answer in parts without bringing these
    /// together: those whose plan begins with a distributed union, such as a scan of a
    /// table, not those that sort or aggregate over all. Outside of a
    /// [read-only transaction](crate::ReadOnlyTransaction) one is begun, with the bound of
    /// the query.
    ///
    /// # Errors
    ///
    /// The server refuses to split the query, or it cannot be reached; the transaction
    /// cannot be begun; a parameter's name cannot be, or the bound is one of single
    /// queries only ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing but a transaction is left on the server, which expires.
    pub async fn partitions(self, options: PartitionOptions) -> Result<Vec<Partition>, Error> {
        let call = self.encode()?;
        let statement = self.statement();
        split(&self.origin, call, statement, &self.settings, options).await
    }

    pub(super) fn encode(&self) -> Result<ReadCall, Error> {
        self.check_params()?;
        let mut fields = self.statement();
        self.put_options(&mut fields, &self.origin.defaults());
        Ok(ReadCall {
            method: Method::ExecuteStreamingSql,
            selector: self.origin.selector(&self.settings)?,
            fields,
            token_tag: RESUME_TOKEN,
        })
    }

    /// The fields behind the transaction, of a statement that only a leader can run.
    pub(super) fn fields_for_leader(&self) -> Result<Vec<u8>, Error> {
        self.check_params()?;
        let mut fields = self.statement();
        self.put_options(&mut fields, &self.origin.defaults().for_leader(None));
        Ok(fields)
    }

    /// Nothing but the end of the transaction follows.
    pub(super) const fn with_last_statement(mut self, last: bool) -> Self {
        self.last_statement = last;
        self
    }

    pub(super) const fn is_last_statement(&self) -> bool {
        self.last_statement
    }

    pub(super) const fn settings(&self) -> &CallSettings {
        &self.settings
    }

    fn check_params(&self) -> Result<(), Error> {
        match &self.problem {
            Some(problem) => Err(Error::config(problem.clone())),
            None => Ok(()),
        }
    }

    /// Appends the content of an `ExecuteBatchDmlRequest.Statement`.
    pub(super) fn put_statement(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.check_params()?;
        put_bytes(out, STATEMENT_SQL, self.sql.as_bytes());
        if !self.params.is_empty() {
            put_bytes(out, STATEMENT_PARAMS, &self.params);
        }
        let types = &self.param_types;
        let mut entries = Fields::new(types, Span::whole(types));
        while let Some(entry) = entries.next()? {
            put_bytes(out, STATEMENT_PARAM_TYPES, entry.span.of(types));
        }
        Ok(())
    }

    /// The fields that `PartitionQueryRequest` has, too, under the same numbers.
    fn statement(&self) -> Vec<u8> {
        let len = self.sql.len() + self.params.len() + self.param_types.len() + 24;
        let mut fields = Vec::with_capacity(len);
        put_bytes(&mut fields, SQL, self.sql.as_bytes());
        if !self.params.is_empty() {
            put_bytes(&mut fields, PARAMS, &self.params);
        }
        fields.extend_from_slice(&self.param_types);
        fields
    }

    fn put_options(&self, fields: &mut Vec<u8>, defaults: &Defaults) {
        put_integer(fields, QUERY_MODE, self.mode.number());
        put_integer(fields, LAST_STATEMENT, self.last_statement.into());
        let version = either(&self.optimizer.version, &defaults.optimizer.version);
        let package = either(
            &self.optimizer.statistics_package,
            &defaults.optimizer.statistics_package,
        );
        if !(version.is_empty() && package.is_empty()) {
            fields.push(QUERY_OPTIONS);
            with_length(fields, |out| {
                if !version.is_empty() {
                    put_bytes(out, OPTIMIZER_VERSION, version.as_bytes());
                }
                if !package.is_empty() {
                    put_bytes(out, OPTIMIZER_STATISTICS_PACKAGE, package.as_bytes());
                }
            });
        }
        let settings = &self.settings;
        settings.put_options(fields, defaults, DIRECTED_READ_OPTIONS, DATA_BOOST_ENABLED);
    }
}

/// The first that is not empty.
const fn either<'a>(own: &'a str, default: &'a str) -> &'a str {
    if own.is_empty() { default } else { own }
}

/// Appends one entry of a map field with text keys.
fn put_entry(out: &mut Vec<u8>, tag: u8, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    with_length(out, |out| {
        put_bytes(out, KEY, name.as_bytes());
        value(out);
    });
}

impl fmt::Debug for Query {
    /// Without the values of parameters, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("sql", &self.sql)
            .field("params", &self.names)
            .finish_non_exhaustive()
    }
}
