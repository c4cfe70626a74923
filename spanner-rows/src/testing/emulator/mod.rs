//! Google's Cloud Spanner emulator, for tests on a real SQL engine.
//!
//! | file | what it does |
//! |---|---|
//! | `find` | where the emulator's program may be |
//! | `process` | starts it, shares it between tests, stops it |
//! | `admin` | instance, databases, DDL |
//! | `builder` | dialect and types of a new database |
//! | `database` | DML |
//! | `error` | what can go wrong |

mod admin;
mod builder;
mod database;
mod error;
mod find;
mod process;

use std::io::Write as _;
use std::sync::Arc;

use tonic::transport::{Channel, Endpoint};

pub use self::builder::{DatabaseBuilder, Dialect};
pub use self::database::Database;
pub use self::error::EmulatorError;

use self::process::Server;

/// Makes the absence of the emulator an error for [`Emulator::start_or_skip`].
const REQUIRE: &str = "SPANNER_ROWS_REQUIRE_EMULATOR";

/// Google's Cloud Spanner emulator: found or started, and stopped afterwards.
///
/// In this order it takes
///
/// 1. the emulator that the environment variable `SPANNER_EMULATOR_HOST` names as `host:port`, which is left running;
/// 2. the program `emulator_main` in a folder of `PATH`;
/// 3. the one of the Google Cloud SDK (component `cloud-spanner-emulator`), whose folder is `CLOUDSDK_ROOT_DIR` or where `gcloud` in `PATH` leads to.
///
/// A program is started on a free port. All who ask within one process share it, and it stops when the last of them, databases included, is dropped.
/// Each test makes a database of its own.
///
/// ```no_run
/// use spanner_rows::testing::Emulator;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let emulator = Emulator::start().await?;
/// let database = emulator
///     .create_database(&["CREATE TABLE T (Id INT64, Name STRING(MAX)) PRIMARY KEY (Id)"])
///     .await?;
/// database.execute("INSERT INTO T (Id, Name) VALUES (1, 'one')").await?;
///
/// // … point a client at database.endpoint() and database.name().
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Emulator {
    server: Arc<Server>,
    channel: Channel,
}

impl Emulator {
    /// Finds or starts the emulator and waits until it answers.
    ///
    /// # Errors
    ///
    /// There is none ([`EmulatorError::is_absent`]), or it does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing running.
    pub async fn start() -> Result<Self, EmulatorError> {
        let server = process::start_or_share().await?;
        let endpoint = Endpoint::from_shared(server.endpoint())
            .map_err(|error| EmulatorError::failed(format!("{}: {error}", server.endpoint())))?;
        let emulator = Self {
            server,
            // Of this runtime, which the server may outlive.
            channel: endpoint.connect_lazy(),
        };
        admin::create_instance(&emulator.channel).await?;
        Ok(emulator)
    }

    /// As [`start`](Self::start), for tests that are to be passed over where there is no emulator: says so on standard error and answers `None`.
    ///
    /// ```no_run
    /// # use spanner_rows::testing::Emulator;
    /// #[tokio::test]
    /// async fn reads_what_was_written() {
    ///     let Some(emulator) = Emulator::start_or_skip().await else { return };
    ///     // …
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If there is an emulator but it does not work; also if there is none and the environment variable `SPANNER_ROWS_REQUIRE_EMULATOR` is `1`.
    pub async fn start_or_skip() -> Option<Self> {
        match Self::start().await {
            Ok(emulator) => Some(emulator),
            Err(error) if error.is_absent() => {
                let required = std::env::var_os(REQUIRE).is_some_and(|value| value == "1");
                assert!(!required, "{REQUIRE} is 1, but {error}");
                let thread = std::thread::current();
                let test = thread.name().unwrap_or("a test");
                // Past the capture of test output: a test passed over is to be seen.
                let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Where it listens, as `http://host:port`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.server.endpoint()
    }

    /// Where it listens, as `host:port`: the form of `SPANNER_EMULATOR_HOST`.
    #[must_use]
    pub fn host(&self) -> &str {
        self.server.host()
    }

    /// Makes an empty GoogleSQL database with a name of its own and runs these DDL statements on it, all or none.
    ///
    /// [`new_database`](Self::new_database) makes others.
    ///
    /// # Errors
    ///
    /// The emulator refuses a statement; the error has its words.
    ///
    /// # Cancel safety
    ///
    /// A database may remain, which nobody knows.
    pub async fn create_database(&self, ddl: &[&str]) -> Result<Database, EmulatorError> {
        self.new_database().ddl(ddl).create().await
    }

    /// A database of the PostgreSQL dialect, or one with PROTO and ENUM types.
    pub fn new_database(&self) -> DatabaseBuilder {
        DatabaseBuilder::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
