use spanner_rows::{OwnedRow, SpannerRow};

#[derive(SpannerRow)]
struct Versioned<'a, T, U = i64> {
    key: &'a str,
    #[spanner(flatten)]
    value: T,
    #[spanner(flatten(prefix = "old_"))]
    before: Option<T>,
    #[spanner(flatten(prefix = "page_"))]
    page: Page<U>,
    extra: Vec<U>,
}

#[derive(SpannerRow)]
struct Page<U> {
    items: Option<U>,
}

fn read<T: OwnedRow>() -> Option<Versioned<'static, T, String>> {
    fn is_row<T: SpannerRow>() {}
    is_row::<Versioned<'_, T, String>>();
    None
}

fn main() {
    read::<(i64, String)>();
    read::<Page<i64>>();
}
