// A result does not tell which columns can be NULL: take `Option` off those that cannot.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(match_by = "index")]
struct ResultRow<'row> {
    column_0: Option<i64>,
    n: Option<&'row str>,
    n_2: Option<bool>,
}
