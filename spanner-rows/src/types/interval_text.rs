//! INTERVAL as Spanner writes it: a subset of ISO 8601.

use super::interval::Interval;

/// Reads `P[nY][nM][nD][T[nH][nM][n[.n]S]]` with at least one part, and one behind
/// a `T`; `None` when it is another text or out of range.
///
/// One pass over the bytes; what was read last says what may come next.
pub(crate) fn parse(text: &[u8]) -> Option<Interval> {
    let (b'P', parts) = text.split_first()? else {
        return None;
    };
    let mut bytes = parts.iter();
    let mut byte = *bytes.next()?;
    let (mut months, mut days, mut seconds, mut nanoseconds) = (0_i64, 0_i64, 0_i64, 0_i64);
    let mut last = Last::Start;
    loop {
        if byte == b'T' {
            if last >= Last::Time {
                return None;
            }
            last = Last::Time;
            byte = *bytes.next()?;
        }
        let negative = byte == b'-';
        if negative {
            byte = *bytes.next()?;
        }
        let from = bytes.len();
        let mut amount = 0_i64;
        while byte.is_ascii_digit() {
            // Wraps only where there are more digits than are taken as they are.
            amount = amount.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            byte = *bytes.next()?;
        }
        let digits = from - bytes.len();
        if digits > MOST_DIGITS {
            let start = parts.len() - from - 1;
            amount = long(parts.get(start..start + digits)?)?;
        }
        if matches!(byte, b'.' | b',') {
            // Only seconds have a fraction; their sign is its sign too.
            let (fraction, after) = fraction(bytes.as_slice())?;
            let [b'S', ..] = after else {
                return None;
            };
            nanoseconds = if negative { -fraction } else { fraction };
            bytes = after.iter();
            byte = *bytes.next()?;
        } else if digits == 0 {
            return None;
        }
        if negative {
            amount = -amount;
        }
        last = match byte {
            b'Y' if last < Last::Years => {
                months = amount * 12;
                Last::Years
            }
            b'M' if last < Last::Months => {
                months += amount;
                Last::Months
            }
            b'D' if last < Last::Days => {
                days = amount;
                Last::Days
            }
            b'H' if last == Last::Time => {
                seconds = amount * 3_600;
                Last::Hours
            }
            b'M' if last >= Last::Time && last < Last::Minutes => {
                seconds += amount * 60;
                Last::Minutes
            }
            b'S' if last >= Last::Time && last < Last::Seconds => {
                seconds += amount;
                Last::Seconds
            }
            _ => return None,
        };
        match bytes.next() {
            Some(next) => byte = *next,
            None => break,
        }
    }
    Interval::new(
        months.try_into().ok()?,
        days.try_into().ok()?,
        i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds),
    )
}

/// What was read last, in the order in which parts come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Last {
    Start,
    Years,
    Months,
    Days,
    /// The `T`.
    Time,
    Hours,
    Minutes,
    Seconds,
}

/// A part with more digits is out of range whatever the others are; so many hours
/// still fit an i64 as seconds.
const MOST_DIGITS: usize = 15;

/// Digits that are too many, unless they start with zeros.
#[cold]
fn long(digits: &[u8]) -> Option<i64> {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = digits.get(zeros..)?;
    if digits.len() > MOST_DIGITS {
        return None;
    }
    Some(
        digits
            .iter()
            .fold(0, |amount, digit| amount * 10 + i64::from(digit - b'0')),
    )
}

/// One to nine digits as billionths, and what is behind them.
#[inline]
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut place = 1_000_000_000;
    let mut value = 0;
    let mut rest = text;
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        // Nothing is left for a tenth digit.
        place /= 10;
        if place == 0 {
            return None;
        }
        value += i64::from(digit - b'0') * place;
        rest = after;
    }
    (rest.len() < text.len()).then_some((value, rest))
}
