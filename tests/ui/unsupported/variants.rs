use spanner_rows::SpannerEnum;

#[derive(SpannerEnum)]
enum Genre {
    Rock(i64),
    Pop { name: String },
    #[spanner(other)]
    Other(String),
    #[spanner(other)]
    More(String),
}

#[derive(SpannerEnum)]
enum Twice {
    A,
    #[spanner(rename = "A")]
    B,
    #[spanner(alias = "A")]
    C,
    #[spanner(other, rename = "x")]
    Other(String, String),
}

#[derive(SpannerEnum)]
#[spanner(rename_all = "lowercase")]
enum Numbers {
    #[spanner(rename = "one")]
    One = 1,
    Two = 2,
}

fn main() {}
