use spanner_rows::{FromColumn, SpannerRow};

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Two(i64, String);

#[derive(SpannerRow)]
#[spanner(transparent, rename_all = "PascalCase")]
struct Id {
    #[spanner(rename = "Id")]
    id: i64,
}

#[derive(SpannerRow)]
#[spanner(transparent)]
struct None(#[spanner(skip)] i64);

fn is_column<T: for<'row> FromColumn<'row>>() {}

fn main() {
    is_column::<Two>();
    is_column::<Id>();
}
