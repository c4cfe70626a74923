//! Rows that are written, of every form.

use std::marker::PhantomData;

use spanner_rows::{SpannerEncode, ToColumn};

type Text = &'static str;

#[derive(SpannerEncode)]
struct Generic<'a, 'b: 'a, T, const N: usize>
where
    T: Clone,
{
    r#type: &'a T,
    __out: &'b [T; N],
    text: Text,
    #[spanner(skip)]
    marker: PhantomData<T>,
    #[spanner(flatten(prefix = "inner_"))]
    inner: Option<Inner<T>>,
}

#[derive(SpannerEncode)]
struct Inner<T>(T, Vec<Option<T>>);

#[derive(SpannerEncode)]
struct Recursive<'a> {
    name: String,
    #[spanner(with(module = "children"))]
    children: Vec<Recursive<'a>>,
    parent: &'a str,
}

mod children {
    pub fn encode<'a>(all: &'a Vec<super::Recursive<'_>>) -> Vec<&'a str> {
        all.iter().map(|child| child.name.as_str()).collect()
    }
}

fn sent<T: ToColumn>() {}

fn main() {
    sent::<Generic<'_, '_, i64, 3>>();
    sent::<Vec<Option<Recursive<'_>>>>();
}
