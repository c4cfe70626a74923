use spanner_rows::{SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(default)]
#[spanner(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Singer {
    id: i64,
    #[spanner(default, alias = "a", alias = "b", default = "zero")]
    name: i64,
    #[spanner(index = 0)]
    #[spanner(index = 1)]
    plays: i64,
}

fn zero() -> i64 {
    0
}

#[derive(SpannerEnum)]
enum Genre {
    #[spanner(rename = "a", rename = "b")]
    Rock,
}

fn main() {}
