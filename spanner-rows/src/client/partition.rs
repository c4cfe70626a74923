//! Results in parts.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use prost::Message as _;
use tokio::time::Instant;

use super::kind::if_lost;
use super::origin::Origin;
use super::read_only::ReadOnlyBuilder;
use super::request::{ReadCall, body, put_integer, tag};
use super::session::Session;
use super::settings::CallSettings;
use super::snapshot::Begun;
use super::unary::{Failed, Unary};
use crate::error::{Code, Error, Status};
use crate::proto::spanner::PartitionResponse;
use crate::transport::{Lane, Method};
use crate::types::timestamp::Timestamp;
use crate::wire::writer::{put_bytes, with_length};

/// Field `partition_options` of `PartitionQueryRequest` and of `PartitionReadRequest`.
const OF_QUERY: u8 = tag(6);
const OF_READ: u8 = tag(9);

/// Fields of `google.spanner.v1.PartitionOptions`.
const PARTITION_SIZE_BYTES: u8 = 1;
const MAX_PARTITIONS: u8 = 2;

/// Field `partition_token` of `ExecuteSqlRequest` and of `ReadRequest`.
const TOKEN_OF_QUERY: u8 = tag(8);
const TOKEN_OF_READ: u8 = tag(10);

/// How long one attempt to split a result may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How a result is to be split; both are hints that the server may not follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct PartitionOptions {
    size: u64,
    count: u64,
}

impl PartitionOptions {
    /// As the server finds fit.
    pub const fn new() -> Self {
        Self { size: 0, count: 0 }
    }

    /// About how many bytes a part is to have (`PartitionOptions.partition_size_bytes`);
    /// the service's default is 1 GiB.
    pub const fn partition_size(mut self, bytes: u64) -> Self {
        self.size = bytes;
        self
    }

    /// About how many parts there are to be (`PartitionOptions.max_partitions`), such as
    /// a few for each task that reads them; 1 to 200,000, by default 10,000.
    pub const fn max_partitions(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    fn encode(self, out: &mut Vec<u8>) {
        let within = |n: u64| n.min(i64::MAX as u64);
        put_integer(out, PARTITION_SIZE_BYTES, within(self.size));
        put_integer(out, MAX_PARTITIONS, within(self.count));
    }
}

/// A part of a result, made by [`Query::partitions`](crate::Query::partitions) and
/// [`Read::partitions`](crate::Read::partitions).
///
/// All parts together are the result, each row in one of them. They can be read at the
/// same time and by any machine that may read the database: as text
/// ([`Display`](fmt::Display) and [`FromStr`](std::str::FromStr)), as bytes
/// ([`to_bytes`](Self::to_bytes)), or with serde (feature `serde`) a part goes wherever
/// it is to be read. The form has a version; later versions of this crate read it.
///
/// A part holds the query with the values of its parameters, no credentials. It can be
/// read as long as its session and its transaction last: a part that nobody has begun to
/// read for an hour is lost, and so is one whose version of the data has been collected
/// (`version_retention_period`, by default an hour, too).
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client) -> Result<(), spanner_rows::Error> {
/// use spanner_rows::{PartitionOptions, RowStream};
///
/// let query = client.query("SELECT SingerId, FirstName FROM Singers").data_boost(true);
/// let partitions = query.partitions(PartitionOptions::new()).await?;
/// let read = client.read_partitions(partitions).parallelism(8);
/// read.for_each(async |_, mut rows: RowStream<(i64, &str)>| {
///     while let Some((id, name)) = rows.next().await? {
///         println!("{id} {name}");
///     }
///     Ok::<_, spanner_rows::Error>(())
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Partition {
    pub(super) database: String,
    pub(super) session: String,
    /// The content of `TransactionSelector`, with the id.
    pub(super) selector: Vec<u8>,
    pub(super) read_timestamp: Option<Timestamp>,
    pub(super) kind: Kind,
    /// The fields of the request but session, transaction and token; of all parts the same.
    pub(super) fields: Bytes,
    pub(super) token: Bytes,
}

/// What was split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Query,
    Read,
}

impl Kind {
    pub(super) const fn token_tag(self) -> u8 {
        match self {
            Self::Query => TOKEN_OF_QUERY,
            Self::Read => TOKEN_OF_READ,
        }
    }
}

