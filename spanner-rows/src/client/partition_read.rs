//! Reading the parts of a result: one of them, or many at the same time.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::headers::RequestId;
use super::kind::if_lost;
use super::partition::{Kind, Partition};
use super::request::{Attempt, with_token};
use super::session::Session;
use super::settings::CallSettings;
use super::{Client, query, read};
use crate::error::{Code, Error, Status};
use crate::observe::{Observer, Operation};
use crate::result::batch::RowBatch;
use crate::result::retry::RetrySettings;
use crate::result::stream::RowStream;
use crate::row::traits::SpannerRow;
use crate::transport::{BoxFuture, Lane, Messages, Method, Opener};

impl Client {
    /// Reads one [`Partition`], made by this client or by another one of the same database.
    ///
    /// Prefer [`read_partitions`](Self::read_partitions) for all the parts that this
    /// machine is to read.
    ///
    /// ```no_run
    /// # async fn example(client: spanner_rows::Client, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// use spanner_rows::Partition;
    ///
    /// let partition: Partition = text.parse()?;
    /// let mut rows = client.read_partition(&partition).rows::<(i64, &str)>().await?;
    /// while let Some((id, name)) = rows.next().await? {
    ///     println!("{id} {name}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_partition(&self, partition: &Partition) -> PartitionRead {
        PartitionRead {
            client: self.clone(),
            partition: partition.clone(),
            settings: CallSettings::NONE,
        }
    }

    /// Reads many [`Partition`]s, several at a time.
    pub fn read_partitions(
        &self,
        partitions: impl IntoIterator<Item = Partition>,
    ) -> PartitionedRead {
        PartitionedRead {
            client: self.clone(),
            partitions: partitions.into_iter().collect(),
            parallelism: std::thread::available_parallelism().map_or(4, usize::from),
            settings: CallSettings::NONE,
        }
    }
}

/// The settings that both kinds of reading have.
macro_rules! methods {
    () => {
        /// When a partition is read on after a failure, and what is held back until then,
        /// in place of the [client's settings](crate::ClientBuilder::retry).
        pub fn retry(mut self, settings: RetrySettings) -> Self {
            self.settings.retry = Some(settings);
            self
        }

        /// How long reading one partition may take as a whole
        /// ([`RetrySettings::timeout`]).
        pub const fn timeout(mut self, time: Duration) -> Self {
            self.settings.timeout = Some(time);
            self
        }
    };
}

/// A partition that is to be read, made by [`Client::read_partition`].
#[derive(Clone, Debug)]
#[must_use = "nothing is read until rows are asked for"]
pub struct PartitionRead {
    client: Client,
    partition: Partition,
    settings: CallSettings,
}

impl PartitionRead {
    methods!();

    /// Sends the request and waits for the first part of the result.
    ///
    /// # Errors
    ///
    /// The server refuses the request, which it does when the session or the
    /// transaction of the partition is gone: split the result again. The columns do not
    /// fit `T` ([`ErrorKind::Bind`](crate::ErrorKind::Bind)); the partition is one of
    /// another database ([`ErrorKind::Config`](crate::ErrorKind::Config)).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the request is then cancelled, and the partition can be read again.
    pub async fn rows<T: SpannerRow>(self) -> Result<RowStream<T>, Error> {
        open(&self.client, &self.partition, &self.settings).await
    }
}

async fn open<T: SpannerRow>(
    client: &Client,
    partition: &Partition,
    settings: &CallSettings,
) -> Result<RowStream<T>, Error> {
    if partition.database != client.database() {
        return Err(Error::config(format!(
            "the partition is one of `{}`, and the client is one of `{}`",
            partition.database,
            client.database()
        )));
    }
    let started = Instant::now();
    let retry = settings.retry_over(&client.inner.retry);
    let session = Arc::new(Session::named(partition.session.clone())?);
    let request = client.inner.observe(Operation::ReadPartition);
    let observer = Observer::start(&request.started(started));
    let sender = PartitionSender {
        id: client.inner.new_request(&observer),
        body: partition.request(&session),
        client: client.clone(),
        session,
        kind: partition.kind,
        deadline: retry.total().and_then(|time| started.checked_add(time)),
    };
    let stream = RowStream::open(Box::new(sender), &retry, started, observer).await?;
    Ok(stream.reading_at(partition.read_timestamp))
}

