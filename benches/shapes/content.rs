//! What rows contain, as one hash per column: every reader must come to the same.

use std::hint::black_box;

use spanner_rows::{Interval, Numeric};

/// Takes rows from a reader.
pub(crate) trait Sink {
    fn row(&mut self, row: &impl Content);

    /// One value of a row, where only one was read.
    fn value(&mut self, column: usize, value: &impl Feed);
}

/// Looks at nothing, but keeps the compiler from leaving the reading out.
pub(crate) struct Discard;

impl Sink for Discard {
    #[inline(always)]
    fn row(&mut self, row: &impl Content) {
        black_box(row);
    }

    #[inline(always)]
    fn value(&mut self, _: usize, value: &impl Feed) {
        black_box(value);
    }
}

/// A hash of each column over all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hashes {
    pub(crate) columns: Vec<Hash>,
    pub(crate) rows: u64,
}

impl Sink for Hashes {
    fn row(&mut self, row: &impl Content) {
        self.rows += 1;
        row.feed(self);
    }

    fn value(&mut self, column: usize, value: &impl Feed) {
        self.rows += 1;
        self.column(column, value);
    }
}

impl Hashes {
    pub(crate) fn column(&mut self, i: usize, value: &(impl Feed + ?Sized)) {
        if self.columns.len() <= i {
            self.columns.resize(i + 1, Hash::default());
        }
        value.feed(&mut self.columns[i]);
    }
}

/// 64-bit FNV-1a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

/// A row.
pub(crate) trait Content {
    fn feed(&self, out: &mut Hashes);
}

impl<T: Content> Content for &mut T {
    fn feed(&self, out: &mut Hashes) {
        (**self).feed(out);
    }
}

/// A value. Types that stand for the same Spanner value feed the same bytes.
pub(crate) trait Feed {
    fn feed(&self, hash: &mut Hash);
}

macro_rules! feed {
    ($($ty:ty: $value:ident => $bytes:expr;)+) => {$(
        impl Feed for $ty {
            fn feed(&self, hash: &mut Hash) {
                let $value = self;
                hash.bytes(&$bytes);
            }
        }
    )+};
}

feed! {
    bool: value => [u8::from(*value)];
    i64: value => value.to_le_bytes();
    f32: value => f64::from(*value).to_bits().to_le_bytes();
    f64: value => value.to_bits().to_le_bytes();
    Interval: value => value.to_string().into_bytes();
    Numeric: value => value.scaled().to_le_bytes();
    jiff::Timestamp: value => value.as_nanosecond().to_le_bytes();
    jiff::civil::Date: value => value.to_string().into_bytes();
    uuid::Uuid: value => *value.as_bytes();
}

impl Feed for [u8] {
    fn feed(&self, hash: &mut Hash) {
        // Else a byte could move from one value to the next unnoticed.
        hash.bytes(&self.len().to_le_bytes());
        hash.bytes(self);
    }
}

impl Feed for &[u8] {
    fn feed(&self, hash: &mut Hash) {
        (**self).feed(hash);
    }
}

impl Feed for Vec<u8> {
    fn feed(&self, hash: &mut Hash) {
        self.as_slice().feed(hash);
    }
}

impl Feed for &str {
    fn feed(&self, hash: &mut Hash) {
        self.as_bytes().feed(hash);
    }
}

impl Feed for String {
    fn feed(&self, hash: &mut Hash) {
        self.as_bytes().feed(hash);
    }
}

impl<T: Feed> Feed for Option<T> {
    fn feed(&self, hash: &mut Hash) {
        match self {
            Some(value) => value.feed(hash),
            None => hash.bytes(b"NULL"),
        }
    }
}
