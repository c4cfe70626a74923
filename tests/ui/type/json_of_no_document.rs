use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    id: i64,
    #[spanner(json)]
    details: Details,
}

struct Details;

fn main() {}
