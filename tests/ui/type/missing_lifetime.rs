//! What the compiler says about the struct is not said again.

use std::borrow::Cow;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Reference {
    name: &str,
}

#[derive(SpannerRow)]
struct Path<'a> {
    id: &'a str,
    name: Cow<str>,
}

#[derive(SpannerRow)]
struct Unknown {
    name: Sting,
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Reference>();
    is_row::<Path>();
    is_row::<Unknown>();
}
