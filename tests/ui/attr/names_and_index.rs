use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase", match_by = "index")]
struct Singer {
    #[spanner(rename = "SingerId")]
    id: i64,
}

#[derive(SpannerRow)]
#[spanner(match_by = "name")]
struct Pair(#[spanner(rename = "SingerId")] i64, String);

fn main() {}
