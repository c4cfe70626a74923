//! What is in a string is judged where it stands.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(bound = "T")]
struct Singer<T> {
    #[spanner(with = "|column| column.text()")]
    id: T,
    #[spanner(default = "0")]
    plays: i64,
    #[spanner(try_from = "i64 as u8")]
    small: u8,
    #[spanner(skip = "String::new()")]
    name: String,
    #[spanner(with(module = "a::b()"))]
    last: String,
}

fn main() {}
