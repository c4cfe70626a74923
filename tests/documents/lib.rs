//! The code in the documents at the root of the repository compiles, and runs where it can:
//! `cargo test --doc`. They are not included by `spanner-rows` itself, whose package would
//! then not have the files that it includes.

/// What users see first.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// For those who come from another client.
#[cfg(doctest)]
#[doc = include_str!("../../MIGRATION.md")]
pub struct Migration;

/// Beside other clients.
#[cfg(doctest)]
#[doc = include_str!("../../COMPARE.md")]
pub struct Compare;
