use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    r#type: i64,
    #[spanner(rename = "type")]
    kind: i64,
}

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Album {
    track_1: String,
    track1: String,
}

fn main() {}
