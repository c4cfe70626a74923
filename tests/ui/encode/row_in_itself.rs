//! A row that would be sent in itself: its type would have no end.

use spanner_rows::SpannerEncode;

#[derive(SpannerEncode)]
struct Node<'a> {
    id: i64,
    nodes: Vec<Node<'a>>,
    slice: Option<&'a [Self]>,
    #[spanner(read_only)]
    left_out: Vec<Node<'a>>,
    #[spanner(skip)]
    skipped: Vec<Node<'a>>,
}

fn main() {}
