use spanner_rows::SpannerRow;

struct NotRow;

#[derive(SpannerRow)]
struct Singer<'a> {
    id: &'a str,
    #[spanner(flatten)]
    address: NotRow,
}

#[derive(SpannerRow)]
struct Owned {
    id: i64,
    #[spanner(flatten(prefix = "a_"))]
    address: NotRow,
}

fn main() {}
