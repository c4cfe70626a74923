//! A row that would be a column of itself.

use std::sync::Arc;

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
struct Node {
    id: i64,
    next: Box<Node>,
    other: (i64, Option<Arc<Self>>),
    #[spanner(flatten(prefix = "more_"))]
    more: Option<Box<Node>>,
    // As deep as the type of the column.
    #[spanner(default)]
    nodes: Vec<Node>,
    #[spanner(skip)]
    skipped: Option<Box<Node>>,
}

#[derive(SpannerRow)]
struct Link<'a> {
    name: &'a str,
    next: Option<Link<'a>>,
}

mod other {
    #[derive(spanner_rows::SpannerRow)]
    pub struct Node {
        id: i64,
    }
}

#[derive(SpannerRow)]
struct Tree {
    node: other::Node,
    link: Option<Tree2>,
}

// Through another row.
#[derive(SpannerRow)]
struct Tree2 {
    tree: Box<Tree>,
}

fn main() {}
