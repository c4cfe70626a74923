//! D6: types that are no columns are told beside attributes that are wrong, but not
//! those of fields whose attributes are.

use spanner_rows::SpannerRow;

struct Address;

#[derive(SpannerRow)]
#[spanner(renam_all = "PascalCase")]
struct Singer<'a> {
    name: &'a str,
    age: u16,
    #[spanner(tryfrom = "i64")]
    rank: u16,
    #[spanner(flatten)]
    address: Address,
    albums: Option<Vec<u32>>,
    seen: std::time::Instant,
}

fn main() {}
