//! Rust values as query parameters, keys and rows of the fake server.

use std::borrow::Cow;
use std::sync::Arc;

use super::timestamp::Timestamp;
use crate::wire::{Type, ValueWriter};

/// A Rust value that can be sent to Spanner: as a query parameter, as a part of
/// a key, or as a column of a row of [`FakeSpanner`](crate::testing::FakeSpanner).
///
/// The type goes with the value, so that NULLs are typed and BYTES or DATE are
/// not taken for STRING (`ExecuteSqlRequest.param_types`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent to Spanner",
    label = "not a parameter type",
    note = "parameters are bool, i64, f64, f32, text, bytes (`&[u8]`, `Vec<u8>`), dates and timestamps, `Option` and `Vec` of these, tuples of up to eight for STRUCT; for a struct that is a STRUCT `#[derive(SpannerEncode)]`"
)]
pub trait ToColumn {
    /// The Spanner type of every value of this Rust type.
    fn column_type() -> Type;

    /// Writes the value.
    fn write(&self, out: ValueWriter<'_>);
}

/// Implements [`ToColumn`] for types that a code alone describes.
macro_rules! to_column {
    ($($ty:ty: $code:ident, |$value:ident, $out:ident| $write:expr;)+) => {
        $(impl crate::types::encode::ToColumn for $ty {
            fn column_type() -> crate::wire::Type {
                crate::wire::Type::new(crate::wire::TypeCode::$code)
            }

            fn write(&self, $out: crate::wire::ValueWriter<'_>) {
                let $value = self;
                $write
            }
        })+
    };
}
pub(crate) use to_column;

to_column! {
    bool: Bool, |value, out| out.bool(*value);
    i64: Int64, |value, out| out.string(&value.to_string());
    f64: Float64, |value, out| write_number(*value, out);
    f32: Float32, |value, out| write_number(f64::from(*value), out);
    str: String, |value, out| out.string(value);
    String: String, |value, out| out.string(value);
    Box<str>: String, |value, out| out.string(value);
    Arc<str>: String, |value, out| out.string(value);
    Cow<'_, str>: String, |value, out| out.string(value);
    Cow<'_, [u8]>: Bytes, |value, out| out.base64(value);
    [u8]: Bytes, |value, out| out.base64(value);
    Vec<u8>: Bytes, |value, out| out.base64(value);
    Box<[u8]>: Bytes, |value, out| out.base64(value);
    bytes::Bytes: Bytes, |value, out| out.base64(value);
    Timestamp: Timestamp, |value, out| out.string(&value.to_string());
}

/// The numbers that JSON does not have are sent as strings.
fn write_number(value: f64, out: ValueWriter<'_>) {
    if value.is_nan() {
        out.string("NaN");
    } else if value == f64::INFINITY {
        out.string("Infinity");
    } else if value == f64::NEG_INFINITY {
        out.string("-Infinity");
    } else {
        out.number(value);
    }
}

impl<T: ToColumn + ?Sized> ToColumn for &T {
    fn column_type() -> Type {
        T::column_type()
    }

    fn write(&self, out: ValueWriter<'_>) {
        T::write(self, out);
    }
}

impl<T: ToColumn> ToColumn for Option<T> {
    fn column_type() -> Type {
        T::column_type()
    }

    fn write(&self, out: ValueWriter<'_>) {
        match self {
            Some(value) => value.write(out),
            None => out.null(),
        }
    }
}

impl<T: ToColumn> ToColumn for [T] {
    fn column_type() -> Type {
        Type::array(T::column_type())
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.list(|list| {
            for element in self {
                list.element(|out| element.write(out));
            }
        });
    }
}

/// Implements [`ToColumn`] for what derefs to a slice of elements.
macro_rules! like_slice {
    ($(<$t:ident $(, const $n:ident)?> $ty:ty;)+) => {
        $(impl<$t: ToColumn $(, const $n: usize)?> ToColumn for $ty {
            fn column_type() -> Type {
                <[$t]>::column_type()
            }

            fn write(&self, out: ValueWriter<'_>) {
                <[$t]>::write(self, out);
            }
        })+
    };
}

like_slice! {
    <T> Vec<T>;
    <T> Box<[T]>;
    <T, const N> [T; N];
}

impl<const N: usize> ToColumn for [u8; N] {
    fn column_type() -> Type {
        <[u8]>::column_type()
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.base64(self);
    }
}
