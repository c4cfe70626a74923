use spanner_rows::{SpannerEnum, SpannerRow};

#[derive(SpannerEnum)]
enum Genre<'a, 'b> {
    Rock,
    #[spanner(other)]
    Other(&'b str, &'a str),
}

#[derive(SpannerRow)]
struct Song<'x, 'y, T> {
    title: &'x str,
    genre: &'y T,
}

#[derive(SpannerRow)]
struct Album<'x, 'y> {
    title: std::borrow::Cow<'x, str>,
    singer: std::borrow::Cow<'y, str>,
}

fn main() {}
