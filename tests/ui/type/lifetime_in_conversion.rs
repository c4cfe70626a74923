//! A reference in an attribute needs a lifetime, too; nobody but the derive sees it.

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Owned {
    #[spanner(from = "&str")]
    name: String,
}

#[derive(SpannerRow)]
struct Borrowed<'a> {
    id: &'a str,
    #[spanner(try_from = "Option<&[u8]>")]
    key: Key,
}

struct Key;

fn main() {}
