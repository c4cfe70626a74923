//! Settings of a client, and its first connection.

use std::sync::Arc;
use std::time::Duration;

use super::database::DatabaseName;
use super::headers::Headers;
use super::options::{DirectedReads, Priority};
use super::session::Sessions;
use super::settings::Defaults;
use super::{Client, Inner};
use crate::error::Error;
use crate::result::retry::RetrySettings;
use crate::transport::Transport;
use crate::transport::channel::TonicTransport;
use crate::transport::endpoint::{EMULATOR_VARIABLE, Endpoint};
use crate::transport::settings::ConnectionSettings;

/// Switches end-to-end tracing on, if it is `true`; known to all clients of Spanner.
const TRACING_VARIABLE: &str = "SPANNER_ENABLE_END_TO_END_TRACING";

/// Settings of a [`Client`], made by [`Client::builder`].
///
/// ```no_run
/// # async fn example() -> Result<(), spanner_rows::Error> {
/// use spanner_rows::Client;
///
/// let client = Client::builder("projects/p/instances/i/databases/d")
///     .endpoint("127.0.0.1:9010")
///     .connect()
///     .await?;
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `connect` is called"]
pub struct ClientBuilder {
    database: String,
    endpoint: Option<String>,
    role: String,
    retry: RetrySettings,
    defaults: Defaults,
    end_to_end_tracing: Option<bool>,
    connection: ConnectionSettings,
}

impl ClientBuilder {
    pub(crate) fn new(database: String) -> Self {
        Self {
            database,
            endpoint: None,
            role: String::new(),
            retry: RetrySettings::default(),
            defaults: Defaults::default(),
            end_to_end_tracing: None,
            connection: ConnectionSettings::default(),
        }
    }

    /// The address of the server, `host:port`. It goes before the environment
    /// variable `SPANNER_EMULATOR_HOST`.
    ///
    /// This version connects without TLS, so it must be an address of this
    /// machine: `127.0.0.0/8`, `[::1]` or `localhost`.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// The database role whose rights reads have (`Session.creator_role`); by
    /// default the caller's own rights.
    pub fn database_role(mut self, role: impl Into<String>) -> Self {
        self.role = role.into();
        self
    }

    /// When a broken result stream is taken up again, and what is held until then.
    ///
    /// A single request may have settings of its own ([`Query::retry`](crate::Query::retry),
    /// [`Read::retry`](crate::Read::retry)).
    pub fn retry(mut self, retry: RetrySettings) -> Self {
        self.retry = retry;
        self
    }

