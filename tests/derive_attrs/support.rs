//! Results made by hand, and rows read from them.

use spanner_rows::testing::Message;
use spanner_rows::{
    Error, Field, OwnedRow, OwnedValue, RetrySettings, RowReader, RowType, SpannerRow, Type,
    TypeCode,
};

/// A reader that has received the whole of a result.
pub(crate) fn reader<T: SpannerRow>(
    columns: &[(&str, Type)],
    rows: impl IntoIterator<Item = Vec<OwnedValue>>,
) -> RowReader<T> {
    let columns = columns.iter().map(|(name, ty)| (*name, ty.clone()));
    let message = Message::new().columns(columns);
    let message = rows.into_iter().fold(message, Message::values);
    let mut reader = RowReader::new(&RetrySettings::default());
    reader.receive(message.last().encode());
    reader
}

/// All rows of a result, decoded freshly.
pub(crate) fn collect<T: OwnedRow>(
    columns: &[(&str, Type)],
    rows: impl IntoIterator<Item = Vec<OwnedValue>>,
) -> Result<Vec<T>, Error> {
    let mut reader = reader::<T>(columns, rows);
    let mut all = Vec::new();
    while let Some(row) = reader.next_owned()? {
        all.push(row);
    }
    Ok(all)
}

/// What is said when a row is bound to these columns.
pub(crate) fn misfit<T: SpannerRow>(columns: &[(&str, Type)]) -> String {
    let error = reader::<T>(columns, []).bind().unwrap_err();
    error.to_string()
}

pub(crate) fn int() -> Type {
    Type::new(TypeCode::Int64)
}

pub(crate) fn string() -> Type {
    Type::new(TypeCode::String)
}

pub(crate) fn bytes() -> Type {
    Type::new(TypeCode::Bytes)
}

pub(crate) fn structure<const N: usize>(fields: [(&str, Type); N]) -> Type {
    let fields = fields.map(|(name, ty)| Field::new(name, ty));
    Type::structure(RowType::new(fields))
}

pub(crate) fn text(text: &str) -> OwnedValue {
    OwnedValue::String(text.to_owned())
}

pub(crate) fn list(elements: impl IntoIterator<Item = OwnedValue>) -> OwnedValue {
    OwnedValue::List(elements.into_iter().collect())
}

/// A row of text, `-` for NULL.
pub(crate) fn row<const N: usize>(values: [&str; N]) -> Vec<OwnedValue> {
    let value = |value| match value {
        "-" => OwnedValue::Null,
        value => text(value),
    };
    values.map(value).to_vec()
}

#[track_caller]
pub(crate) fn contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` in {message}");
    }
}

/// Text that does not fit a small string, if there were such.
pub(crate) const LONG: &str = "a string that needs memory of its own";
