//! How many rows of a result were released.

/// Counts the rows of released messages; nothing where nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    rows: u64,
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Tally {
    pub(crate) const fn add(&mut self, rows: usize) {
        self.rows += rows as u64;
    }

    #[cfg(feature = "client")]
    pub(crate) const fn rows(self) -> u64 {
        self.rows
    }
}

#[cfg(not(any(feature = "metrics", feature = "tracing")))]
impl Tally {
    #[inline(always)]
    pub(crate) const fn add(&mut self, _: usize) {}

    #[cfg(feature = "client")]
    #[inline(always)]
    pub(crate) const fn rows(self) -> u64 {
        0
    }
}
