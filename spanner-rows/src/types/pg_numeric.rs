//! NUMERIC of the PostgreSQL dialect, of any length.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::decimal_text::Written;
use super::encode::ToColumn;
use super::numeric::{Numeric, NumericError};
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeAnnotation, TypeCode, ValueWriter};

/// A NUMERIC of the PostgreSQL dialect: a decimal of any length, or `NaN`
/// (`TypeAnnotationCode.PG_NUMERIC`).
///
/// It keeps the text as it was sent: `PgNumeric<&'row str>` borrows it, `PgNumeric`
/// owns it in a `String` whose memory is used again. Numbers are compared by value
/// as PostgreSQL does: `1.0` equals `1.00`, `NaN` equals itself and is greater than
/// every number. [`Numeric`] is faster where it is long enough.
///
/// ```
/// use spanner_rows::PgNumeric;
///
/// let a: PgNumeric = "1.50".parse()?;
/// let b = PgNumeric::new("15e-1")?; // borrows
/// assert!(a == b && b < PgNumeric::NAN);
/// assert_eq!(a.as_str(), "1.50");
/// # Ok::<(), spanner_rows::NumericError>(())
/// ```
#[derive(Clone, Copy)]
pub struct PgNumeric<T = String>(T);

impl PgNumeric<&'static str> {
    /// Not a number.
    pub const NAN: Self = Self("NaN");
}

impl<T: AsRef<str>> PgNumeric<T> {
    /// Takes text that is a decimal number or `NaN`.
    ///
    /// # Errors
    ///
    /// It is another text.
    pub fn new(text: T) -> Result<Self, NumericError> {
        if is_valid(text.as_ref().as_bytes()) {
            Ok(Self(text))
        } else {
            Err(NumericError::SYNTAX)
        }
    }

    /// The text as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_ref()
    }

    /// The text as it was given.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Whether this is `NaN`.
    #[must_use]
    pub fn is_nan(&self) -> bool {
        self.as_str() == "NaN"
    }

    /// The same number with memory of its own.
    #[must_use]
    pub fn to_owned(&self) -> PgNumeric {
        PgNumeric(self.as_str().to_owned())
    }

    /// The same number in the range of GoogleSQL's NUMERIC.
    ///
    /// # Errors
    ///
    /// It is `NaN` or has too many digits: nothing is rounded.
    pub fn to_numeric(&self) -> Result<Numeric, NumericError> {
        self.as_str().parse()
    }

    fn parts(&self) -> Parts<'_> {
        Parts::of(self.as_str())
    }
}

fn is_valid(text: &[u8]) -> bool {
    text == b"NaN" || Written::parse(text).is_some()
}

/// A number as comparisons see it.
struct Parts<'a> {
    sign: Sign,
    /// Digits that are not zero with their places; of `NaN` nothing.
    written: Option<Written<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Sign {
    Negative,
    Zero,
    Positive,
    Nan,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let written = Written::parse(text.as_bytes());
        let sign = match &written {
            None => Sign::Nan,
            Some(written) if written.digits().next().is_none() => Sign::Zero,
            Some(written) if written.negative => Sign::Negative,
            Some(_) => Sign::Positive,
        };
        Self { sign, written }
    }

    fn digits(&self) -> impl Iterator<Item = (i64, u8)> + use<'a> {
        self.written
            .into_iter()
            .flat_map(|written| written.digits())
    }
}

impl<T: AsRef<str>, U: AsRef<str>> PartialEq<PgNumeric<U>> for PgNumeric<T> {
    fn eq(&self, other: &PgNumeric<U>) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl<T: AsRef<str>> Eq for PgNumeric<T> {}

impl<T: AsRef<str>, U: AsRef<str>> PartialOrd<PgNumeric<U>> for PgNumeric<T> {
    fn partial_cmp(&self, other: &PgNumeric<U>) -> Option<Ordering> {
        let (a, b) = (self.parts(), other.parts());
        // The first place at which they differ decides: the one with a digit at
        // a higher place, or the greater digit at the same place.
        let magnitudes = || a.digits().cmp(b.digits());
        Some(a.sign.cmp(&b.sign).then_with(|| match a.sign {
            Sign::Negative => magnitudes().reverse(),
            _ => magnitudes(),
        }))
    }
}

impl<T: AsRef<str>> Ord for PgNumeric<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or(Ordering::Equal)
    }
}

impl<T: AsRef<str>> Hash for PgNumeric<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = self.parts();
        parts.sign.hash(state);
        for digit in parts.digits() {
            digit.hash(state);
        }
    }
}

impl<T: AsRef<str>> fmt::Display for PgNumeric<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: AsRef<str>> fmt::Debug for PgNumeric<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PgNumeric({self})")
    }
}

impl FromStr for PgNumeric {
    type Err = NumericError;

    fn from_str(text: &str) -> Result<Self, NumericError> {
        PgNumeric::new(text).map(|number| number.to_owned())
    }
}

impl From<Numeric> for PgNumeric {
    fn from(number: Numeric) -> Self {
        Self(number.to_string())
    }
}

impl<T: AsRef<str>> ToColumn for PgNumeric<T> {
    fn column_type() -> Type {
        Type::new(TypeCode::Numeric).with_annotation(TypeAnnotation::PgNumeric)
    }

    fn write(&self, out: ValueWriter<'_>) {
        out.string(self.as_str());
    }
}

/// Borrows from the buffer of the result.
impl ColumnType for PgNumeric<&str> {
    type Spare = ();
    type Mode = <&'static str as ColumnType>::Mode;
    type Static = PgNumeric<&'static str>;
    type At<'row> = PgNumeric<&'row str>;
}

impl<'row> FromColumn<'row> for PgNumeric<&'row str> {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, &[TypeCode::Numeric])
    }

    #[inline(always)]
    fn read(column: Column<'_, 'row>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.text()?;
        match Self::new(text) {
            Ok(number) => Ok(number),
            Err(error) => Err(DecodeError::with_excerpt(error, text)),
        }
    }
}

/// Keeps its capacity from row to row.
impl ColumnType for PgNumeric {
    type Spare = String;
    type Mode = <String as ColumnType>::Mode;
    type Static = Self;
    type At<'row> = Self;
}

impl FromColumn<'_> for PgNumeric {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.text::<Self>(ty, &[TypeCode::Numeric])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, spare: &mut String) -> Result<Self, DecodeError> {
        PgNumeric::<&str>::read(column, &mut ())?;
        String::read(column, spare).map(Self)
    }

    #[inline(always)]
    fn set(&mut self, column: Column<'_, '_>, spare: &mut String) -> Result<(), DecodeError> {
        PgNumeric::<&str>::read(column, &mut ())?;
        self.0.set(column, spare)
    }

    #[inline]
    fn recycle(self, spare: &mut String) {
        *spare = self.0;
    }
}
