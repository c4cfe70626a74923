//! One part of the table becomes one Parquet file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use spanner_rows::{Row, RowBatch, RowType};

use crate::Failure;
use crate::columns::{self, Batch, Resolution};
use crate::manifest::{Done, Folder, Manifest};

/// Rows go to the Parquet writer in batches of this many, or of this many bytes.
const ROWS_PER_BATCH: usize = 8 * 1024;
const BYTES_PER_BATCH: usize = 4 << 20;

/// The writer holds a group of rows, compressed, until it has about this many bytes.
/// Times the parallelism this is the memory of an export.
const BYTES_PER_GROUP: usize = 32 << 20;

/// A file that is being written. Until it is finished it has another name; dropped before,
/// it leaves that one behind, which the next attempt writes over.
#[derive(Debug)]
pub struct PartFile {
    part: usize,
    temporary: PathBuf,
    path: PathBuf,
    writer: ArrowWriter<File>,
    batch: Batch,
    rows: u64,
}

impl PartFile {
    /// # Errors
    ///
    /// A column that Parquet cannot hold; or what the file system says.
    pub fn create(
        folder: &Path,
        part: usize,
        row_type: &RowType,
        resolution: Resolution,
    ) -> Result<Self, Failure> {
        let path = folder.join(Manifest::file_name(part));
        let temporary = path.with_extension("parquet.tmp");
        let schema = Arc::new(columns::schema(row_type, resolution)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let file = File::create(&temporary)
            .map_err(|error| format!("{}: {error}", temporary.display()))?;
        Ok(Self {
            part,
            writer: ArrowWriter::try_new(file, schema.clone(), Some(properties))?,
            temporary,
            path,
            batch: Batch::new(schema),
            rows: 0,
        })
    }

    /// Adds rows, and writes what has become a batch. This computes and writes files: call
    /// it where that holds nobody up.
    pub fn append(&mut self, rows: &RowBatch<Row<'static>>) -> Result<(), Failure> {
        for row in rows {
            self.batch.append(&row?)?;
            self.rows += 1;
            if self.batch.rows() >= ROWS_PER_BATCH || self.batch.bytes() >= BYTES_PER_BATCH {
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.writer.write(&self.batch.finish()?)?;
        if self.writer.in_progress_size() >= BYTES_PER_GROUP {
            self.writer.flush()?;
        }
        Ok(())
    }

    /// Writes what is left, and gives the file its name.
    pub fn finish(mut self, folder: &Folder) -> Result<Done, Failure> {
        if self.batch.rows() > 0 {
            self.write()?;
        }
        let file = self.writer.into_inner()?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        fs::rename(&self.temporary, &self.path)?;
        folder.sync()?;
        Ok(Done {
            part: self.part,
            rows: self.rows,
            bytes,
            cut: self.batch.cut(),
        })
    }
}
