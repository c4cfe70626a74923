use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Versioned<T> {
    version: i64,
    #[spanner(flatten)]
    value: T,
}

#[derive(SpannerRow)]
struct Borrowed<'a> {
    name: &'a str,
}

fn is_row<T: SpannerRow>() {}

fn main() {
    is_row::<Versioned<String>>();
    is_row::<Versioned<Borrowed<'static>>>();
}
