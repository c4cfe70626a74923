//! Fields called like locals, raw identifiers, lifetimes of any name, aliases
//! and macros as types; with every attribute that adds code.

use spanner_rows::SpannerRow;

macro_rules! text {
    ($lifetime:lifetime) => { &$lifetime str };
}

type Small = u8;

#[derive(SpannerRow)]
struct Locals<'__row> {
    #[spanner(default)]
    __cursor: i64,
    #[spanner(null_default)]
    __spare: text!('__row),
    #[spanner(try_from = "i64")]
    __row: Small,
    #[spanner(from = "std::string::String", default = "make")]
    r#type: r#Box,
    #[spanner(flatten(prefix = "r#"))]
    r#fn: Inner<'__row>,
    #[spanner(flatten)]
    r#match: Option<Other>,
    #[spanner(skip = "r#loop")]
    r#loop: i64,
    #[spanner(with = "r#with")]
    column: i64,
}

#[allow(non_camel_case_types)]
type r#Box = std::boxed::Box<str>;

fn make() -> r#Box {
    "".into()
}

fn r#loop() -> i64 {
    0
}

fn r#with(column: spanner_rows::Column<'_, '_>) -> Result<i64, &'static str> {
    column.text().map(|_| 1).map_err(|_| "no text")
}

#[derive(SpannerRow)]
struct Inner<'row> {
    __cursor: &'row str,
}

#[derive(SpannerRow)]
struct Other {
    row: String,
}

fn main() {}
