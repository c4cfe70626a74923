/// A row of `Named`.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Named<'row> {
    second_id: Option<i64>,
    text: Option<&'row str>,
}
