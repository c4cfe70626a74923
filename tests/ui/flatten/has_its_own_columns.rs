use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Inner {
    n: i64,
}

#[derive(SpannerRow)]
struct Outer {
    #[spanner(flatten, rename = "x")]
    a: Inner,
    #[spanner(index = 0, flatten(prefix = "b_"))]
    b: Inner,
    #[spanner(flatten(prefix = "c_"), default)]
    c: Inner,
    #[spanner(flatten(prefix = "d_"), try_from = "i64")]
    d: Inner,
}

fn main() {}
