// Needs the crate `jiff`, and the feature of that name.
// Needs the crate `uuid`, and the feature of that name.
// A result does not tell which columns can be NULL: take `Option` off those that cannot.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct ResultRow<'row> {
    bool: Option<bool>,
    bools: Option<Vec<Option<bool>>>,
    int64: Option<i64>,
    int64s: Option<Vec<Option<i64>>>,
    float64: Option<f64>,
    float64s: Option<Vec<Option<f64>>>,
    float32: Option<f32>,
    float32s: Option<Vec<Option<f32>>>,
    string: Option<&'row str>,
    strings: Option<Vec<Option<&'row str>>>,
    bytes: Option<&'row [u8]>,
    bytess: Option<Vec<Option<&'row [u8]>>>,
    timestamp: Option<jiff::Timestamp>,
    timestamps: Option<Vec<Option<jiff::Timestamp>>>,
    date: Option<jiff::civil::Date>,
    dates: Option<Vec<Option<jiff::civil::Date>>>,
    numeric: Option<spanner_rows::Numeric>,
    numerics: Option<Vec<Option<spanner_rows::Numeric>>>,
    pg_numeric: Option<spanner_rows::PgNumeric<&'row str>>,
    pg_numerics: Option<Vec<Option<spanner_rows::PgNumeric<&'row str>>>>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    json: Option<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    jsons: Option<Vec<Option<&'row str>>>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    pg_jsonb: Option<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    pg_jsonbs: Option<Vec<Option<&'row str>>>,
    pg_oid: Option<i64>,
    pg_oids: Option<Vec<Option<i64>>>,
    // PROTO<music.Track>: `spanner_rows::Proto` reads messages of prost
    proto: Option<&'row [u8]>,
    // PROTO<music.Track>: `spanner_rows::Proto` reads messages of prost
    protos: Option<Vec<Option<&'row [u8]>>>,
    // ENUM<music.Genre>: `spanner_rows::ProtoEnum` reads enums of prost
    r#enum: Option<i64>,
    // ENUM<music.Genre>: `spanner_rows::ProtoEnum` reads enums of prost
    enums: Option<Vec<Option<i64>>>,
    interval: Option<spanner_rows::Interval>,
    intervals: Option<Vec<Option<spanner_rows::Interval>>>,
    uuid: Option<uuid::Uuid>,
    uuids: Option<Vec<Option<uuid::Uuid>>>,
    // unknown type 99: this version of the crate has no type for it
    new: Option<spanner_rows::Value<'row>>,
    // unknown type 99: this version of the crate has no type for it
    news: Option<Vec<Option<spanner_rows::Value<'row>>>>,
    // unspecified type: this version of the crate has no type for it
    strange: Option<spanner_rows::Value<'row>>,
    // unspecified type: this version of the crate has no type for it
    stranges: Option<Vec<Option<spanner_rows::Value<'row>>>>,
}
