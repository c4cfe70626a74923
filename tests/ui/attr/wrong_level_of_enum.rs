use spanner_rows::{SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(flatten, index = 1)]
struct Singer {
    #[spanner(deny_unknown_columns)]
    id: i64,
    #[spanner(bound = "", match_by = "index")]
    name: String,
}

#[derive(SpannerEnum)]
#[spanner(rename = "x", other)]
enum Genre {
    #[spanner(rename_all = "lowercase")]
    Rock,
    #[spanner(default)]
    Jazz,
}

fn main() {}
