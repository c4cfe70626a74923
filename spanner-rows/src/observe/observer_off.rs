//! Follows nobody: the features `tracing` and `metrics` are both off.

use std::fmt::Display;
use std::time::Duration;

use super::start::Start;
use super::trace::Scope;
use crate::error::{Error, Status};

/// Of no size, and every method does nothing.
#[derive(Debug)]
pub(crate) struct Observer;

impl Observer {
    #[inline(always)]
    pub(crate) const fn start(_: &Start<'_>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) const fn scope(&self) -> Scope {
        Scope
    }

    #[inline(always)]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    #[inline(always)]
    pub(crate) fn request_id(&self, _: &dyn Display) {}

    #[inline(always)]
    pub(crate) const fn attempt(&mut self, _: u32, _: bool) {}

    #[inline(always)]
    pub(crate) const fn message(&mut self, _: usize) {}

    #[inline(always)]
    pub(crate) const fn progress(&mut self, _: u64, _: usize) {}

    #[inline(always)]
    pub(crate) const fn again(&mut self, _: u32, _: &Status, _: Duration, _: bool) {}

    #[inline(always)]
    pub(crate) const fn ended(&mut self) {}

    #[inline(always)]
    pub(crate) const fn failed(&mut self, _: &Error) {}

    #[inline(always)]
    pub(crate) const fn failed_with(&mut self, _: &Status) {}

    #[inline(always)]
    pub(crate) const fn rolled_back(&mut self) {}
}

const _: () = assert!(size_of::<Observer>() == 0, "off costs nothing");
