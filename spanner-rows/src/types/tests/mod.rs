//! Every type through the wire and back, against independent libraries.

mod accepted;
mod arrays;
mod bytes;
mod calendar;
mod interval;
#[cfg(feature = "serde_json")]
mod json;
mod numeric;
mod owned;
mod pg_numeric;
#[cfg(feature = "prost")]
mod proto;
mod reuse;
mod scalars;
mod support;
mod time;
#[cfg(feature = "uuid")]
mod uuid;
