use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    #[spanner(index = 0)]
    id: i64,
    name: String,
    #[spanner(index = 0)]
    plays: i64,
}

#[derive(SpannerRow)]
struct Tuple(i64, i64, #[spanner(index = 1)] i64);

fn main() {}
