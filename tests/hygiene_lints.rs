//! Generated code is clean under lints that a user may have made errors.
#![deny(
    warnings,
    future_incompatible,
    nonstandard_style,
    unused,
    deprecated,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    missing_debug_implementations,
    missing_docs,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery, clippy::cargo)]
#![allow(
    clippy::cargo_common_metadata,
    clippy::multiple_crate_versions,
    clippy::redundant_pub_crate,
    reason = "not about this file"
)]
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::marker::PhantomData;

use spanner_rows::{
    Column, DecodeError, OwnedRow, SpannerEncode, SpannerEnum, SpannerRow, ToColumn,
};

/// Borrows.
#[derive(Debug, SpannerRow)]
#[spanner(rename_all = "PascalCase")]
pub struct Borrowed<'row> {
    /// The key.
    pub id: i64,
    /// Text.
    pub name: Cow<'row, str>,
    /// More.
    pub tags: Option<Vec<&'row str>>,
}

/// Owns.
#[derive(Debug, SpannerRow)]
pub struct Owned {
    /// Text.
    pub name: String,
    /// A STRUCT.
    pub inner: Vec<Inner>,
}

/// A copy.
#[derive(Clone, Copy, Debug, SpannerRow)]
pub struct Inner {
    /// A number.
    pub n: i64,
}

/// Without names.
#[derive(Debug, SpannerRow)]
pub struct Tuple<'a>(pub i64, pub &'a str);

/// Of any type.
#[derive(Debug, SpannerRow)]
pub struct Generic<'a, T: Clone, const N: usize> {
    /// Text.
    pub a: &'a str,
    /// Any.
    pub b: T,
}

/// Old.
#[deprecated]
#[derive(Debug, SpannerRow)]
pub struct Old {
    /// A number.
    pub n: i64,
}

/// With an old field.
#[derive(Debug, SpannerRow)]
pub struct OldField {
    /// A number.
    #[deprecated]
    pub n: i64,
}

/// With a field of an old type.
#[derive(Debug, SpannerRow)]
pub struct OfOld {
    /// Old.
    #[allow(deprecated)]
    pub old: Option<Old>,
}

/// With every attribute that adds code.
#[derive(Debug, Default, SpannerRow)]
#[spanner(default, deny_unknown_columns)]
pub struct Attributes<'row> {
    /// A flattened row.
    #[spanner(flatten(prefix = "a_"))]
    pub flat: Flat<'row>,
    /// An optional one.
    #[spanner(flatten(prefix = "b_"))]
    pub optional: Option<Flat<'row>>,
    /// Not read.
    #[spanner(skip)]
    pub skipped: String,
    /// Not read.
    #[spanner(skip = "String::new")]
    pub called: String,
    /// May be missing.
    #[spanner(default, null_default = "one")]
    pub both: i64,
    /// May be NULL.
    #[spanner(null_default)]
    pub null: Vec<String>,
    /// Converted.
    #[spanner(from = "&'row str")]
    pub from: Cow<'row, str>,
    /// Converted.
    #[spanner(try_from = "i64", default)]
    pub small: Option<u8>,
    /// Read by a function.
    #[spanner(with = "read")]
    pub with: i64,
    /// Read by a module.
    #[spanner(with(module = "module"))]
    pub module: i64,
    /// An enum.
    pub kind: Option<Kind<'row>>,
    /// A number.
    #[spanner(index = 3)]
    pub number: Number,
    /// A column.
    pub id: Id<'row, String>,
}

/// To be flattened.
#[derive(Debug, Default, SpannerRow)]
pub struct Flat<'a> {
    /// Text.
    #[spanner(alias = "text")]
    pub name: &'a str,
}

/// A column.
#[derive(Debug, Default, SpannerRow)]
#[spanner(transparent)]
pub struct Id<'a, T> {
    /// The value.
    pub value: Option<&'a str>,
    /// Not read.
    #[spanner(skip)]
    pub marker: PhantomData<T>,
}

