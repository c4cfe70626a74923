//! Attributes that mean nothing, or not enough, for rows that are written; what is
//! wrong for reading, too, is told once.

use spanner_rows::{SpannerEncode, SpannerRow};

#[derive(SpannerEncode)]
struct Singer {
    #[spanner(with = "read_only")]
    id: i64,
    #[spanner(skip, read_only)]
    name: String,
}

#[derive(SpannerRow, SpannerEncode)]
#[spanner(transparent)]
struct Name(String);

#[derive(SpannerEncode)]
struct Nothing {
    #[spanner(read_only)]
    id: i64,
    #[spanner(skip)]
    name: String,
}

#[derive(SpannerRow, SpannerEncode)]
struct Both {
    #[spanner(raname = "Id")]
    id: i64,
    #[spanner(rename = "x")]
    a: i64,
    x: i64,
}

#[derive(SpannerEncode)]
enum Genre {
    Rock,
}

fn encodes<T: SpannerEncode>() {}

fn main() {
    encodes::<Singer>();
    encodes::<Nothing>();
    encodes::<Both>();
}
