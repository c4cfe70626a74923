// A result does not tell which columns can be NULL: take `Option` off those that cannot.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Customer<'row> {
    orders: Vec<Order<'row>>,
    #[spanner(rename = "order")]
    order: Option<Vec<Order2<'row>>>,
    // STRUCT<>: this version of the crate has no type for it
    nothing: Option<Vec<spanner_rows::Value<'row>>>,
    lists: Vec<Option<Vec<Option<i64>>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct Order<'row> {
    id: i64,
    lines: Option<Vec<Line<'row>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct Line<'row> {
    product: Option<&'row str>,
    #[spanner(index = 1)]
    column_1: Option<i64>,
    #[spanner(rename = "Option")]
    option: Option<OptionRow>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OptionRow {
    string: Option<i64>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct Order2<'row> {
    product: &'row str,
    #[spanner(index = 1)]
    column_1: Option<i64>,
    #[spanner(rename = "Option")]
    option: Option<OptionRow2>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct OptionRow2 {
    string: Option<i64>,
}
