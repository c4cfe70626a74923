//! What a new database is to be, beyond its tables.

use bytes::Bytes;

use super::Emulator;
use super::admin::{self, Wanted};
use super::database::Database;
use super::error::EmulatorError;

/// How SQL is written in a database (`CreateDatabaseRequest.database_dialect`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Google's own SQL: parameters are `@name`.
    #[default]
    GoogleSql,
    /// SQL as PostgreSQL has it: parameters are `$1`, and are sent under the name `p1`.
    PostgreSql,
}

/// A database that is about to be made on the [`Emulator`]; from
/// [`Emulator::new_database`].
///
/// ```no_run
/// use spanner_rows::testing::{Dialect, Emulator};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let emulator = Emulator::start().await?;
/// let database = emulator
///     .new_database()
///     .dialect(Dialect::PostgreSql)
///     .ddl(&["CREATE TABLE prices (id bigint PRIMARY KEY, price numeric)"])
///     .create()
///     .await?;
/// database.execute("INSERT INTO prices (id, price) VALUES (1, 'NaN')").await?;
/// # Ok(())
/// # }
/// ```
///
/// With types of PROTO and ENUM columns, which `protoc --include_imports --descriptor_set_out=…`
/// or `protox` describe:
///
/// ```no_run
/// # use spanner_rows::testing::Emulator;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let emulator = Emulator::start().await?;
/// let database = emulator
///     .new_database()
///     .proto_descriptors(std::fs::read("music.pb")?)
///     .ddl(&[
///         "CREATE PROTO BUNDLE (music.Track, music.Genre)",
///         "CREATE TABLE Tracks (Id INT64, Track music.Track, Genre music.Genre) PRIMARY KEY (Id)",
///     ])
///     .create()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "`create` makes the database"]
pub struct DatabaseBuilder {
    emulator: Emulator,
    wanted: Wanted,
}

impl DatabaseBuilder {
    pub(super) fn new(emulator: Emulator) -> Self {
        Self {
            emulator,
            wanted: Wanted::default(),
        }
    }

    /// Its dialect; without this, GoogleSQL.
    pub const fn dialect(mut self, dialect: Dialect) -> Self {
        self.wanted.dialect = dialect;
        self
    }

    /// DDL statements in its dialect, run after those of an earlier call.
    pub fn ddl(mut self, statements: &[&str]) -> Self {
        let statements = statements.iter().map(ToString::to_string);
        self.wanted.ddl.extend(statements);
        self
    }

    /// The types of a `CREATE PROTO BUNDLE` among the DDL: the bytes of a
    /// `google.protobuf.FileDescriptorSet`, with all files that its files import.
    pub fn proto_descriptors(mut self, file_descriptor_set: impl Into<Bytes>) -> Self {
        self.wanted.proto_descriptors = file_descriptor_set.into();
        self
    }

    /// Makes the database under a name of its own, and runs the DDL on it.
    ///
    /// # Errors
    ///
    /// The emulator refuses a statement; the error has its words.
    ///
    /// # Cancel safety
    ///
    /// A database may remain, which nobody knows.
    pub async fn create(self) -> Result<Database, EmulatorError> {
        let name = admin::create_database(&self.emulator.channel, self.wanted).await?;
        Database::open(self.emulator, name).await
    }
}
