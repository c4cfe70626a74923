use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    id: i64,
    #[spanner(skip, default)]
    name: String,
    #[spanner(rename = "X", skip = "none")]
    cache: Option<String>,
}

fn none() -> Option<String> {
    None
}

fn main() {}
