//! What a value of each type costs: instructions and allocations, in rows of ten columns of one type.
//!
//! `cargo xtask type-costs` runs it under callgrind, which counts inside [`counted`], and makes the page of
//! the documentation from what is printed.

#[path = "../../examples/support/allocations.rs"]
#[allow(dead_code, reason = "this program has no threads of a server")]
mod allocations;

#[path = "../shapes/cpu.rs"]
mod cpu;

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::Arc;
use std::time::SystemTime;

use allocations::{Allocations, Counting};
use bytes::Bytes;
use spanner_rows::testing::Message;
use spanner_rows::{
    Base64, Interval, List, Numeric, OwnedValue, PgNumeric, RetrySettings, RowReader, SpannerRow,
    Timestamp, Type, TypeAnnotation, TypeCode, Value,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COLUMNS: usize = 10;
const ROWS: usize = 64;
/// The first ones bind columns and find memory that later ones use again.
const WARM: usize = 4;
const MESSAGES: usize = 32;

fn main() {
    println!("cpu\t{}", cpu::features());
    for subject in subjects() {
        let value = (subject.value)();
        let messages = messages(&subject.ty, &value);
        let allocations = (subject.read)(&messages);
        let values = (MESSAGES * ROWS * COLUMNS) as u64;
        println!(
            "{}\t{}\t{}\t{values}\t{:.2}",
            subject.column,
            subject.rust,
            subject.example,
            allocations as f64 / values as f64
        );
    }
}

/// A Spanner type read into a Rust type.
struct Subject {
    column: &'static str,
    rust: &'static str,
    /// The value, for people.
    example: &'static str,
    ty: Type,
    value: fn() -> OwnedValue,
    read: fn(&[Bytes]) -> u64,
}

/// Messages of one result, each with whole rows.
fn messages(ty: &Type, value: &OwnedValue) -> Vec<Bytes> {
    let columns = (0..COLUMNS).map(|i| (format!("c{i}"), ty.clone()));
    let mut message = Message::new().columns(columns);
    let mut messages = Vec::new();
    for i in 0..WARM + MESSAGES {
        for _ in 0..ROWS * COLUMNS {
            message = message.values([value.clone()]);
        }
        messages.push(message.resume_token(vec![i as u8]).encode());
        message = Message::new();
    }
    messages
}

/// Reads all rows; answers how often memory was allocated behind the first messages.
fn read<T: SpannerRow>(messages: &[Bytes], mut use_row: impl FnMut(T::Lent<'_>)) -> u64 {
    let mut rows = RowReader::<T>::new(&RetrySettings::default());
    let (warm, messages) = messages.split_at(WARM);
    let mut read = |messages: &[Bytes]| {
        for message in messages {
            rows.receive(message.clone());
            while let Some(row) = rows.next().expect("good rows") {
                use_row(row);
            }
        }
    };
    read(warm);
    let before = Allocations::now();
    counted(&mut read, messages);
    Allocations::now().since(before).all
}

/// What callgrind counts. Its name is known to xtask.
#[inline(never)]
fn counted(read: &mut dyn FnMut(&[Bytes]), messages: &[Bytes]) {
    read(messages);
    // Callgrind cannot see where the function ends if its last act is a jump.
    black_box(messages);
}

/// One [`Subject`] for each Rust type of a column. A type that borrows is marked so, and names the lifetime `'row`.
macro_rules! subjects {
    ($($column:literal $ty:expr, $example:literal = $value:expr => {
        $($mode:ident $rust:ty,)+
    })+) => {
        vec![$($(Subject {
            column: $column,
            rust: stringify!($rust),
            example: $example,
            ty: $ty,
            value: || $value,
            read: subjects!(@read $mode $rust),
        },)+)+]
    };
    (@read owned $rust:ty) => {{
        #[derive(SpannerRow)]
        struct Ten($rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust);
        |messages| read::<Ten>(messages, |row| {
            black_box(row);
        })
    }};
    (@read borrowed $rust:ty) => {{
        #[derive(SpannerRow)]
        struct Ten<'row>($rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust, $rust);
        |messages| read::<Ten<'static>>(messages, |row| {
            black_box(&row);
        })
    }};
}

