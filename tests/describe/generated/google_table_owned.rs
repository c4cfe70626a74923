// Needs the crate `jiff`, and the feature of that name.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
/// A row of `Everything`; its primary key is `FirstId`, `SecondId` DESC.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Everything {
    second_id: i64,
    first_id: Option<String>,
    bool: bool,
    double: Option<f64>,
    single: Option<f32>,
    text: String,
    blob: Option<Vec<u8>>,
    instant: jiff::Timestamp,
    day: Option<jiff::civil::Date>,
    price: spanner_rows::Numeric,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    document: Option<String>,
    tags: Vec<Option<String>>,
    days: Option<Vec<Option<jiff::civil::Date>>>,
    #[spanner(rename = "type")]
    r#type: Option<i64>,
}
