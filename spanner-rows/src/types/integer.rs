//! BOOL, INT64 and ENUM.

use super::plain_type;
use crate::row::binder::Binder;
use crate::row::binding::Binding;
use crate::row::column::Column;
use crate::row::cursor::RowCursor;
use crate::row::error::DecodeError;
use crate::row::mode::Plain;
use crate::row::traits::{ColumnType, FromColumn};
use crate::wire::{Type, TypeCode};

plain_type!(bool, i32);

impl ColumnType for i64 {
    type Spare = ();
    type Mode = Plain;
    type Static = Self;
    type At<'row> = Self;

    #[inline(always)]
    fn read_field(cursor: &mut RowCursor<'_, '_>, (): &mut ()) -> Result<Self, DecodeError> {
        cursor.read_ascii(read)
    }

    #[inline(always)]
    fn set_field(
        field: &mut Self,
        cursor: &mut RowCursor<'_, '_>,
        (): &mut (),
    ) -> Result<(), DecodeError> {
        *field = cursor.read_ascii(read)?;
        Ok(())
    }
}

impl FromColumn<'_> for bool {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Bool])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        column.bool()
    }
}

impl FromColumn<'_> for i64 {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar::<Self>(ty, &[TypeCode::Int64, TypeCode::Enum])
    }

    #[inline(always)]
    fn read(column: Column<'_, '_>, _: &mut ()) -> Result<Self, DecodeError> {
        read(column.ascii()?)
    }
}

#[inline(always)]
fn read(text: &[u8]) -> Result<i64, DecodeError> {
    match parse(text) {
        Some(value) => Ok(value),
        None => Err(not_an_integer(text)),
    }
}

/// Reads ENUM, whose numbers have 32 bits. INT64 has 64: it is read into `i64`, or
/// converted with `#[spanner(try_from = "i64")]`.
impl FromColumn<'_> for i32 {
    fn bind(ty: &Type, binder: &mut Binder<'_>) -> Binding {
        binder.scalar_or::<Self>(ty, &[TypeCode::Enum], |binder, wanted| {
            match (ty.code(), binder.in_array()) {
                (TypeCode::Int64, false) => format!(
                    "{wanted}; make the field `i64`, or put `#[spanner(try_from = \"i64\")]` on it"
                ),
                (TypeCode::Int64, true) => format!("{wanted}; make the elements `i64`"),
                _ => wanted,
            }
        })
    }

    #[inline]
    fn read(column: Column<'_, '_>, spare: &mut ()) -> Result<Self, DecodeError> {
        let number = i64::read(column, spare)?;
        match Self::try_from(number) {
            Ok(number) => Ok(number),
            Err(_) => Err(beyond_i32(number)),
        }
    }
}

#[cold]
pub(super) fn beyond_i32(number: i64) -> DecodeError {
    DecodeError::with_excerpt("values of an ENUM have 32 bits", &number.to_string())
}

#[cold]
fn not_an_integer(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(
        "it is not a decimal integer of 64 bits",
        &String::from_utf8_lossy(text),
    )
}

/// Parses a decimal integer with an optional minus sign.
///
/// Eight digits are taken at a time, as one word: the digits' values are added
/// up pairwise by multiplications, so that there is no branch per digit. Words
/// are read with overlap, so that there is no copy of varying length either.
///
/// Not inlined: it is large, and what it takes and answers fits into registers.
#[inline(never)]
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > MOST_DIGITS {
        return parse_long(text);
    }
    let magnitude = parse_digits(digits)?;
    if negative {
        0i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}

/// As many digits always fit a u64.
pub(super) const MOST_DIGITS: usize = 19;

