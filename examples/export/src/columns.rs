//! Spanner's types as Arrow's, and values from the wire straight into Arrow's builders.
//!
//! | Spanner | Arrow | |
//! |---|---|---|
//! | BOOL, INT64, FLOAT64, FLOAT32 | Boolean, Int64, Float64, Float32 | |
//! | STRING, JSON, INTERVAL | Utf8 | Parquet's own interval has milliseconds and no sign |
//! | BYTES, PROTO | Binary | |
//! | ENUM, PG OID | Int64 | |
//! | NUMERIC | Decimal128(38, 9) | exact |
//! | PG NUMERIC | Utf8 | it may be `NaN`, or longer than any decimal of Arrow |
//! | DATE | Date32 | |
//! | TIMESTAMP | Timestamp(µs or ns, UTC) | see [`Resolution`] |
//! | UUID | FixedSizeBinary(16) | |
//! | ARRAY, STRUCT | List, Struct | |
//! | a type of the future | Utf8 | where it is sent as text |
//!
//! Every column may be NULL: the type of a result does not say which may not.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, FixedSizeBinaryBuilder,
    Float32Builder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
    TimestampNanosecondBuilder,
};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use jiff::civil::{Date, date};
use spanner_rows::{
    Base64, Numeric, Row, RowType, Timestamp, Type, TypeAnnotation, TypeCode, Value,
};

use crate::Failure;

/// The days of [`DataType::Date32`] are counted from here.
pub const EPOCH: Date = date(1970, 1, 1);

/// The digits of NUMERIC in all, and behind the point.
const PRECISION: u8 = 38;
const SCALE: i8 = 9;

const UUID_BYTES: i32 = 16;

/// What a TIMESTAMP becomes. Spanner's has nanoseconds and the years 1 to 9999; Arrow's is
/// a number of 64 bits, which cannot hold both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Resolution {
    /// All years; what is finer than a microsecond is cut off, and counted
    /// ([`Batch::cut`]). Commit timestamps have microseconds.
    #[default]
    #[serde(rename = "us")]
    Micros,
    /// Exact, from 1677-09-21 to 2262-04-11; others are errors.
    #[serde(rename = "ns")]
    Nanos,
}

/// The Arrow schema of a result.
///
/// # Errors
///
/// A STRUCT without fields, which Parquet does not have.
pub fn schema(row_type: &RowType, resolution: Resolution) -> Result<Schema, Failure> {
    Ok(Schema::new(fields(row_type, resolution)?))
}

/// Names are made up where there are none, and numbered where they repeat: Spanner allows
/// both, and readers of Parquet find columns by name.
fn fields(row_type: &RowType, resolution: Resolution) -> Result<Vec<Field>, Failure> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut fields = Vec::with_capacity(row_type.len());
    for (i, field) in row_type.fields().iter().enumerate() {
        let mut name = match field.name() {
            "" => format!("column_{i}"),
            name => name.to_owned(),
        };
        while let Some(times) = taken.get_mut(&name) {
            *times += 1;
            name = format!("{name}_{times}");
        }
        taken.insert(name.clone(), 1);
        let data_type = data_type(field.ty(), resolution)
            .map_err(|error| format!("column `{name}` ({}): {error}", field.ty()))?;
        fields.push(Field::new(name, data_type, true));
    }
    Ok(fields)
}

fn data_type(ty: &Type, resolution: Resolution) -> Result<DataType, Failure> {
    Ok(match ty.code() {
        TypeCode::Bool => DataType::Boolean,
        TypeCode::Int64 | TypeCode::Enum => DataType::Int64,
        TypeCode::Float64 => DataType::Float64,
        TypeCode::Float32 => DataType::Float32,
        TypeCode::Bytes | TypeCode::Proto => DataType::Binary,
        TypeCode::Date => DataType::Date32,
        TypeCode::Timestamp => {
            let unit = match resolution {
                Resolution::Micros => TimeUnit::Microsecond,
                Resolution::Nanos => TimeUnit::Nanosecond,
            };
            DataType::Timestamp(unit, Some("UTC".into()))
        }
        TypeCode::Numeric if ty.annotation() != TypeAnnotation::PgNumeric => {
            DataType::Decimal128(PRECISION, SCALE)
        }
        TypeCode::Uuid => DataType::FixedSizeBinary(UUID_BYTES),
        TypeCode::Array => {
            let element = ty.element().ok_or("an ARRAY without a type of elements")?;
            let element = data_type(element, resolution)?;
            DataType::List(Arc::new(Field::new_list_field(element, true)))
        }
        TypeCode::Struct if ty.fields().is_empty() => {
            return Err("Parquet has no STRUCT without fields: leave the column out".into());
        }
        TypeCode::Struct => DataType::Struct(fields(ty.fields(), resolution)?.into()),
        _ => DataType::Utf8,
    })
}

/// Rows of a result on their way into a [`RecordBatch`].
#[derive(Debug)]
pub struct Batch {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
    state: State,
}

/// What all columns share.
#[derive(Debug, Default)]
struct State {
    /// Where base64 is decoded to; its memory is used again.
    decoded: Vec<u8>,
    /// Timestamps that were finer than the resolution.
    cut: u64,
}

