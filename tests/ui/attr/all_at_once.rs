//! Everything that is wrong is said in one compile, and nothing about the uses.

use spanner_rows::{FromColumn, OwnedRow, SpannerRow};

#[derive(SpannerRow)]
#[spanner(match_by = "position", renam_all = "PascalCase")]
struct Singer {
    #[spanner(rename = "")]
    id: i64,
    #[spanner(rename = 3)]
    name: &'static str,
}

#[derive(SpannerRow)]
enum Kind {
    Solo,
}

#[derive(SpannerRow)]
struct Album<'a> {
    #[spanner(nonsense)]
    title: &'a str,
    singers: Vec<Singer>,
}

fn is_row<T: SpannerRow>() {}
fn is_owned<T: OwnedRow>() {}
fn is_column<T: for<'row> FromColumn<'row>>() {}

fn main() {
    is_row::<Singer>();
    is_owned::<Singer>();
    is_column::<Singer>();
    is_row::<Kind>();
    is_row::<Album>();
}
