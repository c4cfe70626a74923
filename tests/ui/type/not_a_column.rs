//! One message for each field, at the field.

use spanner_rows::SpannerRow;
use std::collections::HashMap;

struct Label;

struct Track<'a> {
    title: &'a str,
}

#[derive(SpannerRow)]
struct Owned {
    id: i64,
    small: u16,
    maybe: Option<u32>,
    label: Label,
    map: HashMap<String, i64>,
}

#[derive(SpannerRow)]
struct Borrowed<'a> {
    id: &'a str,
    small: u16,
    tracks: Vec<Track<'a>>,
}

#[derive(SpannerRow)]
struct Tuple(i64, Label);

fn main() {}