impl Batch {
    /// No rows yet.
    pub fn new(schema: SchemaRef) -> Self {
        Self {
            columns: schema.fields().iter().map(column).collect(),
            schema,
            rows: 0,
            bytes: 0,
            state: State::default(),
        }
    }

    /// Adds a row. Values go from the received message into the builders; what allocates
    /// is only a builder that grows.
    ///
    /// # Errors
    ///
    /// A value is malformed, or does not fit its Arrow type. The batch is then of no use.
    pub fn append(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        for ((column, value), field) in self
            .columns
            .iter_mut()
            .zip(row.values())
            .zip(self.schema.fields())
        {
            let value = value.map_err(|error| in_column(field, error))?;
            self.bytes += size(value);
            let appended = append(column, value, &mut self.state);
            appended.map_err(|error| in_column(field, error))?;
        }
        self.rows += 1;
        Ok(())
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many timestamps were cut to microseconds so far.
    pub fn cut(&self) -> u64 {
        self.state.cut
    }

    /// Takes the rows out.
    ///
    /// # Errors
    ///
    /// More than 2³¹ elements in one column of lists.
    pub fn finish(&mut self) -> Result<RecordBatch, Failure> {
        self.rows = 0;
        self.bytes = 0;
        let columns = self.columns.iter_mut().map(finish);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

#[cold]
fn in_column(field: &Field, error: impl std::fmt::Display) -> Failure {
    format!("column `{}` ({}): {error}", field.name(), field.data_type()).into()
}

/// About what a value takes in Arrow's memory.
fn size(value: Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len() + 4,
        Value::List(list) => list.iter().map(size).sum::<usize>() + 4,
        _ => 8,
    }
}

#[derive(Debug)]
enum Column {
    Bool(BooleanBuilder),
    Int64(Int64Builder),
    Float64(Float64Builder),
    Float32(Float32Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
    Date(Date32Builder),
    Micros(TimestampMicrosecondBuilder),
    Nanos(TimestampNanosecondBuilder),
    Decimal(Decimal128Builder),
    List(Box<List>),
    Struct(Struct),
}

#[derive(Debug)]
struct List {
    element: FieldRef,
    elements: Column,
    /// Elements so far, and where each list ends.
    count: usize,
    ends: Vec<i32>,
    valid: NullBufferBuilder,
}

#[derive(Debug)]
struct Struct {
    fields: Fields,
    columns: Vec<Column>,
    valid: NullBufferBuilder,
}

fn column(field: &FieldRef) -> Column {
    match field.data_type() {
        DataType::Boolean => Column::Bool(BooleanBuilder::new()),
        DataType::Int64 => Column::Int64(Int64Builder::new()),
        DataType::Float64 => Column::Float64(Float64Builder::new()),
        DataType::Float32 => Column::Float32(Float32Builder::new()),
        DataType::Binary => Column::Bytes(BinaryBuilder::new()),
        DataType::FixedSizeBinary(_) => Column::Uuid(FixedSizeBinaryBuilder::new(UUID_BYTES)),
        DataType::Date32 => Column::Date(Date32Builder::new()),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Column::Nanos(
            TimestampNanosecondBuilder::new().with_data_type(field.data_type().clone()),
        ),
        DataType::Timestamp(..) => Column::Micros(
            TimestampMicrosecondBuilder::new().with_data_type(field.data_type().clone()),
        ),
        DataType::Decimal128(..) => {
            Column::Decimal(Decimal128Builder::new().with_data_type(field.data_type().clone()))
        }
        DataType::List(element) => Column::List(Box::new(List {
            elements: column(element),
            element: element.clone(),
            count: 0,
            ends: vec![0],
            valid: NullBufferBuilder::new(0),
        })),
        DataType::Struct(fields) => Column::Struct(Struct {
            columns: fields.iter().map(column).collect(),
            fields: fields.clone(),
            valid: NullBufferBuilder::new(0),
        }),
        _ => Column::Text(StringBuilder::new()),
    }
}

fn append(column: &mut Column, value: Value<'_>, state: &mut State) -> Result<(), Failure> {
    match (column, value) {
        (column, Value::Null) => append_null(column),
        (Column::Bool(out), Value::Bool(value)) => out.append_value(value),
        (Column::Float64(out), Value::Number(value)) => out.append_value(value),
        // It was sent as the FLOAT64 of the same value.
        (Column::Float32(out), Value::Number(value)) => out.append_value(value as f32),
        (column, Value::String(text)) => append_text(column, text, state)?,
        (Column::List(list), Value::List(elements)) => {
            for element in elements.iter() {
                append(&mut list.elements, element, state)?;
                list.count += 1;
            }
            list.end()?;
            list.valid.append_non_null();
        }
        (Column::Struct(structure), Value::List(values)) => {
            let mut values = values.iter();
            for column in &mut structure.columns {
                let value = values
                    .next()
                    .ok_or("a STRUCT has fewer values than fields")?;
                append(column, value, state)?;
            }
            structure.valid.append_non_null();
        }
        (_, other) => return Err(format!("{other} is not a value of this type").into()),
    }
    Ok(())
}

/// Most types are sent as text.
fn append_text(column: &mut Column, text: &str, state: &mut State) -> Result<(), Failure> {
    let wrong = |error: &dyn std::fmt::Display| -> Failure { format!("`{text}`: {error}").into() };
    match column {
        Column::Int64(out) => out.append_value(text.parse().map_err(|error| wrong(&error))?),
        Column::Text(out) => out.append_value(text),
        Column::Bytes(out) => {
            state.decoded.clear();
            Base64::new(text).decode_into(&mut state.decoded)?;
            out.append_value(&state.decoded);
        }
        // NaN and the infinities.
        Column::Float64(out) => {
            out.append_value(not_finite(text).ok_or_else(|| wrong(&"not a number"))?)
        }
        Column::Float32(out) => {
            let value = not_finite(text).ok_or_else(|| wrong(&"not a number"))?;
            out.append_value(value as f32);
        }
        Column::Uuid(out) => {
            let uuid = uuid::Uuid::parse_str(text).map_err(|error| wrong(&error))?;
            out.append_value(uuid.as_bytes())?;
        }
        Column::Date(out) => {
            let day: Date = text.parse().map_err(|error| wrong(&error))?;
            out.append_value(i32::try_from(day.duration_since(EPOCH).as_hours() / 24)?);
        }
        Column::Micros(out) => {
            let time: Timestamp = text.parse().map_err(|error| wrong(&error))?;
            let (micros, rest) = (time.nanoseconds() / 1_000, time.nanoseconds() % 1_000);
            state.cut += u64::from(rest != 0);
            // Years 1 to 9999 in microseconds are far from 2⁶³.
            out.append_value(time.seconds() * 1_000_000 + i64::from(micros));
        }
        Column::Nanos(out) => {
            let time: Timestamp = text.parse().map_err(|error| wrong(&error))?;
            let nanos = i128::from(time.seconds()) * 1_000_000_000 + i128::from(time.nanoseconds());
            let nanos = i64::try_from(nanos).map_err(|_| {
                wrong(
                    &"in nanoseconds Arrow has 1677 to 2262 only; `--timestamps us` has all years",
                )
            })?;
            out.append_value(nanos);
        }
        Column::Decimal(out) => {
            let value: Numeric = text.parse().map_err(|error| wrong(&error))?;
            out.append_value(value.scaled());
        }
        Column::Bool(_) | Column::List(_) | Column::Struct(_) => {
            return Err(wrong(&"text is not a value of this type"));
        }
    }
    Ok(())
}

fn not_finite(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn append_null(column: &mut Column) {
    match column {
        Column::Bool(out) => out.append_null(),
        Column::Int64(out) => out.append_null(),
        Column::Float64(out) => out.append_null(),
        Column::Float32(out) => out.append_null(),
        Column::Text(out) => out.append_null(),
        Column::Bytes(out) => out.append_null(),
        Column::Uuid(out) => out.append_null(),
        Column::Date(out) => out.append_null(),
        Column::Micros(out) => out.append_null(),
        Column::Nanos(out) => out.append_null(),
        Column::Decimal(out) => out.append_null(),
        Column::List(list) => {
            // A list of nothing.
            list.ends.extend(list.ends.last().copied());
            list.valid.append_null();
        }
        Column::Struct(structure) => {
            structure.columns.iter_mut().for_each(append_null);
            structure.valid.append_null();
        }
    }
}

impl List {
    fn end(&mut self) -> Result<(), Failure> {
        let end = i32::try_from(self.count).map_err(|_| "too many elements for one batch")?;
        self.ends.push(end);
        Ok(())
    }
}

fn finish(column: &mut Column) -> Result<ArrayRef, Failure> {
    Ok(match column {
        Column::Bool(out) => Arc::new(out.finish()),
        Column::Int64(out) => Arc::new(out.finish()),
        Column::Float64(out) => Arc::new(out.finish()),
        Column::Float32(out) => Arc::new(out.finish()),
        Column::Text(out) => Arc::new(out.finish()),
        Column::Bytes(out) => Arc::new(out.finish()),
        Column::Uuid(out) => Arc::new(out.finish()),
        Column::Date(out) => Arc::new(out.finish()),
        Column::Micros(out) => Arc::new(out.finish()),
        Column::Nanos(out) => Arc::new(out.finish()),
        Column::Decimal(out) => Arc::new(out.finish()),
        Column::List(list) => {
            let ends = std::mem::replace(&mut list.ends, vec![0]);
            list.count = 0;
            let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
            let elements = finish(&mut list.elements)?;
            let valid = list.valid.finish();
            Arc::new(ListArray::try_new(
                list.element.clone(),
                ends,
                elements,
                valid,
            )?)
        }
        Column::Struct(structure) => {
            let columns = structure.columns.iter_mut().map(finish);
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let valid = structure.valid.finish();
            Arc::new(StructArray::try_new(
                structure.fields.clone(),
                columns,
                valid,
            )?)
        }
    })
}
