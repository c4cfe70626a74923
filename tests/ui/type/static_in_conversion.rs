use std::borrow::Cow;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Song<'row> {
    title: &'row str,
    #[spanner(from = "&'static str")]
    name: String,
    album: Option<Cow<'static, str>>,
    label: Vec<&'static str>,
}

fn main() {}
