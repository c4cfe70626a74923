use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    #[spanner(from = "i64", try_from = "i64")]
    id: i64,
    #[spanner(with = "read", from = "i64")]
    plays: i64,
    #[spanner(index = 3, alias = "Born")]
    born: i64,
    #[spanner(null_default)]
    died: Option<i64>,
}

fn main() {}
