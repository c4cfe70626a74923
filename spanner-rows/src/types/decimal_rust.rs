//! NUMERIC as `rust_decimal::Decimal` (feature `rust_decimal`).

use rust_decimal::Decimal;

use super::decimal_text::{Plain, parse_plain, power};
use super::encode::to_column;
use super::numeric::{Numeric, NumericError, unreadable};
use super::pg_numeric::PgNumeric;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

plain_type!(Decimal);

to_column! {
    Decimal: Numeric, |value, out| out.string(&value.to_string());
}

/// A `Decimal` has 96 bits, 28 digits: NUMERIC has up to 38, and what does not fit
/// is an error. [`Numeric`] holds all of them.
///
/// As a parameter, a `Decimal` with more than 9 digits behind the point is refused
/// by Spanner: round it first.
impl FromColumn<'_> for Decimal {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Numeric])
    }

    #[inline]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        let text = column.ascii()?;
        match parse_plain(text).and_then(exact) {
            Some(value) => Ok(value),
            None => read_unusual(column),
        }
    }
}

/// The number with as many decimals as it was written with.
#[inline]
fn exact(plain: Plain) -> Option<Decimal> {
    let coefficient = plain.whole.checked_mul(power(plain.scale as usize))?;
    let coefficient = i128::try_from(coefficient + u128::from(plain.fraction)).ok()?;
    let signed = if plain.negative {
        -coefficient
    } else {
        coefficient
    };
    Decimal::try_from_i128_with_scale(signed, plain.scale).ok()
}

/// A number with an exponent, with more decimals than GoogleSQL has, with zeros at
/// the end that are too many, or one that does not fit.
#[cold]
fn read_unusual(column: Column<'_, '_>) -> Result<Decimal, DecodeError> {
    // Checks the form first: the library takes underscores too.
    let number = PgNumeric::<&str>::read(column, &mut ())?;
    if let Ok(exact) = Decimal::from_str_exact(number.as_str()) {
        return Ok(exact);
    }
    match number.to_numeric().map(Decimal::try_from) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(DecodeError::with_excerpt(
            "`rust_decimal::Decimal` has 28 digits: read the column into `spanner_rows::Numeric`",
            number.as_str(),
        )),
        Err(error) => {
            let text = number.as_str().as_bytes();
            Err(unreadable(text, error, "rust_decimal::Decimal"))
        }
    }
}

/// Fails for numbers of more than 28 digits; zeros at the end are dropped.
impl TryFrom<Numeric> for Decimal {
    type Error = rust_decimal::Error;

    fn try_from(number: Numeric) -> Result<Self, rust_decimal::Error> {
        let (mut coefficient, mut scale) = (number.scaled(), 9);
        while scale > 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            scale -= 1;
        }
        Self::try_from_i128_with_scale(coefficient, scale)
    }
}

/// Fails for numbers with more than 9 digits behind the point: nothing is rounded.
impl TryFrom<Decimal> for Numeric {
    type Error = NumericError;

    fn try_from(number: Decimal) -> Result<Self, NumericError> {
        number.to_string().parse()
    }
}
