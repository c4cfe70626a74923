//! A column type, an optional one, and a row in a `Vec` are no rows.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Inner {
    n: i64,
}

#[derive(SpannerRow)]
struct Singer {
    id: i64,
    #[spanner(flatten)]
    maybe: Option<String>,
    #[spanner(flatten)]
    many: Vec<Inner>,
    #[spanner(flatten)]
    boxed: Box<Inner>,
}

fn main() {}
