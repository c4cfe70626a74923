//! An export for one test, in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use export::Failure;
use export::columns::Resolution;
use export::export::{Export, Progress, Report};
use export::options::all_of;
use export::source::TABLE;
use spanner_rows::Client;

/// A folder that is gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("spanner-export-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The files in it, but for the lock.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.ends_with(".lock")).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn export(folder: &Folder) -> Export {
    Export {
        sql: all_of(TABLE),
        folder: folder.path().to_owned(),
        parallel: 3,
        partitions: Some(8),
        data_boost: false,
        timestamps: Resolution::Micros,
        restart: false,
    }
}

pub(crate) async fn run(export: &Export, client: &Client) -> Result<Report, Failure> {
    export.run(client, Arc::new(Progress::default())).await
}
