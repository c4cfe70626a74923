//! What is wrong with a row is told there, not where the row is a column or
//! flattened.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Address {
    zip: u16,
}

#[derive(SpannerRow)]
struct Column {
    id: i64,
    address: Address,
}

#[derive(SpannerRow)]
struct OptionalColumn {
    id: i64,
    address: Option<Address>,
}

#[derive(SpannerRow)]
struct InTuple {
    id: i64,
    address: (i64, Address),
}

#[derive(SpannerRow)]
struct InLists {
    boxed: Box<[Address]>,
    list: Vec<Option<Address>>,
}

#[derive(SpannerRow)]
struct Flattened {
    id: i64,
    #[spanner(flatten)]
    address: Address,
}

#[derive(SpannerRow)]
struct OptionalFlattened {
    id: i64,
    #[spanner(flatten)]
    address: Option<Address>,
    #[spanner(flatten(prefix = "x"))]
    further: Flattened,
}

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Transparent(Option<Address>);

#[derive(SpannerRow)]
struct Generic<'a, T> {
    name: &'a str,
    value: T,
    address: Option<Address>,
}

fn main() {}
