use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(rename = "SingerId")]
struct Singer {
    #[spanner(rename_all = "PascalCase")]
    id: i64,
}

fn main() {}
