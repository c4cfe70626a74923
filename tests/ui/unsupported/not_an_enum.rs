use spanner_rows::{FromColumn, SpannerEnum, SpannerRow, ToColumn};

#[derive(SpannerEnum)]
struct Id(i64);

#[derive(SpannerEnum)]
enum Empty {}

#[derive(SpannerEnum)]
union Both {
    a: i64,
}

mod inner {
    #[derive(spanner_rows::SpannerRow)]
    #[spanner(rename_all = "PascalCase")]
    pub struct Unit;

    #[derive(spanner_rows::SpannerRow)]
    pub union Union {
        a: i64,
    }
}

fn is_column<T: for<'row> FromColumn<'row> + ToColumn>() {}
fn is_row<T: SpannerRow>() {}

fn main() {
    is_column::<Id>();
    is_column::<Empty>();
    is_row::<inner::Unit>();
}