/// Parses 1 to [`MOST_DIGITS`] digits; nothing else may be among them.
#[inline]
pub(super) fn parse_digits(digits: &[u8]) -> Option<u64> {
    Some(match digits.len() {
        1..=7 => word_value(short_word(digits)?)?,
        8..=16 => {
            let (first, _) = digits.split_first_chunk()?;
            let low = digits.len() - 8;
            word_value(u64::from_le_bytes(*first))? * POWERS[low] + last_digits(digits, low)?
        }
        17..=19 => {
            let (first, rest) = digits.split_first_chunk()?;
            let (second, _) = rest.split_first_chunk()?;
            let low = digits.len() - 16;
            let high = word_value(u64::from_le_bytes(*first))? * 100_000_000
                + word_value(u64::from_le_bytes(*second))?;
            high * POWERS[low] + last_digits(digits, low)?
        }
        _ => return None,
    })
}

/// The digits behind a decimal point, one to nine, as billionths.
#[inline]
pub(super) fn billionths(digits: &[u8]) -> Option<u32> {
    let power = POWERS.get(9_usize.checked_sub(digits.len())?)?;
    u32::try_from(parse_digits(digits)? * power).ok()
}

const POWERS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Twenty characters and more can only be leading zeros or too large.
#[cold]
fn parse_long(text: &[u8]) -> Option<i64> {
    // The standard library also takes a plus sign.
    std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.starts_with('+'))?
        .parse()
        .ok()
}

/// One to seven digits as a word of eight, zeros before them.
#[inline]
fn short_word(digits: &[u8]) -> Option<u64> {
    let n = digits.len();
    let packed = if n >= 4 {
        let first = u64::from(u32::from_le_bytes(*digits.first_chunk()?));
        let last = u64::from(u32::from_le_bytes(*digits.last_chunk()?));
        first | (last << (8 * (n - 4)))
    } else {
        let (first, middle, last) = (digits.first()?, digits.get(n / 2)?, digits.last()?);
        u64::from(*first) | u64::from(*middle) << (8 * (n / 2)) | u64::from(*last) << (8 * (n - 1))
    };
    Some((packed << (8 * (8 - n))) | (ZEROS >> (8 * n)))
}

/// The value of the last `n` of at least eight digits, `n` at most eight.
#[inline]
fn last_digits(digits: &[u8], n: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*digits.last_chunk()?);
    // The digits before them become zeros.
    let before = u64::MAX.checked_shr(8 * n as u32).unwrap_or(0);
    word_value((word & !before) | (ZEROS & before))
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The value of eight ASCII digits, the first one in the lowest byte.
#[inline]
fn word_value(word: u64) -> Option<u64> {
    let digits = word.wrapping_sub(ZEROS);
    // A byte below '0' borrows into its high bits, one above '9' overflows here.
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits * 10 + (digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    Some(low.wrapping_add(high) >> 32)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn every_number_of_up_to_four_digits() {
        for value in -10_000_i64..=10_000 {
            assert_eq!(parse(value.to_string().as_bytes()), Some(value));
            assert_eq!(parse(format!("{value:05}").as_bytes()), Some(value));
        }
    }

    #[test]
    fn edges() {
        for value in [
            0,
            1,
            -1,
            99_999_999,
            100_000_000,
            i64::MAX,
            i64::MIN,
            i64::MIN + 1,
        ] {
            assert_eq!(parse(value.to_string().as_bytes()), Some(value));
        }
        for bad in [
            "",
            "-",
            "+1",
            "--1",
            "1-",
            " 1",
            "1 ",
            "1a",
            "0x10",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "1.0",
            "１",
            "+0000000000000000000000001",
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(parse(b"000000000000000000000000000042"), Some(42));
    }

    proptest! {
        #[test]
        fn reads_what_is_printed(value: i64, shift in 0u32..63) {
            let value = value >> shift;
            prop_assert_eq!(parse(value.to_string().as_bytes()), Some(value));
        }

        #[test]
        fn agrees_with_the_standard_library(text in "-?[0-9]{0,21}") {
            prop_assert_eq!(parse(text.as_bytes()), text.parse().ok());
        }

        #[test]
        fn refuses_a_wrong_byte_anywhere(value: i64, at: prop::sample::Index, byte: u8) {
            let mut text = value.to_string().into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            let expected = std::str::from_utf8(&text).ok().filter(|t| !t.starts_with('+'));
            prop_assert_eq!(parse(&text), expected.and_then(|t| t.parse().ok()));
        }
    }
}
