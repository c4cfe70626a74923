use spanner_rows::SpannerRow;

mod empty {}

#[derive(SpannerRow)]
struct Singer {
    #[spanner(with(module = "empty"))]
    id: i64,
    #[spanner(with(module = "missing"))]
    plays: i64,
}

fn main() {}
