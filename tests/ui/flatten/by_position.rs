use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Inner {
    n: i64,
}

#[derive(SpannerRow)]
struct Tuple(i64, #[spanner(flatten)] Inner);

#[derive(SpannerRow)]
#[spanner(match_by = "index")]
struct ByIndex {
    id: i64,
    #[spanner(flatten)]
    inner: Inner,
}

fn main() {}
