//! The generated messages and services of the protocol.
//!
//! Everything below is made by `cargo xtask generate` from `proto/`, whose README says how the messages differ from the service's own
//! definition. No generated type is part of the public interface; results are not read through them but by `wire`.
//!
//! * [`spanner`]: requests, sessions, transactions and the client of the data service
//! * [`rpc`]: what a failed call carries
//! * `spanner_server`: the server side, for `FakeSpanner`
//! * `longrunning`, `admin_instance`, `admin_database`: administration calls, for `Emulator`
#![allow(
    dead_code,
    missing_debug_implementations,
    missing_docs,
    unnameable_types,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::use_self,
    reason = "generated code, private to this crate, describes all of the protocol that is in proto/"
)]

#[rustfmt::skip]
pub(crate) mod rpc;
#[rustfmt::skip]
pub(crate) mod spanner;

#[cfg(feature = "testing")]
#[rustfmt::skip]
pub(crate) mod admin_database;
#[cfg(feature = "testing")]
#[rustfmt::skip]
pub(crate) mod admin_instance;
#[cfg(feature = "testing")]
#[rustfmt::skip]
pub(crate) mod longrunning;
#[cfg(feature = "testing")]
#[rustfmt::skip]
pub(crate) mod spanner_server;

#[cfg(test)]
mod cross_check;
