//! `Row` is the whole result; nothing is left to stand among other columns.

use spanner_rows::{Row, SpannerRow};

#[derive(SpannerRow)]
struct Outer<'row> {
    id: i64,
    #[spanner(flatten)]
    rest: Row<'row>,
}

fn main() {}
