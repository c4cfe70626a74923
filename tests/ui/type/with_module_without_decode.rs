use spanner_rows::SpannerRow;

mod empty {}

#[derive(SpannerRow)]
struct Singer<'a> {
    name: &'a str,
    #[spanner(with(module = "empty"), default)]
    id: i64,
}

fn main() {}