/// Sends the request of one partition, each time from another resume token on. It is
/// tied to its session: on another one it means nothing.
struct PartitionSender {
    client: Client,
    id: RequestId,
    session: Arc<Session>,
    kind: Kind,
    body: Bytes,
    /// When the answer is no longer wanted.
    deadline: Option<Instant>,
}

impl Opener for PartitionSender {
    fn open(
        &mut self,
        resume_token: &[u8],
        attempt: u32,
    ) -> BoxFuture<'static, Result<Box<dyn Messages>, Status>> {
        let (method, token_tag) = match self.kind {
            Kind::Query => (Method::ExecuteStreamingSql, query::RESUME_TOKEN),
            Kind::Read => (Method::StreamingRead, read::RESUME_TOKEN),
        };
        let attempt = Attempt {
            client: self.client.inner.clone(),
            id: self.id.attempt(attempt),
            method,
            leader: false,
            // Parts are there to be read over all connections.
            lane: Lane::Any,
            deadline: self.deadline,
        };
        let body = with_token(&self.body, token_tag, resume_token);
        let session = self.session.clone();
        Box::pin(async move {
            let messages = attempt.send(session, body).await.map_err(if_lost)?;
            Ok(Box::new(OfPartition(messages)) as Box<dyn Messages>)
        })
    }
}

/// The answer, which cannot be had again when its session is gone.
struct OfPartition(Box<dyn Messages>);

impl Messages for OfPartition {
    fn blocks(&self) -> u64 {
        self.0.blocks()
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        self.0.poll_message(cx).map_err(if_lost)
    }
}

/// Partitions that are to be read several at a time, made by [`Client::read_partitions`].
///
/// Each is read by a task of its own; the next one begins as soon as a task is free, so
/// that large parts do not hold up small ones. All tasks of one client share its
/// connections.
#[derive(Clone, Debug)]
#[must_use = "nothing is read until rows are asked for"]
pub struct PartitionedRead {
    client: Client,
    partitions: VecDeque<Partition>,
    parallelism: usize,
    settings: CallSettings,
}

impl PartitionedRead {
    methods!();

    /// How many partitions are read at the same time, at least 1; as many as the machine
    /// has processors, unless this says otherwise.
    ///
    /// Each takes the memory of a stream ([`ClientBuilder::stream_window`](crate::ClientBuilder::stream_window)).
    pub fn parallelism(mut self, partitions: usize) -> Self {
        self.parallelism = partitions.max(1);
        self
    }

