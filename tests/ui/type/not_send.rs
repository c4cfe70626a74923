//! Rows move between threads: a field that cannot is told once for each struct.

use std::rc::Rc;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer<'a> {
    name: &'a str,
    #[spanner(skip)]
    seen: Rc<i64>,
}

#[derive(SpannerRow)]
struct Album {
    title: String,
    #[spanner(from = "i64")]
    shared: Shared,
}

#[derive(SpannerRow)]
struct Pair<T> {
    first: T,
    #[spanner(skip)]
    seen: Rc<i64>,
}

struct Shared(Rc<i64>);

impl From<i64> for Shared {
    fn from(n: i64) -> Self {
        Self(Rc::new(n))
    }
}

fn main() {}
