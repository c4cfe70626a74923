//! Types of fields may be private to a public row, whatever reads them.
#![deny(warnings)]
#![allow(dead_code)]

use spanner_rows::SpannerRow;

#[derive(Default, SpannerRow)]
struct Private<'a> {
    text: &'a str,
}

#[derive(SpannerRow)]
#[spanner(transparent)]
pub struct Id(Hidden);

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Hidden(String);

struct Converted(i64);

impl From<Hidden> for Converted {
    fn from(_: Hidden) -> Self {
        Self(0)
    }
}

#[derive(SpannerRow)]
pub struct Public<'row> {
    #[spanner(flatten)]
    flat: Private<'row>,
    #[spanner(flatten(prefix = "a_"))]
    optional: Option<Private<'row>>,
    #[spanner(default)]
    absent: Private<'row>,
    #[spanner(null_default)]
    null: Private<'row>,
    #[spanner(from = "Hidden")]
    converted: Converted,
    #[spanner(skip)]
    skipped: Private<'row>,
}

fn main() {}
