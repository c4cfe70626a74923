//! Reads the files back and compares them with the table.
//!
//! Each row is turned into one text, from the table as Spanner sends it and from the files
//! by way of Arrow's types back again. The number of rows and a sum of the texts' hashes,
//! which does not ask in which order they come, have to be the same.

use std::fmt::Write;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use jiff::ToSpan;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use spanner_rows::{
    Base64, Client, Numeric, Row, RowType, Timestamp, TimestampBound, Type, TypeAnnotation,
    TypeCode, Value,
};

use crate::Failure;
use crate::columns::{EPOCH, Resolution};
use crate::manifest::{Done, Manifest};

/// What there is to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    pub checksum: u64,
}

impl Sum {
    fn add(&mut self, row: &str) {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(hasher.finish());
    }
}

/// Compares an export with its table, read as it was at the export's timestamp.
///
/// # Errors
///
/// They differ; the table or a file cannot be read.
pub async fn verify(
    client: &Client,
    manifest: &Manifest,
    folder: &Path,
    parts: &[Done],
) -> Result<Sum, Failure> {
    let table = table(client, manifest).await?;
    let files = tokio::task::block_in_place(|| files(folder, parts))?;
    if parts.len() != manifest.partitions.len() {
        return Err(format!(
            "{} parts of {} are there",
            parts.len(),
            manifest.partitions.len()
        )
        .into());
    }
    if table != files {
        return Err(format!("the table has {table:?} and the files have {files:?}").into());
    }
    Ok(files)
}

async fn table(client: &Client, manifest: &Manifest) -> Result<Sum, Failure> {
    let bound = TimestampBound::ReadTimestamp(manifest.read_timestamp.parse()?);
    let query = client.query(&manifest.sql).timestamp_bound(bound);
    let mut rows = query.rows::<Row>().await?;
    let mut sum = Sum::default();
    let mut text = String::new();
    while let Some(row) = rows.next().await? {
        text.clear();
        for (value, field) in row.values().zip(row.row_type().fields()) {
            write_value(value?, field.ty(), manifest.timestamps, &mut text)?;
            text.push('\t');
        }
        sum.add(&text);
    }
    Ok(sum)
}

/// The sum of what is in the files.
pub fn files(folder: &Path, parts: &[Done]) -> Result<Sum, Failure> {
    let mut sum = Sum::default();
    let mut text = String::new();
    for part in parts {
        let before = sum.rows;
        let path = folder.join(Manifest::file_name(part.part));
        for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?.build()? {
            let batch: RecordBatch = batch?;
            for row in 0..batch.num_rows() {
                text.clear();
                for column in batch.columns() {
                    write_element(column.as_ref(), row, &mut text)?;
                    text.push('\t');
                }
                sum.add(&text);
            }
        }
        if sum.rows - before != part.rows {
            return Err(format!(
                "{} has {} rows, and {} were written",
                path.display(),
                sum.rows - before,
                part.rows
            )
            .into());
        }
    }
    Ok(sum)
}

/// A value that Spanner sent.
fn write_value(
    value: Value<'_>,
    ty: &Type,
    resolution: Resolution,
    out: &mut String,
) -> Result<(), Failure> {
    match (value, ty.code()) {
        (Value::Number(value), TypeCode::Float32) => write!(out, "{:?}", value as f32)?,
        (Value::Number(value), _) => write!(out, "{value:?}")?,
        (Value::List(list), TypeCode::Struct) => {
            let types: &RowType = ty.fields();
            out.push('{');
            for (value, field) in list.iter().zip(types.fields()) {
                write_value(value, field.ty(), resolution, out)?;
                out.push(',');
            }
            out.push('}');
        }
        (Value::List(list), _) => {
            let element = ty.element().ok_or("a list without a type of elements")?;
            out.push('[');
            for value in list.iter() {
                write_value(value, element, resolution, out)?;
                out.push(',');
            }
            out.push(']');
        }
        (Value::String(text), TypeCode::Bytes | TypeCode::Proto) => {
            write!(out, "{:02x?}", Base64::new(text).decode()?)?;
        }
        (Value::String(text), TypeCode::Timestamp) => {
            let time: Timestamp = text.parse()?;
            let nanos = match resolution {
                Resolution::Micros => time.nanoseconds() / 1_000 * 1_000,
                Resolution::Nanos => time.nanoseconds(),
            };
            write!(out, "{} {nanos}", time.seconds())?;
        }
        (Value::String(text), TypeCode::Numeric)
            if ty.annotation() != TypeAnnotation::PgNumeric =>
        {
            write!(out, "{}", text.parse::<Numeric>()?)?;
        }
        (Value::String("Infinity"), TypeCode::Float64 | TypeCode::Float32) => out.push_str("inf"),
        (Value::String("-Infinity"), TypeCode::Float64 | TypeCode::Float32) => out.push_str("-inf"),
        (
            Value::String(text),
            TypeCode::Float64
            | TypeCode::Float32
            | TypeCode::Int64
            | TypeCode::Enum
            | TypeCode::Date
            | TypeCode::Uuid,
        ) => out.push_str(text),
        (other, _) => write!(out, "{other}")?,
    }
    Ok(())
}

/// A value that a file holds.
fn write_element(array: &dyn Array, i: usize, out: &mut String) -> Result<(), Failure> {
    if array.is_null(i) {
        write!(out, "{}", Value::Null)?;
        return Ok(());
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(i))?,
        DataType::Int64 => write!(out, "{}", array.as_primitive::<Int64Type>().value(i))?,
        DataType::Float64 => write!(out, "{:?}", array.as_primitive::<Float64Type>().value(i))?,
        DataType::Float32 => write!(out, "{:?}", array.as_primitive::<Float32Type>().value(i))?,
        DataType::Utf8 => write!(out, "{:?}", array.as_string::<i32>().value(i))?,
        DataType::Binary => write!(out, "{:02x?}", array.as_binary::<i32>().value(i))?,
        DataType::FixedSizeBinary(_) => {
            let uuid = uuid::Uuid::from_slice(array.as_fixed_size_binary().value(i))?;
            write!(out, "{uuid}")?;
        }
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(i);
            write!(out, "{}", EPOCH.checked_add(i64::from(days).days())?)?;
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let nanos = array.as_primitive::<TimestampNanosecondType>().value(i);
            write!(
                out,
                "{} {}",
                nanos.div_euclid(1_000_000_000),
                nanos.rem_euclid(1_000_000_000)
            )?;
        }
        DataType::Timestamp(..) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(i);
            write!(
                out,
                "{} {}",
                micros.div_euclid(1_000_000),
                micros.rem_euclid(1_000_000) * 1_000
            )?;
        }
        DataType::Decimal128(..) => {
            let scaled = array.as_primitive::<Decimal128Type>().value(i);
            let value = Numeric::from_scaled(scaled).ok_or("a decimal that is no NUMERIC")?;
            write!(out, "{value}")?;
        }
        DataType::List(_) => {
            let elements = array.as_list::<i32>().value(i);
            out.push('[');
            for i in 0..elements.len() {
                write_element(elements.as_ref(), i, out)?;
                out.push(',');
            }
            out.push(']');
        }
        DataType::Struct(_) => {
            out.push('{');
            for column in array.as_struct().columns() {
                write_element(column.as_ref(), i, out)?;
                out.push(',');
            }
            out.push('}');
        }
        other => return Err(format!("a column of the type {other}").into()),
    }
    Ok(())
}
