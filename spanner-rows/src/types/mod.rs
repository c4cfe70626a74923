//! Spanner's types in Rust, one file per family. To add a type, implement
//! `ColumnType` and `FromColumn` for reading and `ToColumn` for parameters.

pub(crate) mod array;
pub(crate) mod base64;
mod bytes;
pub(crate) mod commit_timestamp;
#[cfg(feature = "bigdecimal")]
mod decimal_big;
#[cfg(feature = "rust_decimal")]
mod decimal_rust;
mod decimal_text;
pub(crate) mod encode;
pub(crate) mod encode_row;
mod float;
mod integer;
pub(crate) mod interval;
#[cfg(feature = "jiff")]
mod interval_jiff;
mod interval_text;
#[cfg(feature = "serde_json")]
pub(crate) mod json;
pub(crate) mod list;
mod nullable;
pub(crate) mod numeric;
pub(crate) mod pg_numeric;
#[cfg(feature = "prost")]
pub(crate) mod proto;
mod text;
#[cfg(feature = "chrono")]
mod time_chrono;
#[cfg(feature = "jiff")]
mod time_jiff;
mod time_std;
mod time_text;
#[cfg(feature = "time")]
mod time_time;
pub(crate) mod timestamp;
#[cfg(feature = "uuid")]
mod uuid;

#[cfg(test)]
mod tests;

/// Implements the lifetime-free half of a type that keeps nothing between rows.
macro_rules! plain_type {
    ($($ty:ty),+) => {
        $(impl crate::row::traits::ColumnType for $ty {
            type Spare = ();
            type Mode = crate::row::mode::Plain;
            type Static = $ty;
            type At<'row> = $ty;
        })+
    };
}
pub(crate) use plain_type;