    /// How important queries and reads are beside others, unless they say otherwise
    /// themselves ([`Query::priority`](crate::Query::priority)).
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.defaults.priority = Some(priority);
        self
    }

    /// Which replicas may serve queries and reads that do not say otherwise themselves
    /// ([`Query::directed_reads`](crate::Query::directed_reads)).
    pub fn directed_reads(mut self, replicas: DirectedReads) -> Self {
        self.defaults.directed_reads = Some(replicas);
        self
    }

    /// The version of the optimizer that is to plan queries, a number or `latest`
    /// (`QueryOptions.optimizer_version`); by default that of the database.
    pub fn optimizer_version(mut self, version: impl Into<String>) -> Self {
        self.defaults.optimizer.version = version.into();
        self
    }

    /// The statistics package by which queries are to be planned
    /// (`QueryOptions.optimizer_statistics_package`); by default that of the database.
    pub fn optimizer_statistics_package(mut self, package: impl Into<String>) -> Self {
        self.defaults.optimizer.statistics_package = package.into();
        self
    }

    /// Whether the service records its own part of traces
    /// (header `x-goog-spanner-end-to-end-tracing`). Unless this says otherwise, the
    /// environment variable `SPANNER_ENABLE_END_TO_END_TRACING` does, if it is `true`.
    pub const fn end_to_end_tracing(mut self, enabled: bool) -> Self {
        self.end_to_end_tracing = Some(enabled);
        self
    }

    /// How long making a connection may take; more than zero. Default: 10 s.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connection.connect_timeout = time;
        self
    }

    /// How often the server is asked for a sign of life (an HTTP/2 PING), also
    /// while no request runs; more than zero. Default: 120 s.
    ///
    /// A connection whose server does not answer for
    /// [`keep_alive_timeout`](Self::keep_alive_timeout) is given up: its streams
    /// are taken up again on another one. Servers may refuse clients that ask
    /// more often than every 10 s or so.
    pub const fn keep_alive_interval(mut self, time: Duration) -> Self {
        self.connection.keep_alive_interval = time;
        self
    }

    /// How long to wait for the answer to a
    /// [sign-of-life request](Self::keep_alive_interval); more than zero. Default: 20 s.
    pub const fn keep_alive_timeout(mut self, time: Duration) -> Self {
        self.connection.keep_alive_timeout = time;
        self
    }

    /// How many bytes the server may send ahead on one result stream that is not
    /// read (SETTINGS_INITIAL_WINDOW_SIZE), 65,535 to 2,147,483,647. Default: 2 MiB.
    ///
    /// The memory of a stream is bounded by this, what is
    /// [held back](RetrySettings::hold_bytes), and one row. A path with a long
    /// round trip needs bandwidth × round-trip time to be used in full.
    pub const fn stream_window(mut self, bytes: u32) -> Self {
        self.connection.stream_window = bytes;
        self
    }

    /// How many bytes the server may send ahead on all streams of a connection
    /// together, 65,535 to 2,147,483,647. Default: 2,147,483,647.
    ///
    /// With a small one, streams that nobody reads for a while hold up all others
    /// on the connection: prefer to lower [`stream_window`](Self::stream_window).
    pub const fn connection_window(mut self, bytes: u32) -> Self {
        self.connection.connection_window = bytes;
        self
    }

    /// The largest HTTP/2 frame that the server may send
    /// (SETTINGS_MAX_FRAME_SIZE), 16,384 to 16,777,215 bytes. Default: 64 KiB.
    ///
    /// With the default a message of usual size comes in one frame and is not
    /// copied together. Larger frames let one stream block others for longer.
    pub const fn frame_size(mut self, bytes: u32) -> Self {
        self.connection.frame_size = bytes;
        self
    }

    /// Connects and makes the session that all reads use.
    ///
    /// # Errors
    ///
    /// A setting cannot be used ([`ErrorKind::Config`](crate::ErrorKind::Config));
    /// the server cannot be reached within half a minute or has no such
    /// database ([`ErrorKind::Status`](crate::ErrorKind::Status)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a session that is then not used expires on the server.
    pub async fn connect(self) -> Result<Client, Error> {
        // What can be told without a server is told first.
        DatabaseName::parse(&self.database)?;
        let emulator = std::env::var_os(EMULATOR_VARIABLE);
        let endpoint = Endpoint::resolve(self.endpoint.as_deref(), emulator.as_deref())?;
        let transport = TonicTransport::new(&endpoint, &self.connection)?;
        let client = self.build(Arc::new(transport), endpoint.to_string())?;
        client.session().await?;
        Ok(client)
    }

    /// A client that has no session yet.
    pub(super) fn build(
        self,
        transport: Arc<dyn Transport>,
        endpoint: String,
    ) -> Result<Client, Error> {
        let database = DatabaseName::parse(&self.database)?;
        let tracing = self.end_to_end_tracing.unwrap_or_else(|| {
            std::env::var_os(TRACING_VARIABLE)
                .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        });
        let headers = Arc::new(Headers::new(&database, tracing)?);
        let sessions = Sessions::new(transport.clone(), headers.clone(), &database, &self.role)?;
        let inner = Inner {
            database,
            endpoint,
            transport,
            headers,
            sessions,
            retry: self.retry,
            defaults: self.defaults,
        };
        Ok(Client {
            inner: Arc::new(inner),
        })
    }
}
