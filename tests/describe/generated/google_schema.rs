/// A row of `shop.Orders`; its primary key is `Id`.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Order<'row> {
    id: i64,
    everything: Option<&'row str>,
}
