//! D13: what `bound` leaves out is said once, at the field.

use spanner_rows::{FromColumn, SpannerRow};

#[derive(SpannerRow)]
#[spanner(bound = "T: Send + 'static")]
struct Page<T> {
    id: i64,
    value: T,
}

/// Not that it is the same type for every lifetime.
#[derive(SpannerRow)]
#[spanner(bound = "T: for<'row> FromColumn<'row> + 'static")]
struct Half<'a, T> {
    id: &'a str,
    value: T,
}

#[derive(SpannerRow)]
#[spanner(bound = "T: Send")]
struct Joined<T> {
    id: i64,
    #[spanner(flatten)]
    value: T,
}

fn main() {}
