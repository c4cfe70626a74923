//! Every type of Spanner, and what becomes of it in a file.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use export::columns::{Resolution, schema};
use export::source::Source;
use export::verify::verify;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use spanner_rows::testing::{Emulator, FakeSpanner, Rows};
use spanner_rows::{Client, Field, OwnedValue, RowType, Type, TypeAnnotation, TypeCode};

use crate::support::{Folder, export, run};

#[tokio::test(flavor = "multi_thread")]
async fn the_files_are_the_table() {
    let source = Source::fake(3_000).await.unwrap();
    everything(&source, 3_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_are_the_table_on_the_emulator() {
    let Some(emulator) = Emulator::start_or_skip().await else {
        return;
    };
    let source = Source::emulator(&emulator, 700).await.unwrap();
    everything(&source, 700).await;
}

async fn everything(source: &Source, rows: u64) {
    let folder = Folder::new();
    let export = export(&folder);
    let report = run(&export, &source.client).await.unwrap();
    assert_eq!((report.rows(), report.taken_over), (rows, 0));
    let sum = verify(
        &source.client,
        &report.manifest,
        folder.path(),
        &report.parts,
    );
    assert_eq!(sum.await.unwrap().rows, rows);
    let parts = folder
        .files()
        .into_iter()
        .filter(|name| name.ends_with(".parquet"));
    assert_eq!(parts.count(), report.manifest.partitions.len());

    // A file less, and it is not the table any more.
    let missing = &report.parts[1..];
    let sum = verify(&source.client, &report.manifest, folder.path(), missing);
    assert!(sum.await.is_err());
}

/// One row as it is sent, and the file that it becomes.
async fn written(
    columns: Vec<(&str, Type, OwnedValue)>,
    resolution: Resolution,
) -> Result<RecordBatch, String> {
    let fake = FakeSpanner::start().await;
    let (types, values): (Vec<_>, Vec<_>) = columns
        .into_iter()
        .map(|(name, ty, value)| ((name, ty), value))
        .unzip();
    let nulls = vec![OwnedValue::Null; values.len()];
    let folder = Folder::new();
    let mut export = export(&folder);
    export.timestamps = resolution;
    export.partitions = Some(1);
    fake.on_query(&export.sql, Rows::of_values(types, [values, nulls]));
    let client = Client::builder(fake.database())
        .endpoint(fake.endpoint())
        .connect()
        .await
        .unwrap();
    let report = run(&export, &client)
        .await
        .map_err(|error| error.to_string())?;
    let verified = verify(&client, &report.manifest, folder.path(), &report.parts).await;
    verified.map_err(|error| error.to_string())?;
    let file = File::open(folder.path().join("part-00000.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.num_rows(), 2);
    for column in batch.columns() {
        assert!(column.is_valid(0) && column.is_null(1), "{column:?}");
    }
    Ok(batch)
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_has_its_place() {
    let album = RowType::new([
        Field::new("title", TypeCode::String.into()),
        Field::new("days", Type::array(TypeCode::Date.into())),
    ]);
    let pg_numeric = Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric);
    let albums = OwnedValue::List(vec![
        OwnedValue::List(vec![
            text("one"),
            OwnedValue::List(vec![text("1969-12-31"), OwnedValue::Null]),
        ]),
        OwnedValue::Null,
    ]);
    let batch = written(
        vec![
            ("bool", TypeCode::Bool.into(), OwnedValue::Bool(true)),
            ("int", TypeCode::Int64.into(), text("-9223372036854775808")),
            ("double", TypeCode::Float64.into(), text("-Infinity")),
            ("single", TypeCode::Float32.into(), OwnedValue::Number(1.5)),
            ("text", TypeCode::String.into(), text("Zoë")),
            ("bytes", TypeCode::Bytes.into(), text("+/8=")),
            ("json", TypeCode::Json.into(), text("{\"a\":1}")),
            ("day", TypeCode::Date.into(), text("9999-12-31")),
            (
                "first",
                TypeCode::Timestamp.into(),
                text("0001-01-01T00:00:00Z"),
            ),
            (
                "last",
                TypeCode::Timestamp.into(),
                text("9999-12-31T23:59:59.999999999Z"),
            ),
            (
                "numeric",
                TypeCode::Numeric.into(),
                text("-99999999999999999999999999999.999999999"),
            ),
            ("pg_numeric", pg_numeric, text("NaN")),
            (
                "uuid",
                TypeCode::Uuid.into(),
                text("01234567-89ab-cdef-0123-456789abcdef"),
            ),
            (
                "interval",
                TypeCode::Interval.into(),
                text("P1Y2M3DT4H5M6.5S"),
            ),
            (
                "proto",
                Type::new(TypeCode::Proto).with_proto_type("a.B"),
                text("CAE="),
            ),
            (
                "enum",
                Type::new(TypeCode::Enum).with_proto_type("a.E"),
                text("7"),
            ),
            ("albums", Type::array(Type::structure(album)), albums),
            (
                "later",
                TypeCode::from_number(99).into(),
                text("as it was sent"),
            ),
        ],
        Resolution::Micros,
    )
    .await
    .unwrap();

    let column = |name: &str| batch.column_by_name(name).unwrap();
    assert!(column("bool").as_boolean().value(0));
    assert_eq!(column("int").as_primitive::<Int64Type>().value(0), i64::MIN);
    assert_eq!(
        column("double").as_primitive::<Float64Type>().value(0),
        f64::NEG_INFINITY
    );
    assert_eq!(column("single").as_primitive::<Float32Type>().value(0), 1.5);
    assert_eq!(column("text").as_string::<i32>().value(0), "Zoë");
    assert_eq!(column("bytes").as_binary::<i32>().value(0), [0xfb, 0xff]);
    assert_eq!(column("json").as_string::<i32>().value(0), "{\"a\":1}");
    assert_eq!(
        column("day").as_primitive::<Date32Type>().value(0),
        2_932_896
    );
    let micros = |name| {
        column(name)
            .as_primitive::<TimestampMicrosecondType>()
            .value(0)
    };
    assert_eq!(micros("first"), -62_135_596_800_000_000);
    assert_eq!(micros("last"), 253_402_300_799_999_999);
    assert_eq!(
        *column("last").data_type(),
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    );
    assert_eq!(
        column("numeric").as_primitive::<Decimal128Type>().value(0),
        -(10_i128.pow(38) - 1)
    );
    assert_eq!(*column("numeric").data_type(), DataType::Decimal128(38, 9));
    assert_eq!(column("pg_numeric").as_string::<i32>().value(0), "NaN");
    assert_eq!(
        column("uuid").as_fixed_size_binary().value(0)[..4],
        [0x01, 0x23, 0x45, 0x67]
    );
    assert_eq!(
        column("interval").as_string::<i32>().value(0),
        "P1Y2M3DT4H5M6.5S"
    );
    assert_eq!(column("proto").as_binary::<i32>().value(0), [8, 1]);
    assert_eq!(column("enum").as_primitive::<Int64Type>().value(0), 7);
    assert_eq!(
        column("later").as_string::<i32>().value(0),
        "as it was sent"
    );

    let albums = column("albums").as_list::<i32>().value(0);
    let albums = albums.as_struct();
    assert!(albums.is_valid(0) && albums.is_null(1));
    assert_eq!(
        albums
            .column_by_name("title")
            .unwrap()
            .as_string::<i32>()
            .value(0),
        "one"
    );
    let days = albums
        .column_by_name("days")
        .unwrap()
        .as_list::<i32>()
        .value(0);
    let days = days.as_primitive::<Date32Type>();
    assert!(days.value(0) == -1 && days.is_null(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn nanoseconds_where_they_fit() {
    let time = |value| vec![("t", Type::new(TypeCode::Timestamp), text(value))];
    let batch = written(time("2262-04-11T23:47:16.854775807Z"), Resolution::Nanos)
        .await
        .unwrap();
    let nanos = batch
        .column(0)
        .as_primitive::<arrow_array::types::TimestampNanosecondType>();
    assert_eq!(nanos.value(0), i64::MAX);
    let error = written(time("2262-04-11T23:47:16.854775808Z"), Resolution::Nanos)
        .await
        .unwrap_err();
    assert!(
        error.contains("column `t`") && error.contains("--timestamps us"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_its_type_is_said() {
    for (code, value) in [
        (TypeCode::Int64, text("1.5")),
        (TypeCode::Bool, text("true")),
        (TypeCode::Bytes, text("#")),
        (TypeCode::Date, text("2024-02-30")),
        (TypeCode::Uuid, text("0123")),
        (TypeCode::Numeric, text("NaN")),
        (TypeCode::String, OwnedValue::Bool(true)),
    ] {
        let error = written(vec![("bad", code.into(), value)], Resolution::Micros)
            .await
            .unwrap_err();
        assert!(error.contains("column `bad`"), "{code}: {error}");
    }
}

#[test]
fn names_are_made_distinct() {
    let field = |name: &str| Field::new(name, TypeCode::Int64.into());
    let row_type = RowType::new(["", "a", "a", "a", "a_2"].map(field));
    let schema: Arc<Schema> = schema(&row_type, Resolution::Micros).unwrap().into();
    let names: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(names, ["column_0", "a", "a_2", "a_3", "a_2_2"]);
    let empty = RowType::new([Field::new("none", Type::structure(RowType::default()))]);
    let error = export::columns::schema(&empty, Resolution::Micros)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("column `none`") && error.contains("without fields"),
        "{error}"
    );
}
