use spanner_rows::{Column, DecodeError, SpannerRow};

#[derive(SpannerRow)]
struct Singer {
    #[spanner(with = "no_result")]
    id: i64,
    #[spanner(with = "of_text")]
    plays: i64,
    #[spanner(with = "other_value")]
    name: String,
    #[spanner(with = "missing")]
    last: String,
}

fn no_result(_: Column<'_, '_>) -> i64 {
    0
}

fn of_text(_: &str) -> Result<i64, DecodeError> {
    Ok(0)
}

fn other_value(_: Column<'_, '_>) -> Result<i64, DecodeError> {
    Ok(0)
}

fn main() {}
