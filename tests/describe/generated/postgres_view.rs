/// A row of `public.named`.
#[derive(Debug, spanner_rows::SpannerRow)]
struct Named<'row> {
    second_id: Option<i64>,
    name: Option<&'row str>,
}
