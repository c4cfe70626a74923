//! D13: what `bound` leaves out the compiler asks for.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(bound = "T: Send + 'static")]
struct Page<T> {
    id: i64,
    value: T,
}

fn main() {}
