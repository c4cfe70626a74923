use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(default = "x", transparent(yes), deny_unknown_columns = true)]
struct Singer {
    #[spanner(index = -1)]
    id: i64,
    #[spanner(index = "2")]
    plays: i64,
    #[spanner(flatten(prefx = "x_"))]
    address: Address,
    #[spanner(flatten = "x_")]
    home: Address,
    #[spanner(alias = "")]
    name: String,
    #[spanner(with)]
    last: String,
    #[spanner(index = 4_000_000_000_000)]
    far: i64,
}

struct Address;

fn main() {}
