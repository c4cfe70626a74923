//! A parallel export of a table to Parquet, which goes on where it was interrupted.
//!
//! | file | job |
//! |---|---|
//! | `main.rs` | the program: options, where the table is, the report |
//! | `options.rs` | the command line |
//! | `source.rs` | which database: the fake one in this process, one on the emulator, or yours |
//! | `export.rs` | splits the table, reads the parts side by side, takes up what was interrupted |
//! | `manifest.rs` | what an interrupted export needs to know |
//! | `part.rs` | one part of the table becomes one Parquet file |
//! | `columns.rs` | Spanner's types as Arrow's, and values into Arrow's builders |
//! | `verify.rs` | reads the files back and compares them with the table |
//!
//! It is a library and a program, so that the tests can call it.
#![forbid(unsafe_code)]

pub mod columns;
pub mod export;
pub mod manifest;
pub mod options;
pub mod part;
pub mod source;
pub mod verify;

/// What goes wrong is for people to read.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
