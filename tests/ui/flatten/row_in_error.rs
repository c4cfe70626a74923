//! What is wrong with a row is not told again where it is flattened.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Id {
    id: i64,
    name: String,
}

#[derive(SpannerRow)]
struct Address {
    #[spanner(renam = "City")]
    city: String,
}

#[derive(SpannerRow)]
struct Singer {
    #[spanner(flatten)]
    id: Id,
    #[spanner(flatten)]
    home: Address,
    #[spanner(flatten(prefix = "work_"))]
    work: Option<Address>,
    age: i64,
}

#[derive(SpannerRow)]
struct Album {
    #[spanner(flatten)]
    singer: Singer,
    title: String,
}

fn main() {}
