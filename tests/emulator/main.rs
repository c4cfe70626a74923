//! Client, rows and types against Google's emulator: a real server's SQL, its
//! types and its way to cut results.
//!
//! Each test has a database of its own. Without an emulator the tests are passed
//! over; with `SPANNER_ROWS_REQUIRE_EMULATOR=1` they fail instead.
//!
//! | file | what is read |
//! |---|---|
//! | `types`, `everything`, `literals` | every type with its edge values, by every way of reading |
//! | `more_types` | the same for types of other crates, and for all that can hold a column |
//! | `postgres` | the PostgreSQL dialect: NUMERIC of any length, JSONB, OID |
//! | `protos` | PROTO and ENUM |
//! | `params` | query parameters of every type |
//! | `structs` | arrays of structs, also nested |
//! | `change_stream` | the records of a change stream, into the structs of the example |
//! | `large` | results of many messages, values longer than one |
//! | `check` | rows held against statements and tables, nothing read |
//! | `reads` | reads by key, range and index |
//! | `bounds` | every timestamp bound |
//! | `read_only` | transactions of several queries |
//! | `transaction`, `write`, `partitioned_dml` | what is written |
//! | `methods` | every way to take rows from a stream |
//! | `errors` | what is wrong and how it is told |
//! | `constraints` | violated constraints and how they are told |

mod bounds;
mod change_stream;
mod check;
mod constraints;
mod errors;
mod everything;
mod large;
mod literals;
mod methods;
mod more_types;
mod params;
mod partitioned_dml;
mod partitions;
mod postgres;
mod protos;
mod read_only;
mod reads;
mod structs;
mod support;
mod transaction;
mod types;
mod ways;
mod write;
