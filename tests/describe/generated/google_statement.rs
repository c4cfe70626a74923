// Parameters that the statement names, with types that fit:
//     .param("least", least) // INT64: i64
//     .param("texts", texts) // ARRAY<STRING>: Vec<String>
// Needs the crate `jiff`, and the feature of that name.
// A result does not tell which columns can be NULL: take `Option` off those that cannot.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct ResultRow<'row> {
    first_id: Option<&'row str>,
    #[spanner(rename = "a b")]
    a_b: &'row str,
    #[spanner(index = 2)]
    column_2: Option<i64>,
    #[spanner(rename = "type")]
    r#type: Option<&'row str>,
    self_: Option<i64>,
    _1st: Option<i64>,
    #[spanner(rename = "ünï")]
    ünï: Option<i64>,
    parts: Vec<Part>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct Part {
    #[spanner(rename = "Id")]
    id: i64,
    days: Option<Vec<Option<jiff::civil::Date>>>,
}
