//! Across two levels, prefixes, lifetimes and `Option`.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Point<'a> {
    name: &'a str,
}

#[derive(SpannerRow)]
struct Place<'b> {
    #[spanner(flatten(prefix = "geo_"))]
    point: Option<Point<'b>>,
}

#[derive(SpannerRow)]
struct Trip<'row> {
    #[spanner(flatten(prefix = "from_"))]
    from: Place<'row>,
    #[spanner(flatten(prefix = "to_"))]
    to: Option<Place<'row>>,
    to_geo_name: &'row str,
    #[spanner(flatten(prefix = "from_geo"))]
    again: Underscored<'row>,
}

#[derive(SpannerRow)]
struct Underscored<'a> {
    _name: &'a str,
}

fn main() {}
