//! Mistakes at all levels of a row, an enum and a tuple struct, in one compile.

use spanner_rows::{FromColumn, SpannerEnum, SpannerRow};

#[derive(SpannerRow)]
#[spanner(match_by = "index", rename_all = "camelCase")]
struct Singer<'a, 'b> {
    #[spanner(flatten, with = "f")]
    id: i64,
    #[spanner(with = "")]
    name: &'b str,
    last: &'a [i64],
}

#[derive(SpannerEnum)]
#[spanner(repr = "int")]
enum Genre<T> {
    Rock(T),
    #[spanner(rename = 3)]
    Jazz,
}

#[derive(SpannerRow)]
struct Tuple(#[spanner(flatten)] i64, #[spanner(index = "x")] i64);

fn is_row<T: SpannerRow>() {}
fn is_column<T: for<'row> FromColumn<'row>>() {}

fn main() {
    is_row::<Singer>();
    is_column::<Genre<i64>>();
    is_column::<Tuple>();
}
