//! How much memory of an earlier value waits for the next one.

/// Up to here memory is kept whatever the next values need.
pub(crate) const KEPT_BYTES: usize = 1 << 20;

/// Whether memory of `capacity` bytes, of which a value needs `needed`, is left of
/// one giant value: a stream does not hold it for the rest of its life.
#[inline]
pub(crate) const fn is_excessive(capacity: usize, needed: usize) -> bool {
    capacity > KEPT_BYTES && needed < capacity / 4
}
