//! NUMERIC as `bigdecimal::BigDecimal` (feature `bigdecimal`).

use std::str::FromStr;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;

use super::decimal_text::{Plain, parse_plain, power};
use super::encode::to_column;
use super::numeric::{Numeric, NumericError};
use super::pg_numeric::PgNumeric;
use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::error::DecodeError;
use crate::row::traits::FromColumn;
use crate::wire::{Type, TypeCode};

plain_type!(BigDecimal);

to_column! {
    BigDecimal: Numeric, |value, out| out.string(&value.to_string());
}

/// Reads NUMERIC of both dialects, all of it but `NaN`. Allocates for every value.
///
/// As a parameter it is of GoogleSQL's NUMERIC, which refuses more than 29 digits
/// before the point or 9 behind it.
impl FromColumn<'_> for BigDecimal {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Numeric])
    }

    #[inline]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        match parse_plain(column.ascii()?) {
            Some(plain) => Ok(of_plain(plain)),
            None => read_unusual(column),
        }
    }
}

/// The number with as many decimals as it was written with.
fn of_plain(plain: Plain) -> BigDecimal {
    // At most 38 digits: within an i128.
    let coefficient = plain.whole * power(plain.scale as usize) + u128::from(plain.fraction);
    let coefficient = BigInt::from(coefficient);
    let signed = if plain.negative {
        -coefficient
    } else {
        coefficient
    };
    BigDecimal::new(signed, i64::from(plain.scale))
}

#[cold]
fn read_unusual(column: Column<'_, '_>) -> Result<BigDecimal, DecodeError> {
    let number = PgNumeric::<&str>::read(column, &mut ())?;
    if number.is_nan() {
        return Err(DecodeError::with_excerpt(
            "`bigdecimal::BigDecimal` has no NaN: read the column into `spanner_rows::PgNumeric`",
            number.as_str(),
        ));
    }
    BigDecimal::from_str(number.as_str())
        .map_err(|error| DecodeError::with_excerpt(error, number.as_str()))
}

impl From<Numeric> for BigDecimal {
    fn from(number: Numeric) -> Self {
        Self::new(BigInt::from(number.scaled()), 9).normalized()
    }
}

/// Fails for numbers with more digits than NUMERIC has: nothing is rounded.
impl TryFrom<&BigDecimal> for Numeric {
    type Error = NumericError;

    fn try_from(number: &BigDecimal) -> Result<Self, NumericError> {
        number.to_string().parse()
    }
}
