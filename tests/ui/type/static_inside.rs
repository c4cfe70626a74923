//! A `'static` that is not that of a reference: the compiler refuses it at the field.

use std::borrow::Cow;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Owned {
    name: Cow<'static, str>,
}

fn main() {}
