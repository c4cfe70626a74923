//! D7, D13: in a struct with type parameters, too, a type that is no column is told
//! once, at its field; and so is one that cannot be sent to other threads.

use std::collections::HashMap;
use std::rc::Rc;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Owned<T> {
    first: T,
    second: HashMap<String, String>,
}

#[derive(SpannerRow)]
struct Borrowed<'a, T> {
    first: Option<T>,
    name: &'a str,
    second: HashMap<String, String>,
}

#[derive(SpannerRow)]
struct Reference<'a, T> {
    first: &'a T,
    second: i64,
}

#[derive(SpannerRow)]
struct Shared {
    id: i64,
    name: Rc<str>,
    call: Box<dyn Fn()>,
}

fn main() {}
