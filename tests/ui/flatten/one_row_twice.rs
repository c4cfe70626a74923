use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Point {
    x: i64,
}

#[derive(SpannerRow)]
struct Line {
    #[spanner(flatten)]
    from: Point,
    #[spanner(flatten)]
    to: Option<Point>,
}

#[derive(SpannerRow)]
struct Positions {
    #[spanner(index = 1)]
    n: i64,
    #[spanner(flatten)]
    pair: (i64, i64),
}

fn main() {}
