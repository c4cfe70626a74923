//! Settings of a client, and its first connection.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::call_headers::{Adder, CallHeaders};
use super::database::DatabaseName;
use super::headers::Headers;
use super::options::{DirectedReads, Priority};
use super::request::tag;
use super::session::{Session, Sessions};
use super::settings::Defaults;
use super::{Client, Inner};
use crate::error::Error;
use crate::observe;
use crate::result::retry::RetrySettings;
use crate::transport::channel::TonicTransport;
use crate::transport::credentials::Source;
use crate::transport::endpoint::{EMULATOR_VARIABLE, Endpoint};
use crate::transport::settings::ConnectionSettings;
use crate::transport::tls::ClientIdentity;
use crate::transport::token::TokenSource;
use crate::transport::{Call, Lane, Method, Transport};
use crate::wire::writer::put_bytes;

/// The environment variable with the domain of the service.
const UNIVERSE_VARIABLE: &str = "GOOGLE_CLOUD_UNIVERSE_DOMAIN";

/// Switches end-to-end tracing on, if it is `true`; known to all clients of Spanner.
const TRACING_VARIABLE: &str = "SPANNER_ENABLE_END_TO_END_TRACING";
/// `GetSessionRequest.name`
const SESSION_NAME: u8 = tag(1);
/// How long to wait for connections that are made ahead of their use.
const WARM_UP_LIMIT: Duration = Duration::from_secs(30);

/// Settings of a [`Client`], made by [`Client::builder`].
///
/// # Which server, and how it is spoken to
///
/// | what is said | server | TLS | credentials |
/// |---|---|---|---|
/// | nothing | `spanner.googleapis.com:443` | yes | yes |
/// | [`universe_domain`](Self::universe_domain) | `spanner.` and the domain, port 443 | yes | yes |
/// | [`endpoint`](Self::endpoint) `host:port`, `https://host:port` | that one | yes | yes |
/// | `endpoint` with an address of this machine | that one | no | given ones only |
/// | `SPANNER_EMULATOR_HOST`, and no `endpoint` | the emulator there | no | never |
///
/// Credentials never go to another machine in plain text. By default they are
/// Application Default Credentials (feature `auth`); see `credentials`,
/// [`token_source`](Self::token_source) and
/// [`without_credentials`](Self::without_credentials). `Debug` of the builder and of the client shows neither tokens nor keys.
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
    observing: observe::Settings,
    adder: Option<Adder>,
    end_to_end_tracing: Option<bool>,
    route_to_leader: bool,
    connection: ConnectionSettings,
    warm_up: bool,
    universe: Option<String>,
    credentials: Choice,
}

/// Which credentials are to be used.
#[derive(Clone, Debug)]
enum Choice {
    /// Application Default Credentials, where TLS is spoken.
    Usual,
    None,
    Given(Source),
}

impl ClientBuilder {
    pub(crate) fn new(database: String) -> Self {
        Self {
            database,
            endpoint: None,
            role: String::new(),
            retry: RetrySettings::default(),
            defaults: Defaults::default(),
            observing: observe::Settings::default(),
            adder: None,
            end_to_end_tracing: None,
            route_to_leader: true,
            connection: ConnectionSettings::default(),
            warm_up: false,
            universe: None,
            credentials: Choice::Usual,
        }
    }

    /// The address of the server, `host:port` or `https://host:port`: a regional
    /// or private endpoint, a proxy, a fake server. It goes before the environment
    /// variable `SPANNER_EMULATOR_HOST`.
    ///
    /// Addresses of this machine (`127.0.0.0/8`, `[::1]`, `localhost`) are spoken to
    /// in plain text unless `https://` stands before them, all others over TLS.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// The domain of the cloud that the database is in, for the address
    /// `spanner.<domain>:443`. Default: the environment variable
    /// `GOOGLE_CLOUD_UNIVERSE_DOMAIN`, or else `googleapis.com`.
    ///
    /// An [`endpoint`](Self::endpoint) goes before it.
    pub fn universe_domain(mut self, domain: impl Into<String>) -> Self {
        self.universe = Some(domain.into());
        self
    }

