//! NUMERIC as an exact number, without a library.

use std::fmt;
use std::str::FromStr;

use super::decimal_text::{Plain, SCALE, Written, parse_plain, power};
use super::encode::to_column;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

const ONE: i128 = power(SCALE) as i128;

/// A NUMERIC, exactly: 29 digits before the point and 9 behind it.
///
/// It is kept as an integer, the number of billionths. To compute, take that
/// ([`scaled`](Self::scaled)) or convert to a type of another crate (features
/// `rust_decimal`, `bigdecimal`). A NUMERIC of the PostgreSQL dialect can be longer
/// or `NaN`; [`PgNumeric`](crate::PgNumeric) holds those, and is what parameters are
/// in that dialect.
///
/// ```
/// use spanner_rows::Numeric;
///
/// let price: Numeric = "-12.50".parse()?;
/// assert_eq!(price.scaled(), -12_500_000_000);
/// assert_eq!(price.to_string(), "-12.5");
/// # Ok::<(), spanner_rows::NumericError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numeric {
    scaled: i128,
}

impl Numeric {
    /// 0.
    pub const ZERO: Self = Self { scaled: 0 };
    /// 99999999999999999999999999999.999999999.
    pub const MAX: Self = Self {
        scaled: power(38) as i128 - 1,
    };
    /// -99999999999999999999999999999.999999999.
    pub const MIN: Self = Self {
        scaled: -Self::MAX.scaled,
    };

    /// The number of this many billionths; `None` outside of
    /// [`MIN`](Self::MIN) to [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_scaled(scaled: i128) -> Option<Self> {
        if scaled < Self::MIN.scaled || scaled > Self::MAX.scaled {
            return None;
        }
        Some(Self { scaled })
    }

    /// The number times 1,000,000,000, which is always an integer.
    #[must_use]
    pub const fn scaled(self) -> i128 {
        self.scaled
    }

    /// The nearest `f64`; most decimal fractions are not exact in binary.
    #[must_use]
    pub fn to_f64_lossy(self) -> f64 {
        // Dividing would round twice.
        let magnitude: f64 = Text::of(self).as_str().parse().unwrap_or(f64::NAN);
        if self.scaled < 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[inline]
    fn from_plain(plain: Plain) -> Self {
        let missing = SCALE - plain.scale as usize;
        let fraction = u128::from(plain.fraction) * power(missing);
        // At most 29 and 9 digits: within the range.
        let magnitude = (plain.whole * power(SCALE) + fraction) as i128;
        Self {
            scaled: if plain.negative {
                -magnitude
            } else {
                magnitude
            },
        }
    }

    pub(crate) fn from_written(written: Written<'_>) -> Result<Self, NumericError> {
        let mut magnitude = 0;
        for (place, digit) in written.digits() {
            match usize::try_from(place + SCALE as i64) {
                Ok(place) if place < 38 => magnitude += u128::from(digit) * power(place),
                Ok(_) => return Err(NumericError::TOO_LARGE),
                Err(_) => return Err(NumericError::TOO_FINE),
            }
        }
        let magnitude = magnitude as i128;
        Ok(Self {
            scaled: if written.negative {
                -magnitude
            } else {
                magnitude
            },
        })
    }

    pub(crate) fn from_ascii(text: &[u8]) -> Result<Self, NumericError> {
        match parse_plain(text) {
            Some(plain) => Ok(Self::from_plain(plain)),
            None => Self::from_unusual(text),
        }
    }

    #[cold]
    fn from_unusual(text: &[u8]) -> Result<Self, NumericError> {
        match Written::parse(text) {
            Some(written) => Self::from_written(written),
            None => Err(NumericError::SYNTAX),
        }
    }
}

plain_type!(Numeric);

to_column! {
    Numeric: Numeric, |value, out| out.string(&value.to_string());
}

/// Also reads a NUMERIC of the PostgreSQL dialect whose value fits.
impl FromColumn<'_> for Numeric {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Numeric])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        match Self::from_ascii(text) {
            Ok(value) => Ok(value),
            Err(error) => Err(unreadable(text, error, "spanner_rows::Numeric")),
        }
    }
}

/// A NUMERIC that `holder` cannot hold, or text that is no number.
#[cold]
pub(crate) fn unreadable(text: &[u8], error: NumericError, holder: &str) -> DecodeError {
    let excerpt = String::from_utf8_lossy(text);
    if text == b"NaN" || error != NumericError::SYNTAX {
        DecodeError::with_excerpt(
            format_args!(
                "`{holder}` does not hold it: read the column into `spanner_rows::PgNumeric`"
            ),
            &excerpt,
        )
    } else {
        DecodeError::with_excerpt(error, &excerpt)
    }
}

