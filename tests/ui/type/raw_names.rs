//! Raw identifiers are told without the mark, also across `flatten`.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Inner {
    r#fn: i64,
}

#[derive(SpannerRow)]
struct Outer {
    r#fn: i64,
    #[spanner(flatten)]
    r#match: Inner,
    #[spanner(alias = "type")]
    kind: i64,
}

#[derive(SpannerRow)]
struct Third {
    r#type: u16,
    #[spanner(alias = "type")]
    kind: i64,
}

fn main() {}