    /// Certificates, in PEM form, of those who may vouch for the server, in place
    /// of the roots that the platform trusts. May be called several times.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.connection.tls.roots.push(pem.into());
        self
    }

    /// The certificate that the client shows (mutual TLS) with those between it and
    /// its root, and its private key (PKCS #8, PKCS #1 or SEC 1), all in PEM form.
    pub fn client_certificate(
        mut self,
        chain_pem: impl Into<Vec<u8>>,
        key_pem: impl Into<Vec<u8>>,
    ) -> Self {
        let (chain, key) = (chain_pem.into(), key_pem.into());
        self.connection.tls.identity = Some(ClientIdentity { chain, key });
        self
    }

    /// The name that the server's certificate must be for, when that is not the
    /// host of the [`endpoint`](Self::endpoint): behind a tunnel, say.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.connection.tls.server_name = Some(name.into());
        self
    }

    /// Credentials of google-cloud-auth, which a program that uses other clients
    /// of Google's has already; default: Application Default Credentials.
    ///
    /// They keep and renew their tokens themselves, and say which project pays.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use google_cloud_auth::credentials::Builder;
    /// use spanner_rows::Client;
    ///
    /// let credentials = Builder::default()
    ///     .with_scopes(["https://www.googleapis.com/auth/spanner.data"])
    ///     .with_quota_project_id("payer")
    ///     .build()?;
    /// let client = Client::builder("projects/p/instances/i/databases/d")
    ///     .credentials(credentials)
    ///     .connect()
    ///     .await?;
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    #[cfg_attr(docsrs, doc(cfg(feature = "auth")))]
    pub fn credentials(mut self, credentials: google_cloud_auth::credentials::Credentials) -> Self {
        self.credentials = Choice::Given(Source::Google(credentials));
        self
    }

    /// Access tokens from the program, in place of Application Default Credentials.
    pub fn token_source(mut self, source: impl TokenSource + 'static) -> Self {
        self.credentials = Choice::Given(Source::Program(Arc::new(source)));
        self
    }

    /// Sends no credentials: to a proxy that adds them, or to a server that knows
    /// the client by its [certificate](Self::client_certificate).
    pub fn without_credentials(mut self) -> Self {
        self.credentials = Choice::None;
        self
    }

    /// How many connections to the server there may be, 1 to 256. Default: 4, and 1
    /// where plain text is spoken.
    ///
    /// A request takes the connection on which the fewest run
    /// ([`streams_per_channel`](Self::streams_per_channel)); one that is not
    /// there, or no longer, is made when a request takes it. Google's front ends run
    /// 100 requests at once on a connection, more wait: a program that keeps *n* result
    /// streams open needs *n* / 100. Each connection uses at most one core.
    pub const fn channels(mut self, channels: usize) -> Self {
        self.connection.channels = Some(channels);
        self
    }

    /// How many requests run on one of the [`channels`](Self::channels) before the next
    /// one takes any, 1 or more. Default: 1, which spreads them evenly.
    ///
    /// Prefer more (up to 100, which is what Google's front ends run at once) in programs
    /// of which there are very many and whose requests are short: they then keep fewer
    /// connections. When all channels have so many, requests are spread evenly again.
    pub const fn streams_per_channel(mut self, streams: usize) -> Self {
        self.connection.streams_per_channel = streams;
        self
    }

    /// Makes all [`channels`](Self::channels) in [`connect`](Self::connect), so that no
    /// request waits for one later. Default: no, each is made when it is first used.
    ///
    /// One that cannot be made is no error: it is tried again when it is used.
    pub const fn warm_up(mut self, all: bool) -> Self {
        self.warm_up = all;
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

    /// Has a closure add headers to each request, such as `traceparent` by which the service
    /// joins its part of a trace ([`end_to_end_tracing`](Self::end_to_end_tracing)).
    ///
    /// It is called once in [`connect`](Self::connect), and once for each request, whose
    /// attempts all have the same headers; then the span of the request is the current one
    /// (feature `tracing`). It must not block.
    ///
    /// ```no_run
    /// # fn current_trace() -> (String, String) { Default::default() }
    /// # async fn example() -> Result<(), spanner_rows::Error> {
    /// use spanner_rows::Client;
    ///
    /// let client = Client::builder("projects/p/instances/i/databases/d")
    ///     .end_to_end_tracing(true)
    ///     .call_headers(|headers| {
    ///         let (trace, span) = current_trace();
    ///         headers.insert("traceparent", &format!("00-{trace}-{span}-01"));
    ///     });
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_headers(mut self, add: impl Fn(&mut CallHeaders) + Send + Sync + 'static) -> Self {
        self.adder = Some(Adder::new(add));
        self
    }

    /// Whether spans and events have the text of statements (`db.query.text`) and the words of
    /// the server's errors, which may hold keys and values of rows. Default: no. The values of
    /// parameters are never told.
    #[cfg(feature = "tracing")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
    pub const fn trace_texts(mut self, enabled: bool) -> Self {
        self.observing.texts = enabled;
        self
    }

    /// Whether what only a leader can do (read-write transactions, commits, partitioned DML,
    /// making the session) asks to be sent to one at once
    /// (header `x-goog-spanner-route-to-leader`). Default: yes. Without it another region
    /// may take the request first and pass it on. Other queries and reads never ask for it.
    pub const fn route_to_leader(mut self, enabled: bool) -> Self {
        self.route_to_leader = enabled;
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
    /// A setting cannot be used, or there are no credentials
    /// ([`ErrorKind::Config`](crate::ErrorKind::Config)); the server cannot be reached
    /// within half a minute, has no such database, or one side does not accept the
    /// other's certificate, which is told at once
    /// ([`ErrorKind::Status`](crate::ErrorKind::Status)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a session that is then not used expires on the server.
    pub async fn connect(self) -> Result<Client, Error> {
        // What can be told without a server is told first.
        DatabaseName::parse(&self.database)?;
        let emulator = std::env::var_os(EMULATOR_VARIABLE);
        let variable = || std::env::var(UNIVERSE_VARIABLE).ok();
        let universe = self.universe.clone().or_else(variable);
        let universe = universe.as_deref().filter(|domain| !domain.is_empty());
        let endpoint = Endpoint::resolve(self.endpoint.as_deref(), emulator.as_deref(), universe)?;
        let credentials = self.credentials.of(&endpoint, universe)?;
        let transport = TonicTransport::new(&endpoint, &self.connection, credentials)?;
        let warm_up = self.warm_up;
        let client = self.build(Arc::new(transport), endpoint.to_string())?;
        let session = client.session().await?;
        if warm_up {
            client.warm_up(&session).await?;
        }
        Ok(client)
    }

    /// A client that has no session yet.
    pub(super) fn build(
        self,
        transport: Arc<dyn Transport>,
        endpoint: String,
    ) -> Result<Client, Error> {
        let database = DatabaseName::parse(&self.database)?;
        observe::describe();
        let tracing = self.end_to_end_tracing.unwrap_or_else(|| {
            std::env::var_os(TRACING_VARIABLE)
                .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        });
        let headers = Arc::new(Headers::new(
            &database,
            tracing,
            self.route_to_leader,
            self.adder,
        )?);
        let sessions = Sessions::new(
            transport.clone(),
            headers.clone(),
            &database,
            &self.role,
            self.observing,
        )?;
        let inner = Inner {
            database,
            endpoint,
            transport,
            headers,
            sessions,
            retry: self.retry,
            defaults: self.defaults,
            observing: self.observing,
        };
        Ok(Client {
            inner: Arc::new(inner),
        })
    }
}

impl Client {
    /// Has a call that costs the server nothing run on each connection at once.
    async fn warm_up(&self, session: &Session) -> Result<(), Error> {
        let Inner {
            transport, headers, ..
        } = &*self.inner;
        let mut body = Vec::new();
        put_bytes(&mut body, SESSION_NAME, session.name().as_bytes());
        let body = Bytes::from(body);
        // They end with this future.
        let mut calls = JoinSet::new();
        for _ in 0..transport.channels() {
            let id = headers.new_request().attempt(1);
            let call = transport.unary(Call {
                method: Method::GetSession,
                headers: headers.of_read(session.params(), &id)?,
                body: body.clone(),
                lane: Lane::Any,
            });
            calls.spawn(timeout(WARM_UP_LIMIT, call));
        }
        // Whatever they end with, the next request that needs the connection will see.
        while calls.join_next().await.is_some() {}
        Ok(())
    }
}

impl Choice {
    /// What goes to this endpoint.
    fn of(&self, endpoint: &Endpoint, universe: Option<&str>) -> Result<Option<Source>, Error> {
        match self {
            _ if endpoint.is_emulator() => Ok(None),
            Self::None => Ok(None),
            Self::Given(source) => Ok(Some(source.clone())),
            Self::Usual if endpoint.is_tls() => usual(universe).map(Some),
            Self::Usual => Ok(None),
        }
    }
}

#[cfg(feature = "auth")]
fn usual(universe: Option<&str>) -> Result<Source, Error> {
    crate::transport::credentials::google::default(universe).map(Source::Google)
}

#[cfg(not(feature = "auth"))]
fn usual(_: Option<&str>) -> Result<Source, Error> {
    Err(Error::config(
        "the client has no credentials: switch the feature `auth` of spanner-rows on for Application \
         Default Credentials, or use `ClientBuilder::token_source` or `without_credentials`",
    ))
}
