use spanner_rows::{FromColumn, SpannerRow};

struct NoDefault;

#[derive(SpannerRow)]
struct Singer<'a> {
    id: i64,
    #[spanner(skip)]
    cache: NoDefault,
    #[spanner(default)]
    name: Inner<'a>,
    #[spanner(null_default)]
    last: Option2<'a>,
}

#[derive(SpannerRow)]
struct Inner<'a> {
    name: &'a str,
}

type Option2<'a> = Inner<'a>;

#[derive(SpannerRow)]
#[spanner(default)]
struct Album {
    id: i64,
}

fn is_column<T: for<'row> FromColumn<'row>>() {}

fn main() {
    is_column::<Album>();
}
