use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Song<'row> {
    title: &'row str,
    #[spanner(rename = "Tags")]
    tags: Option<&'row [&'row str]>,
    plays: &'row [i64],
}

#[derive(SpannerRow)]
struct Tuple<'row>(i64, &'row [f64]);

type Alias<'a> = &'a [i64];

#[derive(SpannerRow)]
struct Aliased<'row> {
    plays: Alias<'row>,
}

fn main() {}