    /// Calls `each` with every partition and its rows, in tasks of their own, and waits
    /// until all are done.
    ///
    /// Prefer it to [`batches`](Self::batches) when rows can be worked on side by side.
    /// The partition is given too, so that what is done can be written down, and what is
    /// not be read again.
    ///
    /// # Errors
    ///
    /// The first error of `each`, or of beginning to read a partition. What is under way
    /// is stopped before it is told.
    ///
    /// # Panics
    ///
    /// When `each` does, with the same message.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops all tasks at their next await.
    pub async fn for_each<T, F, R, E>(self, each: F) -> Result<(), E>
    where
        T: SpannerRow + 'static,
        F: Fn(Partition, RowStream<T>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let each = Arc::new(each);
        let queue = Arc::new(Mutex::new(self.partitions));
        let settings = Arc::new(self.settings);
        let mut tasks: JoinSet<Result<(), E>> = JoinSet::new();
        for _ in 0..self.parallelism.min(count(&queue)) {
            let (each, queue) = (each.clone(), queue.clone());
            let (client, settings) = (self.client.clone(), settings.clone());
            tasks.spawn(async move {
                while let Some(partition) = next(&queue) {
                    let rows = open(&client, &partition, &settings).await?;
                    each(partition, rows).await?;
                }
                Ok(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            let ended = ended
                .map_err(stopped)
                .map_err(E::from)
                .and_then(|ended| ended);
            if ended.is_err() {
                // Nothing of `each` runs any more when the error is told.
                tasks.shutdown().await;
                return ended;
            }
        }
        Ok(())
    }

    /// The rows of all partitions in one stream of batches, in whatever order they come.
    ///
    /// Nothing is read before the first call of [`PartitionBatches::next`].
    pub fn batches<T: SpannerRow + 'static>(self) -> PartitionBatches<T> {
        PartitionBatches {
            state: State::New(Box::new(self)),
        }
    }
}

type Queue = Mutex<VecDeque<Partition>>;

fn next(queue: &Queue) -> Option<Partition> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.pop_front()
}

fn count(queue: &Queue) -> usize {
    queue.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// A task ended before its work.
#[cold]
fn stopped(error: JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => {
            let text = "the runtime that was reading the partitions is gone";
            Error::status(Status::new(Code::Cancelled, text), 1)
        }
    }
}

/// The rows of many partitions, made by [`PartitionedRead::batches`].
///
/// ```no_run
/// # async fn example(client: spanner_rows::Client, all: Vec<spanner_rows::Partition>) -> Result<(), spanner_rows::Error> {
/// let mut batches = client.read_partitions(all).batches::<(i64, &str)>();
/// while let Some(batch) = batches.next().await? {
///     for row in &batch {
///         let (id, name) = row?;
///         println!("{id} {name}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// Dropping it stops reading.
pub struct PartitionBatches<T: SpannerRow> {
    state: State<T>,
}

enum State<T: SpannerRow> {
    New(Box<PartitionedRead>),
    Reading(Reading<T>),
    Ended,
}

struct Reading<T: SpannerRow> {
    batches: mpsc::Receiver<RowBatch<T>>,
    /// They send batches, and say in the end how it went.
    tasks: JoinSet<Result<(), Error>>,
}

impl<T: SpannerRow + 'static> PartitionBatches<T> {
    /// The next rows of any partition; `None` when all rows of all have come.
    ///
    /// # Errors
    ///
    /// A partition cannot be read to its end. Everything else is then stopped, and the
    /// stream stays ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no batch is lost.
    pub async fn next(&mut self) -> Result<Option<RowBatch<T>>, Error> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RowBatch<T>>, Error>> {
        if let State::New(read) = &mut self.state {
            self.state = State::Reading(Reading::start((**read).clone()));
        }
        let State::Reading(reading) = &mut self.state else {
            return Poll::Ready(Ok(None));
        };
        let polled = reading.poll_next(cx);
        if !matches!(polled, Poll::Pending | Poll::Ready(Ok(Some(_)))) {
            self.state = State::Ended;
        }
        polled
    }
}

impl<T: SpannerRow + 'static> Reading<T> {
    fn start(read: PartitionedRead) -> Self {
        let tasks = read.parallelism.min(read.partitions.len());
        // One batch for each task waits, so that none has to wait for the reader's turn.
        let (sender, batches) = mpsc::channel(tasks.max(1));
        let queue = Arc::new(Mutex::new(read.partitions));
        let settings = Arc::new(read.settings);
        let mut reading = Self {
            batches,
            tasks: JoinSet::new(),
        };
        for _ in 0..tasks {
            let (queue, sender) = (queue.clone(), sender.clone());
            let (client, settings) = (read.client.clone(), settings.clone());
            reading.tasks.spawn(async move {
                while let Some(partition) = next(&queue) {
                    let mut rows: RowStream<T> = open(&client, &partition, &settings).await?;
                    while let Some(batch) = rows.next_batch().await? {
                        if sender.send(batch).await.is_err() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            });
        }
        reading
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RowBatch<T>>, Error>> {
        loop {
            // What was read before an error is handed out before it.
            let batch = self.batches.poll_recv(cx);
            if let Poll::Ready(Some(batch)) = batch {
                return Poll::Ready(Ok(Some(batch)));
            }
            match self.tasks.poll_join_next(cx) {
                // An error is told at once, not when the other tasks are done.
                Poll::Ready(Some(ended)) => ended.map_err(stopped)??,
                Poll::Ready(None) if batch.is_ready() => return Poll::Ready(Ok(None)),
                // The last task has ended since, and the channel with it.
                Poll::Ready(None) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Items are the batches, and at most one error, after which the stream has ended.
impl<T: SpannerRow + 'static> Stream for PartitionBatches<T> {
    type Item = Result<RowBatch<T>, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx).map(Result::transpose)
    }
}

impl<T: SpannerRow> Unpin for PartitionBatches<T> {}

impl<T: SpannerRow> fmt::Debug for PartitionBatches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionBatches").finish_non_exhaustive()
    }
}
