//! Fields that cannot be written.

use std::rc::Rc;

use spanner_rows::{Client, SpannerEncode};

struct Point;

#[derive(SpannerEncode)]
struct Singer<'a> {
    name: &'a str,
    age: u16,
    #[spanner(flatten)]
    home: Point,
    #[spanner(json)]
    document: Point,
    #[spanner(from = "i64")]
    converted: Point,
    #[spanner(with(module = "points"))]
    encoded: Point,
    #[spanner(with(module = "nothing"))]
    no_function: i64,
    shared: Rc<str>,
}

mod points {
    pub fn encode(_: &super::Point) -> super::Point {
        super::Point
    }
}

mod nothing {}

fn send(client: &Client, point: Point) {
    let _ = client.query("SELECT @p").param("p", point);
}

fn main() {}
