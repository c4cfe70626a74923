//! What an interrupted export needs to know, in two files beside the parts.
//!
//! `manifest.json` is written once, before anything is read: which parts there are, and at
//! which timestamp. `done.jsonl` grows by a line for each part whose file is complete. A
//! line that a crash cut in half is no line, and its part is read again.
//!
//! The order is what makes it safe: the file of a part is written under another name,
//! synced and renamed, and only then is its line written. So a part is done or not, and
//! one that is read twice replaces its file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use spanner_rows::Partition;

use crate::Failure;
use crate::columns::Resolution;

const MANIFEST: &str = "manifest.json";
const DONE: &str = "done.jsonl";
const LOCK: &str = "export.lock";
const VERSION: u32 = 1;

/// An export: what is read, and in which parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    version: u32,
    pub database: String,
    pub sql: String,
    /// The state of the database that all parts are read at.
    pub read_timestamp: String,
    pub timestamps: Resolution,
    pub data_boost: bool,
    /// `Partition` as text: any machine that may read the database can read it.
    pub partitions: Vec<Partition>,
}

impl Manifest {
    pub fn new(
        database: &str,
        sql: &str,
        timestamps: Resolution,
        data_boost: bool,
        partitions: Vec<Partition>,
    ) -> Self {
        let read_timestamp = partitions.first().and_then(Partition::read_timestamp);
        Self {
            version: VERSION,
            database: database.to_owned(),
            sql: sql.to_owned(),
            read_timestamp: read_timestamp
                .map(|time| time.to_string())
                .unwrap_or_default(),
            timestamps,
            data_boost,
            partitions,
        }
    }

    /// The name of a part's file.
    pub fn file_name(part: usize) -> String {
        format!("part-{part:05}.parquet")
    }
}

/// A part whose file is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub part: usize,
    pub rows: u64,
    pub bytes: u64,
    /// Timestamps that were cut to microseconds.
    #[serde(default)]
    pub cut: u64,
}

/// The folder of an export, which only one process writes to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Locked until it is dropped, also by a crash.
    _lock: File,
}

impl Folder {
    /// Makes the folder if it is not there, and takes it for this process.
    ///
    /// # Errors
    ///
    /// Another export writes to it; or what the file system says.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let at = |error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(path).map_err(at)?;
        let lock = File::create(path.join(LOCK)).map_err(at)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(fs::TryLockError::WouldBlock) => Err(format!(
                "{}: another export writes to this folder; wait for it, or choose another `--out`",
                path.display()
            )
            .into()),
            Err(fs::TryLockError::Error(error)) => Err(at(error).into()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The export that was begun here.
    ///
    /// # Errors
    ///
    /// The manifest cannot be read, or is one of another version.
    pub fn manifest(&self) -> Result<Option<Manifest>, Failure> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display()).into()),
        };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| {
            format!(
                "{}: {error}; `--restart` begins the export anew",
                path.display()
            )
        })?;
        if manifest.version != VERSION {
            return Err(format!(
                "{} has the version {}, and this is version {VERSION}; `--restart` begins the export anew",
                path.display(),
                manifest.version
            )
            .into());
        }
        Ok(Some(manifest))
    }

    /// Begins an export.
    pub fn begin(&self, manifest: &Manifest) -> Result<(), Failure> {
        let path = self.path.join(MANIFEST);
        let temporary = path.with_extension("json.tmp");
        let mut file = File::create(&temporary)?;
        serde_json::to_writer_pretty(&mut file, manifest)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        self.sync()
    }

    /// The parts that are done, and whose files are still there.
    pub fn done(&self, manifest: &Manifest) -> Result<BTreeMap<usize, Done>, Failure> {
        let text = match fs::read_to_string(self.path.join(DONE)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error.into()),
        };
        let mut done = BTreeMap::new();
        for line in text.lines() {
            let Ok(part) = serde_json::from_str::<Done>(line) else {
                continue;
            };
            let file = self.path.join(Manifest::file_name(part.part));
            let there = fs::metadata(file).is_ok_and(|file| file.len() == part.bytes);
            if part.part < manifest.partitions.len() && there {
                done.insert(part.part, part);
            }
        }
        Ok(done)
    }

    /// Where lines about parts that are done go to.
    pub fn journal(&self) -> Result<Journal, Failure> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path.join(DONE))?;
        // Behind a line that was cut in half a new one begins.
        file.write_all(b"\n")?;
        Ok(Journal(file))
    }

    /// Takes away what an earlier export left.
    pub fn clear(&self) -> Result<(), Failure> {
        // First what says that the others count.
        for name in [MANIFEST, DONE] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("part-")
                && (name.ends_with(".parquet") || name.ends_with(".parquet.tmp"))
            {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Makes what was renamed stay so after a power failure.
    pub fn sync(&self) -> Result<(), Failure> {
        // Only Unix opens folders as files.
        #[cfg(unix)]
        File::open(&self.path)?.sync_all()?;
        Ok(())
    }
}

/// The lines about parts that are done.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    pub fn add(&mut self, done: &Done) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(done)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        self.0.sync_data()?;
        Ok(())
    }
}
