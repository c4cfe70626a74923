//! Tells nobody: the feature `tracing` is off.

#[cfg(feature = "metrics")]
pub(super) use off::Trace;

/// Of no size: no request is shown as a part of another one.
#[derive(Clone, Debug)]
pub(crate) struct Scope;

impl Scope {
    #[inline(always)]
    pub(crate) const fn none() -> Self {
        Self
    }
}

#[inline(always)]
pub(crate) const fn session_lost() {}

#[inline(always)]
pub(crate) const fn session_made() {}

#[cfg(feature = "metrics")]
mod off {
    use std::fmt::Display;
    use std::time::Duration;

    use super::super::observer::Totals;
    use super::super::operation::{Operation, Outcome};
    use super::super::start::Start;
    use super::Scope;
    use crate::error::{Error, Status};

    /// Of no size, and every method does nothing.
    #[derive(Debug)]
    pub(in super::super) struct Trace;

    impl Trace {
        pub(in super::super) const fn start(_: &Start<'_>) -> Self {
            Self
        }

        pub(in super::super) const fn scope(&self) -> Scope {
            Scope
        }

        pub(in super::super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
            work()
        }

        pub(in super::super) fn request_id(&self, _: &dyn Display) {}

        pub(in super::super) const fn attempt(&self, _: u32, _: bool) {}

        pub(in super::super) const fn first_row(&self, _: Duration) {}

        pub(in super::super) const fn again(
            &self,
            _: u32,
            _: &Status,
            _: &'static str,
            _: Duration,
            _: bool,
        ) {
        }

        pub(in super::super) const fn failed(&self, _: &Error) {}

        pub(in super::super) const fn finish(
            &self,
            _: Operation,
            _: Outcome,
            _: &Totals,
            _: Duration,
        ) {
        }
    }
}
