use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    #[spanner(skip)]
    id: i64,
}

#[derive(SpannerRow)]
struct Tuple(#[spanner(skip)] i64);

fn main() {}