fn subjects() -> Vec<Subject> {
    use TypeCode as Code;
    let scalar = |code| Type::new(code);
    subjects! {
        "BOOL" scalar(Code::Bool), "true" = OwnedValue::Bool(true) => {
            owned bool,
            owned Option<bool>,
        }
        "INT64" scalar(Code::Int64), "1234567" = string("1234567") => {
            owned i64,
            owned Option<i64>,
            borrowed Value<'row>,
        }
        "FLOAT64" scalar(Code::Float64), "0.25" = OwnedValue::Number(0.25) => {
            owned f64,
        }
        "STRING" scalar(Code::String), "12 letters" = string("Maria Garcia") => {
            borrowed &'row str,
            borrowed Cow<'row, str>,
            owned String,
            owned Option<String>,
            owned Box<str>,
            owned Arc<str>,
        }
        "STRING" scalar(Code::String), "200 letters" = string(&"Maria Garcia, Madrid".repeat(10)) => {
            borrowed &'row str,
            owned String,
        }
        "STRING" scalar(Code::String), "NULL" = OwnedValue::Null => {
            borrowed Option<&'row str>,
            owned Option<String>,
        }
        "BYTES" scalar(Code::Bytes), "16 bytes" = string("AAECAwQFBgcICQoLDA0ODw==") => {
            borrowed &'row [u8],
            borrowed Base64<'row>,
            owned Vec<u8>,
            owned [u8; 16],
            owned Bytes,
        }
        "TIMESTAMP" scalar(Code::Timestamp), "with microseconds" = string("2024-05-17T08:09:10.123456Z") => {
            owned Timestamp,
            owned SystemTime,
            owned jiff::Timestamp,
            owned chrono::DateTime<chrono::Utc>,
            owned time::OffsetDateTime,
        }
        "DATE" scalar(Code::Date), "2024-05-17" = string("2024-05-17") => {
            owned jiff::civil::Date,
            owned chrono::NaiveDate,
            owned time::Date,
        }
        "NUMERIC" scalar(Code::Numeric), "12345.678" = string("12345.678") => {
            owned Numeric,
            owned rust_decimal::Decimal,
            owned bigdecimal::BigDecimal,
        }
        "PG NUMERIC" scalar(Code::Numeric).with_annotation(TypeAnnotation::PgNumeric), "12345.678" = string("12345.678") => {
            borrowed PgNumeric<&'row str>,
            owned PgNumeric,
        }
        "JSON" scalar(Code::Json), "an object of 19 letters" = string("{\"a\":[1,2],\"b\":\"x\"}") => {
            borrowed &'row serde_json::value::RawValue,
            owned serde_json::Value,
        }
        "UUID" scalar(Code::Uuid), "a UUID" = string("8b5c1a90-7c1f-4f7e-9a57-3f1d6f6f2a11") => {
            owned uuid::Uuid,
        }
        "INTERVAL" scalar(Code::Interval), "P1Y2M3DT4H5M6.5S" = string("P1Y2M3DT4H5M6.5S") => {
            owned Interval,
        }
        "ARRAY<INT64>" Type::array(scalar(Code::Int64)), "4 elements" = OwnedValue::List(vec![string("1234567"); 4]) => {
            borrowed List<'row, i64>,
            owned Vec<i64>,
            owned Box<[i64]>,
        }
        "ARRAY<STRING>" Type::array(scalar(Code::String)), "4 elements of 12 letters" = OwnedValue::List(vec![string("Maria Garcia"); 4]) => {
            borrowed List<'row, &'row str>,
            borrowed Vec<&'row str>,
            owned Vec<String>,
        }
    }
}

fn string(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}
