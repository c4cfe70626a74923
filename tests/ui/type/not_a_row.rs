use spanner_rows::SpannerRow;

struct Singer {
    id: i64,
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Singer>();
    is_row::<(i64, Singer)>();
}
