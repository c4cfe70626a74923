//! The struct for a statement or a table, by what the database says of it.

use super::Client;
use super::query::Query;
use crate::describe::Description;
use crate::error::Error;
use crate::row::dynamic::Row;

impl Query {
    /// The struct that reads the result, as Rust source to paste, without running the
    /// statement.
    ///
    /// Parameters that the statement names need not be given: the text lists them. The
    /// statement is planned only (`ExecuteSqlRequest.query_mode` = `PLAN`), and a plan does
    /// not tell which columns can be NULL: see [`Description::not_null`].
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// let query = client.query("SELECT SingerId, FirstName FROM Singers WHERE SingerId > @id");
    /// println!("{}", query.describe().await?.name("Singer").not_null(["SingerId"]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The server refuses the statement, or cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the request is then cancelled.
    pub async fn describe(self) -> Result<Description, Error> {
        Ok(Description::from(&self.check::<Row>().await?))
    }
}

impl Client {
    /// The struct that reads all columns of a table or a view, as Rust source to paste.
    ///
    /// Columns stand in the order of the table, and are an `Option` unless they are NOT
    /// NULL (`INFORMATION_SCHEMA.COLUMNS`); the text names the primary key. Both dialects
    /// will do. The schema may stand before the name, as in `INFORMATION_SCHEMA.TABLES`;
    /// upper and lower case matter only where names differ in nothing else.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
    /// println!("{}", client.describe_table("Singers").await?.owned());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such table, or there are several
    /// ([`ErrorKind::Config`](crate::ErrorKind::Config)); the server cannot be reached, or
    /// the schema may not be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the request is then cancelled.
    pub async fn describe_table(&self, table: impl Into<String>) -> Result<Description, Error> {
        let wanted = table.into();
        let dialect = Dialect::of(self).await?;
        let table = dialect.find(self, &wanted).await?;
        let key = dialect.key(self, &table).await?;
        let planned = self
            .query(dialect.select_all(&table))
            .check::<Row>()
            .await?;
        let not_null = table.columns.iter().filter(|column| !column.nullable);
        Ok(Description::of_table(
            &table.name,
            table.about(&key),
            planned.row_type().clone(),
            not_null.map(|column| column.name.clone()),
        ))
    }
}

/// How the database writes SQL.
#[derive(Clone, Copy)]
enum Dialect {
    GoogleSql,
    PostgreSql,
}

struct Table {
    schema: String,
    name: String,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    nullable: bool,
}

/// A row of `INFORMATION_SCHEMA.COLUMNS`: schema, table, column, and whether it is nullable.
type ColumnRow = (String, String, String, String);

impl Dialect {
    /// One text for both dialects.
    const OPTION: &str = "SELECT option_value FROM information_schema.database_options WHERE option_name = 'database_dialect'";

    async fn of(client: &Client) -> Result<Self, Error> {
        let option = client.query(Self::OPTION).rows::<(String,)>().await?;
        let values = collect(option).await?;
        let postgres = values.iter().any(|(value,)| value == "POSTGRESQL");
        Ok(if postgres {
            Self::PostgreSql
        } else {
            Self::GoogleSql
        })
    }

    /// The schema of tables that are named without one.
    const fn default_schema(self) -> &'static str {
        match self {
            Self::GoogleSql => "",
            Self::PostgreSql => "public",
        }
    }

    /// The first parameter, `p1`, in SQL.
    const fn parameter(self) -> &'static str {
        match self {
            Self::GoogleSql => "@p1",
            Self::PostgreSql => "$1",
        }
    }

    fn quoted(self, name: &str) -> String {
        match self {
            Self::GoogleSql => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Self::PostgreSql => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    async fn find(self, client: &Client, wanted: &str) -> Result<Table, Error> {
        let (schema, name) = match wanted.rsplit_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, wanted),
        };
        let sql = format!(
            "SELECT table_schema, table_name, column_name, is_nullable \
             FROM information_schema.columns WHERE LOWER(table_name) = LOWER({}) \
             ORDER BY table_schema, table_name, ordinal_position",
            self.parameter()
        );
        let rows = client
            .query(sql)
            .param("p1", name)
            .rows::<ColumnRow>()
            .await?;
        let mut tables = tables(collect(rows).await?);
        if let Some(schema) = schema {
            tables.retain(|table| table.schema.eq_ignore_ascii_case(schema));
            prefer(&mut tables, |table| table.schema == schema);
        } else {
            prefer(&mut tables, |table| table.schema == self.default_schema());
        }
        prefer(&mut tables, |table| table.name == name);
        match (tables.pop(), tables.pop()) {
            (Some(table), None) => Ok(table),
            (None, _) => Err(Error::config(format!(
                "the database has no table or view `{wanted}` that can be seen with these credentials"
            ))),
            (Some(one), Some(other)) => Err(Error::config(format!(
                "the table name `{wanted}` stands for `{}` and for `{}`: write one of them",
                one.full_name(),
                other.full_name()
            ))),
        }
    }

    /// The columns of the primary key with their order; none for a view.
    async fn key(self, client: &Client, table: &Table) -> Result<Vec<String>, Error> {
        let sql = format!(
            "SELECT table_schema, table_name, column_name, column_ordering \
             FROM information_schema.index_columns \
             WHERE index_type = 'PRIMARY_KEY' AND table_name = {} ORDER BY ordinal_position",
            self.parameter()
        );
        let query = client.query(sql).param("p1", &*table.name);
        type Part = (String, String, String, Option<String>);
        let parts: Vec<Part> = collect(query.rows().await?).await?;
        let parts = parts
            .into_iter()
            .filter(|(schema, ..)| *schema == table.schema);
        let parts = parts.map(|(_, _, column, order)| {
            let descending = order.is_some_and(|order| order.starts_with("DESC"));
            format!("`{column}`{}", if descending { " DESC" } else { "" })
        });
        Ok(parts.collect())
    }

    /// Names every column: `*` leaves out those that are hidden.
    fn select_all(self, table: &Table) -> String {
        let columns = table.columns.iter().map(|column| self.quoted(&column.name));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let mut from = self.quoted(&table.name);
        if !table.schema.is_empty() {
            from = format!("{}.{from}", self.quoted(&table.schema));
        }
        format!("SELECT {columns} FROM {from}")
    }
}

impl Table {
    fn full_name(&self) -> String {
        if self.schema.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.schema, self.name)
        }
    }

    fn about(&self, key: &[String]) -> String {
        let mut about = format!("A row of `{}`", self.full_name());
        if !key.is_empty() {
            about += &format!("; its primary key is {}", key.join(", "));
        }
        about + "."
    }
}

/// The rows are in the order of the tables.
fn tables(rows: Vec<ColumnRow>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for (schema, name, column, nullable) in rows {
        let column = Column {
            name: column,
            nullable: nullable != "NO",
        };
        match tables.last_mut() {
            Some(table) if table.schema == schema && table.name == name => {
                table.columns.push(column)
            }
            _ => tables.push(Table {
                schema,
                name,
                columns: vec![column],
            }),
        }
    }
    tables
}

/// Leaves only those that are better, if there are any.
fn prefer(tables: &mut Vec<Table>, better: impl Fn(&Table) -> bool) {
    if tables.iter().any(&better) {
        tables.retain(better);
    }
}

async fn collect<T: crate::OwnedRow>(mut rows: crate::RowStream<T>) -> Result<Vec<T>, Error> {
    rows.try_collect().await
}
