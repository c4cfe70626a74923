use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Versioned<T> {
    version: i64,
    value: T,
}

struct Label;

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Versioned<String>>();
    is_row::<Versioned<Label>>();
}
