//! Every type through the wire and back, against independent libraries.

mod arrays;
mod bytes;
mod interval;
#[cfg(feature = "serde_json")]
mod json;
mod numeric;
mod pg_numeric;
#[cfg(feature = "prost")]
mod proto;
mod reuse;
mod support;
mod time;
#[cfg(feature = "uuid")]
mod uuid;
