//! Also behind good words, in later fields and in enums; words of other derives.

use spanner_rows::{SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase", deny_unknown_colums)]
struct Singer {
    #[spanner(rename = "Id", aliass = "SingerId")]
    id: i64,
    #[spanner(nulldefault)]
    name: String,
    #[spanner(default, tryfrom = "i64")]
    plays: i64,
    #[spanner(nested)]
    albums: Vec<i64>,
}

#[derive(SpannerEnum)]
#[spanner(renameall = "lowercase")]
enum Genre {
    #[spanner(othr)]
    Rock,
}

fn main() {}
