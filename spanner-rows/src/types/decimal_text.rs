//! Decimal numbers as Spanner writes them, exactly and of any length.

use super::integer::{MOST_DIGITS, parse_digits};

/// Digits that NUMERIC has before the point.
const WHOLE_DIGITS: usize = 29;
/// Digits that NUMERIC has behind the point.
pub(crate) const SCALE: usize = 9;

/// A number written as NUMERIC nearly always is: `-12.5`, without an exponent,
/// at most 29 digits before the point and at most nine behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) negative: bool,
    pub(crate) whole: u128,
    pub(crate) fraction: u64,
    /// How many digits the fraction was written with, 0 to 9.
    pub(crate) scale: u32,
}

/// Reads a number in the usual form; what is not in it needs [`Written`].
#[inline]
pub(crate) fn parse_plain(text: &[u8]) -> Option<Plain> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (whole, fraction) = match point(digits) {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => {
            return Some(Plain {
                negative,
                whole: parse_whole(digits)?,
                fraction: 0,
                scale: 0,
            });
        }
    };
    if fraction.len() > SCALE {
        return None;
    }
    Some(Plain {
        negative,
        whole: parse_whole(whole)?,
        fraction: parse_digits(fraction)?,
        scale: fraction.len() as u32,
    })
}

#[inline]
fn parse_whole(digits: &[u8]) -> Option<u128> {
    if digits.len() <= MOST_DIGITS {
        return parse_digits(digits).map(u128::from);
    }
    if digits.len() > WHOLE_DIGITS {
        return None;
    }
    const LOW: usize = 16;
    let (high, low) = digits.split_at_checked(digits.len() - LOW)?;
    Some(u128::from(parse_digits(high)?) * power(LOW) + u128::from(parse_digits(low)?))
}

/// Where the point stands, eight bytes compared at a time.
#[inline]
fn point(text: &[u8]) -> Option<usize> {
    const POINTS: u64 = 0x2e2e_2e2e_2e2e_2e2e;
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    let mut rest = text;
    while let Some((word, after)) = rest.split_first_chunk() {
        // The lowest byte that is equal becomes zero and is the first to borrow.
        let word = u64::from_le_bytes(*word) ^ POINTS;
        let found = word.wrapping_sub(ONES) & !word & HIGH;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
        rest = after;
    }
    let last = rest.iter().position(|byte| *byte == b'.')?;
    Some(at + last)
}

/// 10 to the power of `n`, at most 38.
pub(crate) const fn power(n: usize) -> u128 {
    const POWERS: [u128; 39] = {
        let mut powers = [1; 39];
        let mut i = 1;
        while i < powers.len() {
            powers[i] = powers[i - 1] * 10;
            i += 1;
        }
        powers
    };
    POWERS[n]
}

/// A number in any form that the protocol allows, of any length: a sign, digits
/// before or behind a point or both, an exponent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i32,
}

/// Beyond what PostgreSQL's NUMERIC holds, so that an exponent cannot ask for
/// more memory than the text takes times a constant.
const MOST_EXPONENT: i32 = 200_000;

impl<'a> Written<'a> {
    pub(crate) fn parse(text: &'a [u8]) -> Option<Self> {
        let (negative, text) = sign(text);
        let (mantissa, exponent) = match text.iter().position(|c| matches!(c, b'e' | b'E')) {
            Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
            None => (text, 0),
        };
        let (whole, fraction) = match mantissa.iter().position(|c| *c == b'.') {
            Some(at) => (mantissa.get(..at)?, mantissa.get(at + 1..)?),
            None => (mantissa, &[][..]),
        };
        let digits = whole.iter().chain(fraction);
        let written = !whole.is_empty() || !fraction.is_empty();
        (written && digits.copied().all(|c| c.is_ascii_digit())).then_some(Self {
            negative,
            whole,
            fraction,
            exponent,
        })
    }

    /// The digits that are not zero, each with its place: 0 for ones, -1 for tenths.
    pub(crate) fn digits(&self) -> impl DoubleEndedIterator<Item = (i64, u8)> + use<'a> {
        let first = self.whole.len() as i64 - 1 + i64::from(self.exponent);
        let whole = self.whole.iter().enumerate();
        let behind = self.whole.len();
        let fraction = self.fraction.iter().enumerate();
        whole
            .map(|(i, digit)| (i, *digit))
            .chain(fraction.map(move |(i, digit)| (behind + i, *digit)))
            .filter(|(_, digit)| *digit != b'0')
            .map(move |(i, digit)| (first - i as i64, digit - b'0'))
    }
}

const fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

fn parse_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = sign(text);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i32;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        value = value.saturating_mul(10).saturating_add(i32::from(digit));
    }
    let value = if negative { -value } else { value };
    (value.abs() <= MOST_EXPONENT).then_some(value)
}

#[cfg(test)]
#[path = "decimal_text_tests.rs"]
mod tests;
