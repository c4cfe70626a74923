//! Rows: the traits that generated code implements, the binding of columns
//! made once per result set, and the cursor that reads values from the wire.
//!
//! A new column type goes to `types/`; this folder knows forms on the wire
//! (string, number, list), not Spanner's types.

pub(crate) mod adapt;
pub(crate) mod binder;
pub(crate) mod binding;
pub(crate) mod column;
pub(crate) mod cursor;
mod distinct;
pub(crate) mod dynamic;
pub(crate) mod error;
mod hint;
pub(crate) mod json;
pub(crate) mod lookup;
pub(crate) mod memory;
pub(crate) mod mode;
pub(crate) mod segment;
#[cfg(feature = "serde")]
mod serialize;
pub(crate) mod spec;
pub(crate) mod tables;
pub(crate) mod text;
pub(crate) mod traits;
mod tuple;
pub(crate) mod value;

#[cfg(test)]
mod row_tests;
