use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer {
    #[spanner(default = "text")]
    id: i64,
    #[spanner(skip = "missing")]
    name: String,
    #[spanner(null_default = "with_argument")]
    plays: i64,
}

fn text() -> &'static str {
    ""
}

fn with_argument(n: i64) -> i64 {
    n
}

fn main() {}