impl Partition {
    /// The database, `projects/P/instances/I/databases/D`.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The point in time at which the result is read.
    #[must_use]
    pub const fn read_timestamp(&self) -> Option<Timestamp> {
        self.read_timestamp
    }
}

impl fmt::Debug for Partition {
    /// Without the values of parameters and keys, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partition")
            .field("database", &self.database)
            .field("kind", &self.kind)
            .field("read_timestamp", &self.read_timestamp)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

/// Splits a result. `call` is how it would be read as a whole, and `statement` what of
/// its fields says which rows these are.
pub(super) async fn split(
    origin: &Origin,
    call: ReadCall,
    statement: Vec<u8>,
    settings: &CallSettings,
    options: PartitionOptions,
) -> Result<Vec<Partition>, Error> {
    let client = origin.client();
    let transaction = match origin {
        Origin::ReadOnly(transaction) => transaction.clone(),
        Origin::ReadWrite(_) => {
            return Err(Error::config(
                "a result can be split in a read-only transaction, not in one that writes: ask `Client::read_only` for one",
            ));
        }
        Origin::Client(_) => {
            let bound = settings.bound.unwrap_or_default();
            ReadOnlyBuilder::new(client.clone())
                .timestamp_bound(bound)
                .start()?
        }
    };
    let started = Instant::now();
    let retry = settings.retry_over(&client.inner.retry);
    let begun = transaction.snapshot.begin(&retry).await?;
    let (kind, method, options_tag) = match call.method {
        Method::StreamingRead => (Kind::Read, Method::PartitionRead, OF_READ),
        _ => (Kind::Query, Method::PartitionQuery, OF_QUERY),
    };
    let mut request = statement;
    request.push(options_tag);
    with_length(&mut request, |out| options.encode(out));
    let unary = Unary {
        inner: &client.inner,
        method,
        leader: false,
        lane: Lane::Any,
        session: &begun.session,
        body: body(&begun.session, &begun.selector, &request),
        retry: &retry,
        limit: LIMIT,
        deadline: retry.total().and_then(|time| started.checked_add(time)),
        scope: &begun.scope,
    };
    let answer = unary.send().await.map_err(|failed| {
        let Failed {
            status, attempts, ..
        } = failed;
        Error::status(if_lost(status), attempts)
    })?;
    let tokens = read_response(&answer).map_err(|status| Error::status(status, 1))?;
    // The parts are read in it, here or elsewhere.
    begun.session.keep();
    Ok(partitions(
        client.database(),
        &begun,
        kind,
        call.fields,
        tokens,
    ))
}

fn partitions(
    database: &str,
    begun: &Begun,
    kind: Kind,
    fields: Vec<u8>,
    tokens: Vec<Bytes>,
) -> Vec<Partition> {
    let fields = Bytes::from(fields);
    let partition = |token| Partition {
        database: database.to_owned(),
        session: begun.session.name().to_owned(),
        selector: begun.selector.clone(),
        read_timestamp: begun.read_timestamp,
        kind,
        fields: fields.clone(),
        token,
    };
    tokens.into_iter().map(partition).collect()
}

fn read_response(answer: &Bytes) -> Result<Vec<Bytes>, Status> {
    let response = PartitionResponse::decode(answer.clone());
    let response = response.map_err(|error| {
        Status::new(
            Code::Internal,
            format!("the partitions cannot be read: {error}"),
        )
    })?;
    let tokens = response.partitions.into_iter();
    let tokens: Vec<Bytes> = tokens.map(|partition| partition.partition_token).collect();
    // Read without a token it would be all rows, and they would come twice.
    if tokens.iter().any(Bytes::is_empty) {
        let text = "a partition came without a token (Partition.partition_token)";
        return Err(Status::new(Code::Internal, text));
    }
    Ok(tokens)
}

impl Partition {
    /// The request that reads the part.
    pub(super) fn request(&self, session: &Session) -> Bytes {
        let mut fields = Vec::with_capacity(self.fields.len() + self.token.len() + 8);
        fields.extend_from_slice(&self.fields);
        put_bytes(&mut fields, self.kind.token_tag(), &self.token);
        body(session, &self.selector, &fields)
    }
}
