//! What looks like a column read twice and is none.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Point<'a> {
    x: i64,
    name: &'a str,
}

#[derive(SpannerRow)]
struct Line<'row> {
    x: i64,
    #[spanner(flatten(prefix = "from_"))]
    from: Point<'row>,
    #[spanner(flatten(prefix = "to_"))]
    to: Option<Point<'row>>,
    #[spanner(flatten(prefix = "to_via_"))]
    via: Option<Point<'row>>,
    name: &'row str,
    from_: i64,
    tox: i64,
}

fn main() {}
