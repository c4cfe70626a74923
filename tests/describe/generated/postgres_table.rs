// Needs the crate `jiff`, and the feature of that name.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
/// A row of `public.everything`; its primary key is `first_id`, `second_id`.
#[derive(Debug, spanner_rows::SpannerRow)]
struct Everything<'row> {
    second_id: i64,
    first_id: &'row str,
    flag: bool,
    double: Option<f64>,
    single: Option<f32>,
    name: &'row str,
    blob: Option<&'row [u8]>,
    instant: jiff::Timestamp,
    day: Option<jiff::civil::Date>,
    price: spanner_rows::PgNumeric<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    doc: Option<&'row str>,
    tags: Vec<Option<&'row str>>,
    prices: Option<Vec<Option<spanner_rows::PgNumeric<&'row str>>>>,
    #[spanner(rename = "Type")]
    r#type: Option<i64>,
}
