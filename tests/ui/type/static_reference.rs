use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Owned {
    name: &'static str,
}

#[derive(SpannerRow)]
struct Borrowed<'a> {
    id: &'a str,
    names: Vec<Option<&'static str>>,
}

fn main() {}
