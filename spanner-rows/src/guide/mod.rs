//! How this crate is used, from the first struct to a program that runs for years.
//!
//! * [`choosing_a_mode`]: borrowed or owned, and what each costs
//! * [`keeping_rows`]: batches, owned rows, one row to keep
//! * [`lifetimes`]: every message of the compiler about a row that is kept too long, and what to write instead
//! * [`errors`]: columns that do not fit, NULL, values that are wrong, requests that fail; the cure of each
//! * [`retries_and_cancellation`]: what is tried again, for how long, and what may be dropped when
//! * [`transactions`]: reading at one time, reading and writing, writing much
//! * [`scaling_out`]: a result that many tasks or machines read
//! * [`testing`]: unit tests without a server, tests on the emulator, tests of the schema
//! * [`performance`]: what to measure, and what helps
//! * [`costs`]: instructions and allocations of a value of each type
//! * [`promises`]: what you may rely on, and what may change
//!
//! Columns and attributes are described at [`SpannerRow`](derive@crate::SpannerRow), enums at
//! [`SpannerEnum`](derive@crate::SpannerEnum), rows that are sent at [`SpannerEncode`](derive@crate::SpannerEncode).

#[doc = include_str!("choosing_a_mode.md")]
pub mod choosing_a_mode {}
#[doc = include_str!("costs.md")]
pub mod costs {}
#[doc = include_str!("errors.md")]
pub mod errors {}
#[doc = include_str!("keeping_rows.md")]
pub mod keeping_rows {}
#[doc = include_str!("lifetimes.md")]
pub mod lifetimes {}
#[doc = include_str!("performance.md")]
pub mod performance {}
#[doc = include_str!("promises.md")]
pub mod promises {}
#[doc = include_str!("retries_and_cancellation.md")]
pub mod retries_and_cancellation {}
#[doc = include_str!("scaling_out.md")]
pub mod scaling_out {}
#[doc = include_str!("testing.md")]
pub mod testing {}
#[doc = include_str!("transactions.md")]
pub mod transactions {}
