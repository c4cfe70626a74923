use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
enum Kind {
    Solo,
    Band,
}

#[derive(SpannerRow)]
union Number {
    int: i64,
    float: f64,
}

#[derive(SpannerRow)]
struct Unit;

#[derive(SpannerRow)]
struct Braces {}

#[derive(SpannerRow)]
struct Parens();

fn main() {}
