//! Every attribute at once, in a row that borrows.

use std::borrow::Cow;
use std::marker::PhantomData;

use spanner_rows::{Column, DecodeError, SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase", deny_unknown_columns, default)]
#[spanner(match_by = "name", crate = "spanner_rows")]
struct Singer<'row> {
    #[spanner(alias = "Id", alias = "ID")]
    singer_id: Id,
    #[spanner(rename = "Name")]
    first_name: Cow<'row, str>,
    #[spanner(index = 7)]
    last_name: Option<&'row str>,
    #[spanner(flatten(prefix = "Home"))]
    home: Address<'row>,
    #[spanner(flatten(prefix = "Work"))]
    work: Option<Address<'row>>,
    #[spanner(skip)]
    seen: bool,
    #[spanner(skip = "Vec::new")]
    notes: Vec<String>,
    #[spanner(default, null_default = "one")]
    plays: i64,
    #[spanner(try_from = "i64", default)]
    age: Option<u8>,
    #[spanner(from = "&'row str")]
    label: Box<str>,
    #[spanner(with = "length")]
    length: usize,
    #[spanner(with(module = "length_of"), null_default)]
    other_length: usize,
    genre: Genre<'row>,
}

impl Default for Singer<'_> {
    fn default() -> Self {
        unreachable!("for the types only")
    }
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Address<'a> {
    street: &'a str,
}

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Id(i64);

#[derive(SpannerRow)]
#[spanner(bound = "T: 'static")]
struct Marked<T> {
    id: i64,
    #[spanner(skip)]
    marker: PhantomData<fn() -> T>,
}

#[derive(SpannerEnum)]
#[spanner(rename_all = "lowercase", repr = "text", crate = "spanner_rows")]
enum Genre<'a> {
    #[spanner(rename = "rock", alias = "Rock")]
    Rock,
    #[spanner(other)]
    Other(&'a str),
}

fn one() -> i64 {
    1
}

fn length(column: Column<'_, '_>) -> Result<usize, DecodeError> {
    column.text().map(str::len)
}

mod length_of {
    pub(crate) use super::length as decode;
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Singer>();
    is_row::<Marked<std::cell::Cell<i64>>>();
}
