//! INTERVAL as Spanner writes it: a subset of ISO 8601.

use super::integer::billionths;
use super::interval::Interval;

/// Reads `P[nY][nM][nD][T[nH][nM][n[.n]S]]` with at least one part, and one behind
/// a `T`; `None` when it is another text or out of range.
pub(crate) fn parse(text: &[u8]) -> Option<Interval> {
    let (b'P', date) = text.split_first()? else {
        return None;
    };
    let (mut months, mut days, mut nanoseconds) = (0, 0, 0);
    let mut part = Part::read(date)?;
    if part.unit == b'Y' {
        months = part.amount * 12;
        part = Part::read(part.rest)?;
    }
    if part.unit == b'M' {
        months += part.amount;
        part = Part::read(part.rest)?;
    }
    if part.unit == b'D' {
        days = part.amount;
        part = Part::read(part.rest)?;
    }
    match part {
        Part {
            unit: NONE,
            rest: [b'T', time @ ..],
            ..
        } => nanoseconds = parse_time(time)?,
        Part { unit: NONE, .. } if !date.is_empty() => {}
        _ => return None,
    }
    Interval::new(months.try_into().ok()?, days.try_into().ok()?, nanoseconds)
}

/// Reads what stands behind the `T`, as nanoseconds.
#[inline(always)]
fn parse_time(time: &[u8]) -> Option<i128> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut part = Part::read(time)?;
    if part.unit == b'H' {
        seconds = part.amount * 3_600;
        part = Part::read(part.rest)?;
    }
    if part.unit == b'M' {
        seconds += part.amount * 60;
        part = Part::read(part.rest)?;
    }
    if matches!(part.unit, b'.' | b',') {
        // The fraction has no sign of its own, and nothing comes behind it.
        let (b'S', fraction) = part.rest.split_last()? else {
            return None;
        };
        seconds += part.amount;
        nanoseconds = i64::from(billionths(fraction)?);
        if part.is_negative {
            nanoseconds = -nanoseconds;
        }
    } else {
        if part.unit == b'S' {
            seconds += part.amount;
            part = Part::read(part.rest)?;
        }
        if part.unit != NONE || !part.rest.is_empty() || time.is_empty() {
            return None;
        }
    }
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
}

/// A number with its unit.
struct Part<'a> {
    is_negative: bool,
    amount: i64,
    /// A letter, a decimal mark, or [`NONE`].
    unit: u8,
    rest: &'a [u8],
}

/// The unit of the part that is not there: nothing is left, or a `T`.
const NONE: u8 = 0;

impl<'a> Part<'a> {
    #[inline(always)]
    fn read(text: &'a [u8]) -> Option<Self> {
        if let [] | [b'T', ..] = text {
            return Some(Self {
                is_negative: false,
                amount: 0,
                unit: NONE,
                rest: text,
            });
        }
        let (is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let (amount, behind) = number(digits)?;
        let (unit, rest) = behind.split_first()?;
        Some(Self {
            is_negative,
            amount: if is_negative { -amount } else { amount },
            // A zero byte is no unit, and is not to look like none.
            unit: if *unit == NONE { b'?' } else { *unit },
            rest,
        })
    }
}

/// A part with more digits is out of range whatever the others are; so many hours
/// still fit an i64 as seconds.
const MOST_DIGITS: usize = 15;

/// The value of the digits that `text` begins with, and what is behind them. Only
/// before a decimal mark there may be none.
#[inline(always)]
fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let value = |digit: u8| digit.wrapping_sub(b'0');
    // Nearly all parts have one or two digits.
    if let [first, behind @ ..] = text
        && value(*first) <= 9
    {
        let ones = i64::from(value(*first));
        if let [second, ..] = behind
            && value(*second) > 9
        {
            return Some((ones, behind));
        }
        if let [second, behind @ ..] = behind
            && let [third, ..] = behind
            && value(*third) > 9
        {
            return Some((ones * 10 + i64::from(value(*second)), behind));
        }
    }
    long_number(text)
}

#[inline(never)]
fn long_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = text.split_at_checked(len)?;
    if digits.is_empty() && !matches!(behind, [b'.' | b',', ..]) {
        return None;
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = digits.get(zeros..)?;
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let add = |amount, digit: &u8| amount * 10 + i64::from(digit - b'0');
    Some((digits.iter().fold(0, add), behind))
}
