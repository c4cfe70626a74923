//! Settings of a client, and its first connection.

use std::sync::Arc;

use super::database::DatabaseName;
use super::headers::Headers;
use super::session::Sessions;
use super::{Client, Inner};
use crate::error::Error;
use crate::result::retry::RetrySettings;
use crate::transport::Transport;
use crate::transport::channel::TonicTransport;
use crate::transport::endpoint::{EMULATOR_VARIABLE, Endpoint};

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
}

impl ClientBuilder {
    pub(crate) fn new(database: String) -> Self {
        Self {
            database,
            endpoint: None,
            role: String::new(),
            retry: RetrySettings::default(),
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
    pub fn retry(mut self, retry: RetrySettings) -> Self {
        self.retry = retry;
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
        let transport = TonicTransport::new(&endpoint)?;
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
        let headers = Arc::new(Headers::new(&database)?);
        let sessions = Sessions::new(transport.clone(), headers.clone(), &database, &self.role)?;
        let inner = Inner {
            database,
            endpoint,
            transport,
            headers,
            sessions,
            retry: self.retry,
        };
        Ok(Client {
            inner: Arc::new(inner),
        })
    }
}
