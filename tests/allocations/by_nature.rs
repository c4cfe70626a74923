//! The types that allocate for every value, and why none of them can do without.
//!
//! What is not in this list must not allocate (`every_type`); what is in it must, so
//! that the list stays true.

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::Arc;

use bigdecimal::BigDecimal;
use bytes::Bytes;
use serde_json::value::RawValue;
use spanner_rows::{BorrowedJson, Json, JsonDocument, OwnedValue, SpannerRow, Type, TypeCode};

use super::allocations_per_message;

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "made, not looked at")]
struct Owning {
    name: String,
}

#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "made, not looked at")]
struct Escaped<'row> {
    #[serde(borrow)]
    name: Cow<'row, str>,
}

impl JsonDocument for Escaped<'_> {
    type At<'row> = Escaped<'row>;
    type Static = Escaped<'static>;
}

pub(super) fn what_allocates() {
    // A box or a shared pointer has exactly the size of its value, and the user may
    // keep it beyond the row.
    per_row::<(Box<str>,)>(text, scalar(TypeCode::String), 1);
    per_row::<(Arc<str>,)>(text, scalar(TypeCode::String), 1);
    per_row::<(Box<[u8]>,)>(text, scalar(TypeCode::Bytes), 1);
    per_row::<(Bytes,)>(text, scalar(TypeCode::Bytes), 1);
    per_row::<(Box<[i64]>,)>(numbers, Type::array(scalar(TypeCode::Int64)), 1);
    // But the elements of a boxed slice keep their memory.
    per_row::<(Box<[String]>,)>(numbers, Type::array(scalar(TypeCode::String)), 1);

    // Digits in a vector, made by the crate's parser.
    per_row::<(BigDecimal,)>(number, scalar(TypeCode::Numeric), 4);

    // A document is a tree that serde makes anew.
    per_row::<(serde_json::Value,)>(document, scalar(TypeCode::Json), 16);
    per_row::<(Json<Owning>,)>(document, scalar(TypeCode::Json), 4);
    // Text with escapes is not in the buffer as it is: serde_json puts it together.
    per_row::<(BorrowedJson<Escaped>,)>(document, scalar(TypeCode::Json), 4);
    // serde_json notes the brackets that are open, from the second on.
    per_row::<(&RawValue,)>(document, scalar(TypeCode::Json), 1);

    // A tree of values.
    per_row::<(OwnedValue,)>(numbers, Type::array(scalar(TypeCode::Int64)), 8);
}

/// Between one allocation for each row and `most`.
fn per_row<T: SpannerRow>(row: fn(usize) -> Vec<OwnedValue>, ty: Type, most: u64) {
    let what = std::any::type_name::<T>();
    let columns = [("column", ty)];
    let counts = allocations_per_message::<T>(&columns, row, |row| {
        black_box(row);
    });
    for (rows, allocations) in counts.into_iter().skip(1) {
        let rows = rows as u64;
        assert!(
            (rows..=rows * most).contains(&allocations),
            "{what}: {allocations} for {rows} rows"
        );
    }
}

fn scalar(code: TypeCode) -> Type {
    Type::new(code)
}

fn text(_: usize) -> Vec<OwnedValue> {
    vec![OwnedValue::String("AAAAAAAA".to_owned())]
}

fn number(_: usize) -> Vec<OwnedValue> {
    vec![OwnedValue::String("-12345678901234567890123.45".to_owned())]
}

fn numbers(i: usize) -> Vec<OwnedValue> {
    let numbers = (0..1 + i % 4).map(|n| OwnedValue::String(n.to_string()));
    vec![OwnedValue::List(numbers.collect())]
}

fn document(_: usize) -> Vec<OwnedValue> {
    let text = r#"{"name":"a\nb","list":[{"deep":[1,2]}]}"#;
    vec![OwnedValue::String(text.to_owned())]
}
