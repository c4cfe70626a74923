//! A path to the runtime at which there is none is told of once for each derive,
//! however often generated code uses it, and not where the structs are used.

use spanner_rows::{OwnedRow, SpannerEncode, SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(crate = "nowhere")]
struct Singer<'a> {
    id: i64,
    name: &'a str,
    #[spanner(default)]
    age: Option<i64>,
    #[spanner(flatten(prefix = "home_"))]
    home: Address,
}

#[derive(SpannerRow)]
#[spanner(crate = "crate::nowhere")]
struct Address {
    city: String,
}

#[derive(SpannerRow)]
#[spanner(crate = "self::nowhere", transparent)]
struct Id(i64);

#[derive(SpannerEncode)]
#[spanner(crate = "::nowhere::rows")]
struct Sent {
    id: i64,
    name: String,
}

#[derive(SpannerEnum)]
#[spanner(crate = "nowhere")]
enum Genre {
    Rock,
    Jazz,
}

fn is_row<T: OwnedRow>() {}

fn main() {
    is_row::<Address>();
}
