use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Singer<'a, 'b> {
    name: &'a str,
    last_name: &'b str,
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Singer>();
}
