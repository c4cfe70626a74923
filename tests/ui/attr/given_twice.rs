use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
#[spanner(match_by = "name", rename_all = "camelCase")]
struct Singer {
    #[spanner(rename = "SingerId", rename = "Id")]
    id: i64,
}

fn main() {}