/// With every attribute that means something to a row that is sent.
#[derive(Debug, SpannerEncode)]
#[spanner(rename_all = "PascalCase")]
pub struct Sent<'row, T> {
    /// Text.
    pub name: Cow<'row, str>,
    /// More.
    pub tags: Option<Vec<&'row str>>,
    /// A flattened row.
    #[spanner(flatten(prefix = "a_"))]
    pub flat: SentFlat<'row>,
    /// An optional one.
    #[spanner(flatten(prefix = "b_"))]
    pub optional: Option<SentFlat<'row>>,
    /// Not written.
    #[spanner(skip)]
    pub skipped: PhantomData<T>,
    /// Not written.
    #[spanner(read_only)]
    pub read_only: String,
    /// Converted.
    #[spanner(from = "String")]
    pub from: Box<str>,
    /// Converted.
    #[spanner(from = "String")]
    pub optional_from: Option<Box<str>>,
    /// Written by a module.
    #[spanner(with(module = "module"))]
    pub module: i64,
    /// An enum.
    pub kind: Option<Kind<'row>>,
    /// A number.
    pub number: Number,
    /// Any.
    pub any: T,
}

/// To be flattened.
#[derive(Debug, Default, SpannerEncode)]
pub struct SentFlat<'a> {
    /// Text.
    #[spanner(rename = "text")]
    pub name: &'a str,
}

/// Without names.
#[derive(Debug, SpannerEncode)]
pub struct SentTuple(pub i64, pub String);

/// Old.
#[deprecated]
#[derive(Debug, SpannerEncode)]
pub struct SentOld {
    /// A number.
    pub n: i64,
}

/// With an old field, and one of an old type.
#[derive(Debug, SpannerEncode)]
pub struct SentOldField {
    /// A number.
    #[deprecated]
    pub n: i64,
    /// Old.
    #[allow(deprecated)]
    pub old: Option<SentOld>,
}

/// Text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, SpannerEnum)]
#[spanner(rename_all = "kebab-case")]
pub enum Kind<'a> {
    /// One.
    One,
    /// Old.
    #[deprecated]
    Old,
    /// Another.
    #[spanner(other)]
    Other(&'a str),
}

/// Numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, SpannerEnum)]
#[repr(i64)]
pub enum Number {
    /// One.
    #[default]
    One = 1,
    /// Eight.
    Eight = 1 << 3,
    /// Another.
    #[spanner(other)]
    Other(i64),
}

const fn one() -> i64 {
    1
}

fn read(column: Column<'_, '_>) -> Result<i64, DecodeError> {
    Ok(column.text()?.len().try_into().unwrap_or(i64::MAX))
}

/// Reads a column.
pub mod module {
    use spanner_rows::{Column, DecodeError};

    /// Its length.
    ///
    /// # Errors
    ///
    /// It is no text.
    pub fn decode(column: Column<'_, '_>) -> Result<i64, DecodeError> {
        super::read(column)
    }

    /// As text.
    #[must_use]
    pub fn encode(number: &i64) -> String {
        number.to_string()
    }
}

/// What is expected of a struct is not reported for what is made of it.
#[derive(Debug, SpannerRow)]
#[expect(unused_qualifications, reason = "the point of it")]
pub struct Qualified {
    /// A number.
    pub n: std::option::Option<i64>,
}

#[derive(Debug, SpannerRow)]
#[allow(non_snake_case, non_camel_case_types)]
struct private_Row {
    FieldName: i64,
}

const fn is_row<T: SpannerRow>() {}
const fn is_sent<T: SpannerEncode + ToColumn>() {}
const fn is_owned<T: OwnedRow>() {}

#[test]
fn rows_are_rows() {
    is_row::<Borrowed<'_>>();
    is_row::<Attributes<'_>>();
    is_sent::<Sent<'_, i64>>();
    is_sent::<SentTuple>();
    is_sent::<SentOldField>();
    is_owned::<Owned>();
    is_owned::<Inner>();
    is_row::<Tuple<'_>>();
    is_row::<Generic<'_, i64, 2>>();
    #[expect(deprecated)]
    is_owned::<Old>();
    is_owned::<OldField>();
    is_owned::<OfOld>();
    is_owned::<Qualified>();
    is_owned::<private_Row>();
    let row = private_Row { FieldName: 1 };
    assert_eq!(row.FieldName, 1);
}
