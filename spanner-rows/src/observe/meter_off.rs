//! Counts nothing: the feature `metrics` is off.

#[cfg(feature = "tracing")]
pub(super) use off::Meter;

/// No recorder is to know what the counters mean.
#[inline(always)]
pub(crate) const fn describe() {}

#[cfg(feature = "tracing")]
mod off {
    use std::time::Duration;

    use super::super::operation::{Operation, Outcome};

    /// Of no size, and every method does nothing.
    #[derive(Debug)]
    pub(in super::super) struct Meter;

    impl Meter {
        pub(in super::super) const fn start(_: Operation) -> Self {
            Self
        }

        pub(in super::super) const fn message(&self, _: u64) {}

        pub(in super::super) const fn rows(&self, _: u64) {}

        pub(in super::super) const fn held(&self, _: usize, _: usize) {}

        pub(in super::super) const fn first_row(&self, _: Operation, _: Duration) {}

        pub(in super::super) const fn again(&self, _: &'static str, _: bool) {}

        pub(in super::super) const fn finish(&self, _: Operation, _: Outcome, _: Duration) {}
    }
}
