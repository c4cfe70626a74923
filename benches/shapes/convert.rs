//! From the values that prost decodes to the fields of owned rows: what a
//! program does that has no client library.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use prost_types::value::Kind;
use spanner_rows::{Interval, Numeric};

/// A field, moved out of a value or parsed from it.
pub(crate) trait FromKind: Sized {
    /// # Panics
    ///
    /// When the value is of another kind: the content is ours.
    fn from_kind(kind: Kind) -> Self;
}

impl FromKind for String {
    fn from_kind(kind: Kind) -> Self {
        match kind {
            Kind::StringValue(text) => text,
            other => panic!("{other:?} is not a string"),
        }
    }
}

impl FromKind for bool {
    fn from_kind(kind: Kind) -> Self {
        match kind {
            Kind::BoolValue(value) => value,
            other => panic!("{other:?} is not a bool"),
        }
    }
}

impl FromKind for f64 {
    fn from_kind(kind: Kind) -> Self {
        match kind {
            Kind::NumberValue(value) => value,
            other => panic!("{other:?} is not a number"),
        }
    }
}

impl FromKind for f32 {
    fn from_kind(kind: Kind) -> Self {
        f64::from_kind(kind) as Self
    }
}

impl FromKind for Vec<u8> {
    fn from_kind(kind: Kind) -> Self {
        let text = String::from_kind(kind);
        BASE64_STANDARD.decode(text).expect("base64")
    }
}

impl<T: FromKind> FromKind for Option<T> {
    fn from_kind(kind: Kind) -> Self {
        match kind {
            Kind::NullValue(_) => None,
            kind => Some(T::from_kind(kind)),
        }
    }
}

macro_rules! parsed {
    ($($ty:ty)+) => {$(
        impl FromKind for $ty {
            fn from_kind(kind: Kind) -> Self {
                let text = String::from_kind(kind);
                text.parse().expect("text of the type")
            }
        }
    )+};
}

parsed! { i64 jiff::Timestamp jiff::civil::Date Interval Numeric uuid::Uuid }
