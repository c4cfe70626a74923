use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Inner {
    id: i64,
    name: String,
}

#[derive(SpannerRow)]
struct Outer {
    id: i64,
    #[spanner(flatten)]
    inner: Inner,
}

#[derive(SpannerRow)]
struct After {
    #[spanner(flatten)]
    inner: Inner,
    #[spanner(alias = "name")]
    title: String,
}

fn main() {}
