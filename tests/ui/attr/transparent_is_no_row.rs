use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Id(i64);

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Id>();
}
