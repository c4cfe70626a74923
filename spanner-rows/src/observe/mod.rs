//! What the program is told of its requests while they run, besides their results: spans and
//! events (feature `tracing`), counters and histograms (feature `metrics`).
//!
//! * `operation`: the kinds of requests, and how they can end
//! * `start`: what is known of a request when it begins
//! * `observer`: follows one request to its end; without both features an empty type of the
//!   same face (`observer_off`), so that nobody else asks for features
//! * `trace`: its span and its events; `trace_off` without the feature
//! * `meter`: its counters and histograms; `meter_off` without the feature
//! * `columns`: columns that a row does not read
//!
//! Nothing here is done for a row: rows are counted by message, and what is counted is held as
//! plain numbers by the observer or as handles of the recorder, which are asked for once for a request.

mod columns;
#[cfg(feature = "client")]
#[cfg_attr(not(feature = "metrics"), path = "meter_off.rs")]
mod meter;
#[cfg(feature = "client")]
#[cfg_attr(
    not(any(feature = "metrics", feature = "tracing")),
    path = "observer_off.rs"
)]
mod observer;
#[cfg(feature = "client")]
mod operation;
#[cfg(feature = "client")]
mod start;
mod tally;
#[cfg(feature = "client")]
#[cfg_attr(not(feature = "tracing"), path = "trace_off.rs")]
mod trace;

pub(crate) use columns::tell_unread_columns;
#[cfg(feature = "client")]
pub(crate) use meter::describe;
#[cfg(feature = "client")]
pub(crate) use observer::Observer;
#[cfg(feature = "client")]
pub(crate) use operation::Operation;
#[cfg(feature = "client")]
pub(crate) use start::{Settings, Start, Subject};
pub(crate) use tally::Tally;
#[cfg(feature = "client")]
pub(crate) use trace::{Scope, session_lost, session_made};
