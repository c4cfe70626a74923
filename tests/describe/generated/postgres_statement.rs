// Parameters that the statement names, with types that fit:
//     .param("p1", p1) // INT64: i64
// A result does not tell which columns can be NULL: take `Option` off those that cannot.
#[derive(Debug, spanner_rows::SpannerRow)]
struct ResultRow<'row> {
    name: &'row str,
    count: Option<i64>,
    #[spanner(rename = "Most")]
    most: Option<spanner_rows::PgNumeric<&'row str>>,
    #[spanner(rename = "a b")]
    a_b: Option<i64>,
}
