//! Keys, and ranges of keys.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};

use super::request::tag;
use crate::types::encode::ToColumn;
use crate::types::timestamp::Timestamp;
use crate::wire::writer::{ListWriter, with_length};

/// Fields of `google.spanner.v1.KeyRange`, each with a `google.protobuf.ListValue`.
const START_CLOSED: u8 = tag(1);
const START_OPEN: u8 = tag(2);
const END_CLOSED: u8 = tag(3);
const END_OPEN: u8 = tag(4);

/// The key of a row in a table or in an index: a value for each key column, in
/// order.
///
/// A key of one column is the value itself, one of several a tuple of anything
/// that can be a query parameter: `7_i64`, `("Albums", 3_i64)`, `("x", None::<i64>)`.
/// `()` is the key of a table whose one row has no key columns.
///
/// For a type of your own write its parts:
///
/// ```
/// use spanner_rows::{Key, ListWriter};
///
/// struct AlbumId { singer: i64, album: i64 }
///
/// impl Key for AlbumId {
///     fn write(&self, parts: &mut ListWriter<'_>) {
///         (self.singer, self.album).write(parts);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a row",
    label = "not a key",
    note = "keys are bool, i64, f64, text, bytes, dates and timestamps, `Option` of these, and tuples of anything that can be a query parameter"
)]
pub trait Key {
    /// Writes the value of each key column, in order.
    fn write(&self, parts: &mut ListWriter<'_>);
}

macro_rules! scalar_key {
    ($($ty:ty),+ $(,)?) => {
        $(impl Key for $ty {
            fn write(&self, parts: &mut ListWriter<'_>) {
                parts.element(|out| ToColumn::write(self, out));
            }
        })+
    };
}

scalar_key! {
    bool, i64, f64, f32,
    str, String, Box<str>, Cow<'_, str>,
    [u8], Vec<u8>, Cow<'_, [u8]>,
    Timestamp,
}

#[cfg(feature = "jiff")]
scalar_key!(jiff::Timestamp, jiff::civil::Date);

impl<T: Key + ?Sized> Key for &T {
    fn write(&self, parts: &mut ListWriter<'_>) {
        T::write(self, parts);
    }
}

impl<T: ToColumn> Key for Option<T> {
    fn write(&self, parts: &mut ListWriter<'_>) {
        parts.element(|out| ToColumn::write(self, out));
    }
}

impl Key for () {
    fn write(&self, _: &mut ListWriter<'_>) {}
}

macro_rules! tuple_key {
    ($($ty:ident $i:tt)+) => {
        impl<$($ty: ToColumn),+> Key for ($($ty,)+) {
            fn write(&self, parts: &mut ListWriter<'_>) {
                $(parts.element(|out| self.$i.write(out));)+
            }
        }
    };
}

tuple_key!(A 0);
tuple_key!(A 0 B 1);
tuple_key!(A 0 B 1 C 2);
tuple_key!(A 0 B 1 C 2 D 3);
tuple_key!(A 0 B 1 C 2 D 3 E 4);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14);
tuple_key!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 P 15);

/// The rows between two keys (`google.spanner.v1.KeyRange`).
///
/// Ranges of Rust will do for most: `10_i64..20`, `("a", 1_i64)..=("a", 9)`,
/// `"m"..`. The functions here are for bounds of different lengths.
///
/// A bound may be shorter than the key; it then stands for all keys that begin
/// with it. A closed bound includes these, an open one does not. `()` stands for
/// all keys, so it is the closed bound of a range that is bounded on one side.
///
/// "Between" is meant in the order of the key columns: where a column is
/// descending, the start is the larger value.
#[derive(Clone)]
pub struct KeyRange {
    /// The content of the message.
    encoded: Vec<u8>,
}

impl KeyRange {
    /// All rows whose key begins with `prefix`.
    pub fn prefix(prefix: impl Key) -> Self {
        Self::closed_closed(&prefix, &prefix)
    }

    /// From `start` to `end`, both included.
    pub fn closed_closed(start: impl Key, end: impl Key) -> Self {
        Self::new(START_CLOSED, &start, END_CLOSED, &end)
    }

    /// From `start`, included, to `end`, not included.
    pub fn closed_open(start: impl Key, end: impl Key) -> Self {
        Self::new(START_CLOSED, &start, END_OPEN, &end)
    }

    /// From `start`, not included, to `end`, included.
    pub fn open_closed(start: impl Key, end: impl Key) -> Self {
        Self::new(START_OPEN, &start, END_CLOSED, &end)
    }

    /// From `start` to `end`, neither included.
    pub fn open_open(start: impl Key, end: impl Key) -> Self {
        Self::new(START_OPEN, &start, END_OPEN, &end)
    }

    fn new(start_tag: u8, start: &impl Key, end_tag: u8, end: &impl Key) -> Self {
        let mut encoded = Vec::new();
        put_key(&mut encoded, start_tag, start);
        put_key(&mut encoded, end_tag, end);
        Self { encoded }
    }

    pub(super) fn encoded(&self) -> &[u8] {
        &self.encoded
    }
}

/// Appends a length-delimited field with the key as `google.protobuf.ListValue`.
pub(super) fn put_key(out: &mut Vec<u8>, tag: u8, key: &impl Key) {
    out.push(tag);
    with_length(out, |out| key.write(&mut ListWriter::new(out)));
}

impl<K: Key> From<Range<K>> for KeyRange {
    fn from(range: Range<K>) -> Self {
        Self::closed_open(range.start, range.end)
    }
}

impl<K: Key> From<RangeInclusive<K>> for KeyRange {
    fn from(range: RangeInclusive<K>) -> Self {
        Self::closed_closed(range.start(), range.end())
    }
}

impl<K: Key> From<RangeFrom<K>> for KeyRange {
    fn from(range: RangeFrom<K>) -> Self {
        Self::closed_closed(range.start, ())
    }
}

impl<K: Key> From<RangeTo<K>> for KeyRange {
    fn from(range: RangeTo<K>) -> Self {
        Self::closed_open((), range.end)
    }
}

impl<K: Key> From<RangeToInclusive<K>> for KeyRange {
    fn from(range: RangeToInclusive<K>) -> Self {
        Self::closed_closed((), range.end)
    }
}

impl fmt::Debug for KeyRange {
    /// Without the keys, which may be private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRange").finish_non_exhaustive()
    }
}
