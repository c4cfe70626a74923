//! Splits the table, reads the parts side by side, and takes up what was interrupted.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use spanner_rows::{Client, Code, Error, Partition, PartitionOptions, Row, RowStream};

use crate::Failure;
use crate::columns::Resolution;
use crate::manifest::{Done, Folder, Journal, Manifest};
use crate::part::PartFile;

/// What is to be exported, and how.
#[derive(Clone, Debug)]
pub struct Export {
    pub sql: String,
    pub folder: PathBuf,
    /// How many parts are read at the same time.
    pub parallel: usize,
    /// How many parts there should be; the server may make others.
    pub partitions: Option<u64>,
    pub data_boost: bool,
    pub timestamps: Resolution,
    /// Begin anew, whatever was begun before.
    pub restart: bool,
}

/// How far an export is, for whoever draws it.
#[derive(Debug, Default)]
pub struct Progress {
    pub parts: AtomicU64,
    pub parts_done: AtomicU64,
    pub rows: AtomicU64,
}

/// What an export came to.
#[derive(Clone, Debug)]
pub struct Report {
    pub manifest: Manifest,
    /// In the order of the parts.
    pub parts: Vec<Done>,
    /// How many parts an earlier run had done.
    pub taken_over: usize,
}

impl Report {
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    pub fn cut(&self) -> u64 {
        self.parts.iter().map(|part| part.cut).sum()
    }
}

impl Export {
    /// Runs the export, from where an earlier run of it stopped. Needs a runtime with
    /// several threads, because it compresses and writes files.
    ///
    /// # Errors
    ///
    /// The database, the file system, or a value that does not fit. What is done by then
    /// stays done: call it again.
    pub async fn run(&self, client: &Client, progress: Arc<Progress>) -> Result<Report, Failure> {
        let folder = Arc::new(Folder::open(&self.folder)?);
        if self.restart {
            folder.clear()?;
        }
        let manifest = match folder.manifest()? {
            Some(manifest) => self.taken_up(manifest, client)?,
            None => self.begun(&folder, client).await?,
        };
        let before = folder.done(&manifest)?;
        progress
            .parts
            .store(manifest.partitions.len() as u64, Ordering::Relaxed);
        progress
            .parts_done
            .store(before.len() as u64, Ordering::Relaxed);

        let mut numbers = HashMap::new();
        let mut left = Vec::new();
        for (part, partition) in manifest.partitions.iter().enumerate() {
            if !before.contains_key(&part) {
                numbers.insert(partition.to_bytes(), part);
                left.push(partition.clone());
            }
        }
        let work = Arc::new(Work {
            journal: Mutex::new(folder.journal()?),
            folder: folder.clone(),
            numbers,
            resolution: manifest.timestamps,
            progress,
        });
        // A task takes the next part as soon as it has none: a large part holds up only
        // the one that reads it.
        let read = client.read_partitions(left).parallelism(self.parallel);
        let ended = read
            .for_each(move |partition, rows| {
                let work = work.clone();
                async move { work.part(&partition, rows).await.map_err(PartError) }
            })
            .await;
        ended.map_err(|PartError(failure)| self.explained(failure, &manifest))?;

        Ok(Report {
            parts: folder.done(&manifest)?.into_values().collect(),
            taken_over: before.len(),
            manifest,
        })
    }

    /// A new export: the server splits the result.
    async fn begun(&self, folder: &Folder, client: &Client) -> Result<Manifest, Failure> {
        // Files of an export whose manifest is gone would be taken for parts of this one.
        folder.clear()?;
        let mut options = PartitionOptions::new();
        if let Some(count) = self.partitions {
            options = options.max_partitions(count);
        }
        let query = client.query(&self.sql).data_boost(self.data_boost);
        let partitions = query
            .partitions(options)
            .await
            .map_err(|error| format!("the result of `{}` cannot be split: {error}", self.sql))?;
        let manifest = Manifest::new(
            client.database(),
            &self.sql,
            self.timestamps,
            self.data_boost,
            partitions,
        );
        folder.begin(&manifest)?;
        Ok(manifest)
    }

    /// An export that was begun before: it has to be the same.
    fn taken_up(&self, manifest: Manifest, client: &Client) -> Result<Manifest, Failure> {
        let same = [
            ("database", manifest.database == client.database()),
            ("query", manifest.sql == self.sql),
            ("`--timestamps`", manifest.timestamps == self.timestamps),
            ("`--data-boost`", manifest.data_boost == self.data_boost),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            None => Ok(manifest),
            Some((what, _)) => Err(format!(
                "{}: the export that was begun here (`{}` of {}) has another {what}; choose another `--out`, or give it up with `--restart`",
                self.folder.display(),
                manifest.sql,
                manifest.database
            )
            .into()),
        }
    }

    /// Says what to do when the parts cannot be read any more.
    fn explained(&self, failure: Failure, manifest: &Manifest) -> Failure {
        let gone = failure.downcast_ref::<Error>().is_some_and(|error| {
            matches!(
                error.code(),
                Code::NotFound | Code::FailedPrecondition | Code::InvalidArgument
            )
        });
        if !gone {
            return format!(
                "{failure}\nwhat is done stays done: the same command goes on from there"
            )
            .into();
        }
        format!(
            "{failure}\nthe parts were made to be read at {}, and the server does not read them any more: it keeps a part that nobody \
             has begun for an hour, and old versions of rows as long as `version_retention_period` says. `--restart` begins the export \
             anew, at a new timestamp",
            manifest.read_timestamp
        )
        .into()
    }
}

/// What the tasks share.
struct Work {
    folder: Arc<Folder>,
    journal: Mutex<Journal>,
    numbers: HashMap<Vec<u8>, usize>,
    resolution: Resolution,
    progress: Arc<Progress>,
}

impl Work {
    async fn part(
        &self,
        partition: &Partition,
        mut rows: RowStream<Row<'static>>,
    ) -> Result<(), Failure> {
        let number = self.numbers.get(&partition.to_bytes());
        let number = *number.ok_or("a part that nobody asked for")?;
        let row_type = rows.row_type();
        let mut file = PartFile::create(self.folder.path(), number, row_type, self.resolution)?;
        while let Some(batch) = rows.next_batch().await? {
            tokio::task::block_in_place(|| file.append(&batch))?;
            self.progress
                .rows
                .fetch_add(batch.len() as u64, Ordering::Relaxed);
        }
        tokio::task::block_in_place(|| {
            let done = file.finish(&self.folder)?;
            let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.add(&done)
        })?;
        self.progress.parts_done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// What `for_each` may end with: the client's own errors, and those of a part.
struct PartError(Failure);

impl From<Error> for PartError {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}