/// The shortest exact form: no exponent, no zeros at the end, `-` or nothing
/// before it. Width, fill and `+` of the format string are honoured.
impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(self.scaled >= 0, "", Text::of(*self).as_str())
    }
}

/// The digits of a number without its sign.
struct Text {
    /// 29 digits, a point and 9 digits at most, flush left.
    bytes: [u8; 39],
    len: usize,
}

impl Text {
    fn of(number: Numeric) -> Self {
        let mut text = Self {
            bytes: [b'0'; 39],
            len: 0,
        };
        let magnitude = number.scaled.unsigned_abs();
        let (mut whole, mut fraction) = (magnitude / ONE as u128, magnitude % ONE as u128);
        let mut digits = 1;
        while digits < 29 && whole >= power(digits) {
            digits += 1;
        }
        for place in text.bytes.iter_mut().take(digits).rev() {
            *place = b'0' + (whole % 10) as u8;
            whole /= 10;
        }
        text.len = digits;
        if fraction > 0 {
            let mut places = SCALE;
            while fraction.is_multiple_of(10) {
                fraction /= 10;
                places -= 1;
            }
            text.len = digits + 1 + places;
            for place in text.bytes.iter_mut().take(text.len).skip(digits).rev() {
                *place = b'0' + (fraction % 10) as u8;
                fraction /= 10;
            }
            if let Some(point) = text.bytes.get_mut(digits) {
                *point = b'.';
            }
        }
        text
    }

    fn as_str(&self) -> &str {
        let digits = self.bytes.get(..self.len).unwrap_or_default();
        std::str::from_utf8(digits).unwrap_or_default()
    }
}

/// A sign, digits with or without a point, and an exponent, as the protocol
/// allows: `-12.5`, `+7.`, `.5`, `1e3`.
///
/// # Errors
///
/// It is another text, or does not fit: nothing is rounded.
impl FromStr for Numeric {
    type Err = NumericError;

    fn from_str(text: &str) -> Result<Self, NumericError> {
        Self::from_ascii(text.as_bytes())
    }
}

macro_rules! from_integers {
    ($($integer:ty)+) => {
        $(impl From<$integer> for Numeric {
            fn from(value: $integer) -> Self {
                Self { scaled: i128::from(value) * ONE }
            }
        })+
    };
}

from_integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Fails for numbers of more than 29 digits.
impl TryFrom<i128> for Numeric {
    type Error = NumericError;

    fn try_from(value: i128) -> Result<Self, NumericError> {
        let scaled = value.checked_mul(ONE).ok_or(NumericError::TOO_LARGE)?;
        Self::from_scaled(scaled).ok_or(NumericError::TOO_LARGE)
    }
}

/// Fails for numbers with a fraction.
impl TryFrom<Numeric> for i128 {
    type Error = NumericError;

    fn try_from(value: Numeric) -> Result<Self, NumericError> {
        if value.scaled % ONE == 0 {
            Ok(value.scaled / ONE)
        } else {
            Err(NumericError::FRACTION)
        }
    }
}

macro_rules! into_integers {
    ($($integer:ty)+) => {
        $(/// Fails for numbers with a fraction or out of the range of the integer.
        impl TryFrom<Numeric> for $integer {
            type Error = NumericError;

            fn try_from(value: Numeric) -> Result<Self, NumericError> {
                let whole = i128::try_from(value)?;
                Self::try_from(whole).map_err(|_| NumericError::NOT_IN_INTEGER)
            }
        })+
    };
}

into_integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Text that is not a NUMERIC, or a number that another type cannot hold exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericError(Cause);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Syntax,
    TooLarge,
    TooFine,
    Fraction,
    NotInInteger,
}

impl NumericError {
    pub(crate) const SYNTAX: Self = Self(Cause::Syntax);
    pub(crate) const TOO_LARGE: Self = Self(Cause::TooLarge);
    pub(crate) const TOO_FINE: Self = Self(Cause::TooFine);
    const FRACTION: Self = Self(Cause::Fraction);
    const NOT_IN_INTEGER: Self = Self(Cause::NotInInteger);
}

impl fmt::Display for NumericError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Cause::Syntax => "it is not a decimal number",
            Cause::TooLarge => "NUMERIC has at most 29 digits before the point",
            Cause::TooFine => "NUMERIC has at most 9 digits behind the point: round it first",
            Cause::Fraction => "the number has a fraction",
            Cause::NotInInteger => "the number is out of the range of the integer type",
        })
    }
}

impl std::error::Error for NumericError {}
