//! D8: there is nothing in the buffer to borrow.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Song<'a> {
    title: &'a String,
    plays: &'a i64,
    cover: &'a [u8],
}

fn main() {}
