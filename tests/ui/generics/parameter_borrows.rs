//! A type parameter stands for a type that owns its data.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Versioned<T> {
    version: i64,
    value: T,
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Versioned<&'static str>>();
}
