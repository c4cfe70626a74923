//! The text of one value: the first byte says of which type, the rest is the text.
//! What is read is what an independent reading gives, and survives being printed.

use std::collections::hash_map::DefaultHasher;
use std::fmt::{Debug, Display};
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bigdecimal::BigDecimal;
use chrono::{DateTime, Datelike, NaiveDate, Utc};
use rust_decimal::Decimal;
use spanner_rows::{
    Base64, Interval, Json, Numeric, OwnedRow, PgNumeric, ProtoEnum, RetrySettings, RowReader,
    Timestamp,
};
use uuid::Uuid;

use crate::model::Value;
use crate::wire::{self, Type, put};

pub fn entry(data: &[u8]) {
    let Some((which, text)) = data.split_first() else {
        return;
    };
    match which % 11 {
        0 => timestamp(text),
        1 => date(text),
        2 => numeric(text),
        3 => pg_numeric(text),
        4 => interval(text),
        5 => uuid(text),
        6 => bytes(text),
        7 => integer(text),
        8 => float(text),
        9 => json(text),
        _ => utf8(text),
    }
}

fn timestamp(text: &[u8]) {
    let ours = parse::<Timestamp>(text);
    let expected = instant(text);
    assert_eq!(ours.map(|at| (at.seconds(), at.nanoseconds())), expected);
    let column = |ty| Type::Scalar(ty);
    assert_eq!(read::<Timestamp>(column(4), text), ours);
    let chrono = read::<DateTime<Utc>>(column(4), text);
    let of_chrono = |at: DateTime<Utc>| (at.timestamp(), at.timestamp_subsec_nanos());
    assert_eq!(chrono.map(of_chrono), expected);
    let time = read::<time::OffsetDateTime>(column(4), text);
    assert_eq!(
        time.map(|at| (at.unix_timestamp(), at.nanosecond())),
        expected
    );
    if let Some(system) = read::<SystemTime>(column(4), text) {
        assert_eq!(Timestamp::try_from(system).ok(), ours);
    }
    // It ends before the year 9999 does.
    if let Some(jiff) = read::<jiff::Timestamp>(column(4), text) {
        let nanoseconds = expected.map(|(s, n)| i128::from(s) * 1_000_000_000 + i128::from(n));
        assert_eq!(Some(jiff.as_nanosecond()), nanoseconds);
    }
}

/// Seconds and nanoseconds of RFC 3339 as Spanner writes it.
fn instant(text: &[u8]) -> Option<(i64, u32)> {
    let (whole, fraction) = match text.strip_suffix(b"Z")? {
        rest if rest.len() == 19 => (rest, None),
        rest => (rest.get(..19)?, Some(rest.get(19..)?)),
    };
    let fraction_fits = match fraction {
        None => true,
        Some([b'.', digits @ ..]) => {
            (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        }
        Some(_) => false,
    };
    if !fraction_fits || !fits(whole, b"0000-00-00T00:00:00") || whole.get(17) >= Some(&b'6') {
        return None;
    }
    let at = DateTime::parse_from_rfc3339(std::str::from_utf8(text).ok()?).ok()?;
    (at.year() >= 1).then(|| (at.timestamp(), at.timestamp_subsec_nanos()))
}

/// Whether digits stand where the pattern has `0`, and the same bytes elsewhere.
fn fits(text: &[u8], pattern: &[u8]) -> bool {
    text.len() == pattern.len()
        && text.iter().zip(pattern).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => byte == wanted,
        })
}

fn date(text: &[u8]) {
    let expected = day(text);
    let chrono = read::<NaiveDate>(Type::Scalar(5), text);
    assert_eq!(chrono, expected);
    let jiff = read::<jiff::civil::Date>(Type::Scalar(5), text);
    let of_jiff =
        |day: jiff::civil::Date| (day.year().into(), day.month() as u32, day.day() as u32);
    let parts = expected.map(|day| (day.year(), day.month(), day.day()));
    assert_eq!(jiff.map(of_jiff), parts);
    let time = read::<time::Date>(Type::Scalar(5), text);
    let of_time = |day: time::Date| (day.year(), u8::from(day.month()).into(), day.day().into());
    assert_eq!(time.map(of_time), parts);
}

fn day(text: &[u8]) -> Option<NaiveDate> {
    if !fits(text, b"0000-00-00") {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let year = number(0..4)?;
    NaiveDate::from_ymd_opt(year as i32, number(5..7)?, number(8..10)?).filter(|_| year >= 1)
}

/// Longer numbers and larger exponents are read, but slow to compare with.
const LONG: usize = 200;

fn numeric(text: &[u8]) {
    let ours = parse::<Numeric>(text);
    assert_eq!(read::<Numeric>(Type::Scalar(10), text), ours);
    if let Some(number) = ours {
        let shown = number.to_string();
        let float: f64 = shown.parse().unwrap();
        assert_eq!(number.to_f64_lossy().abs(), float.abs());
        assert_eq!(Numeric::from_scaled(number.scaled()), Some(number));
    }
    if parts_of_decimal(text).is_none() {
        assert_eq!(ours, None);
    }
    let Some(number) = decimal(text) else {
        return;
    };
    let scaled = &number * BigDecimal::from(1_000_000_000);
    let fits = scaled.is_integer() && scaled.abs() < BigDecimal::new(1.into(), -38);
    let expected = fits.then(|| scaled.with_scale(0).to_string().parse::<i128>().unwrap());
    assert_eq!(ours.map(Numeric::scaled), expected);

    assert_eq!(
        read::<BigDecimal>(Type::PgNumeric, text).as_ref(),
        Some(&number)
    );
    // It holds some numbers that NUMERIC does not, and the other way around.
    if let Some(decimal) = read::<Decimal>(Type::Scalar(10), text) {
        let shown: BigDecimal = decimal.to_string().parse().unwrap();
        assert_eq!(shown, number);
    }
}

/// A decimal number in any form that the protocol allows, unless it is very long.
fn decimal(text: &[u8]) -> Option<BigDecimal> {
    let [whole, fraction, exponent] = parts_of_decimal(text)?;
    if text.len() >= LONG || exponent.trim_start_matches('0').len() > 2 {
        return None;
    }
    let before = |part: &str| {
        let at = part.as_ptr().addr() - text.as_ptr().addr();
        if at > 0 && text.get(at - 1) == Some(&b'-') {
            "-"
        } else {
            ""
        }
    };
    let (sign, exponent_sign) = (before(whole), before(exponent));
    format!("{sign}0{whole}.{fraction}0e{exponent_sign}0{exponent}")
        .parse()
        .ok()
}

/// The digits before the point, behind it, and of the exponent.
fn parts_of_decimal(text: &[u8]) -> Option<[&str; 3]> {
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (text, None),
    };
    let number = unsigned(mantissa);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let parts = [whole, fraction, exponent.unwrap_or(&text[text.len()..])];
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = parts.into_iter().all(digits)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent != Some("");
    well_formed.then_some(parts)
}

/// Without one sign.
fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn pg_numeric(text: &[u8]) {
    let (a, b) = match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, text),
    };
    let (number, other) = (parse::<PgNumeric>(a), parse::<PgNumeric>(b));
    assert_eq!(read::<PgNumeric>(Type::PgNumeric, a), number);
    let (Some(number), Some(other)) = (number, other) else {
        return;
    };
    assert_eq!(number.as_str().as_bytes(), a);
    let numeric = number.to_numeric().ok();
    assert_eq!(numeric, parse(a));
    if let Some(numeric) = numeric {
        assert_eq!(PgNumeric::from(numeric), number);
    }
    let order = number.cmp(&other);
    assert_eq!(order.reverse(), other.cmp(&number));
    assert_eq!(order.is_eq(), number == other);
    if order.is_eq() {
        assert_eq!(hash(&number), hash(&other));
    }
    let expected = match (number.is_nan(), other.is_nan()) {
        (false, false) => {
            let (Some(a), Some(b)) = (decimal(a), decimal(b)) else {
                return;
            };
            a.cmp(&b)
        }
        (a, b) => a.cmp(&b),
    };
    assert_eq!(order, expected, "{number} {other}");
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn interval(text: &[u8]) {
    let ours = parse::<Interval>(text);
    assert_eq!(ours, std::str::from_utf8(text).ok().and_then(slow_interval));
    assert_eq!(read::<Interval>(Type::Scalar(16), text), ours);
    let span = read::<jiff::Span>(Type::Scalar(16), text);
    if let (Some(span), Some(ours)) = (span, ours) {
        let months = i32::from(span.get_years()) * 12 + span.get_months();
        assert_eq!((months, span.get_days()), (ours.months, ours.days));
    }
}

/// Part by part, with `str`'s methods.
fn slow_interval(text: &str) -> Option<Interval> {
    let text = text.strip_prefix('P')?;
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    if time.map_or(date.is_empty(), str::is_empty) {
        return None;
    }
    let [years, months, days, fraction] = parts(date, ["Y", "M", "D"])?;
    if fraction != 0 {
        return None;
    }
    let [hours, minutes, seconds, fraction] = parts(time.unwrap_or(""), ["H", "M", "S"])?;
    let whole = hours
        .checked_mul(3_600)?
        .checked_add(minutes.checked_mul(60)?)?
        .checked_add(seconds)?;
    Interval::new(
        years
            .checked_mul(12)?
            .checked_add(months)?
            .try_into()
            .ok()?,
        days.try_into().ok()?,
        whole.checked_mul(1_000_000_000)?.checked_add(fraction)?,
    )
}

/// The amounts of the units, each at most once and in this order; and the fraction of
/// seconds in billionths.
fn parts(mut text: &str, units: [&str; 3]) -> Option<[i128; 4]> {
    let mut amounts = [0; 4];
    for (i, unit) in units.into_iter().enumerate() {
        let Some((amount, rest)) = text.split_once(unit) else {
            continue;
        };
        text = rest;
        let negative = amount.starts_with('-');
        let amount = amount.strip_prefix('-').unwrap_or(amount);
        let (whole, fraction) = match amount.split_once(['.', ',']) {
            Some((whole, fraction)) if unit == "S" => (whole, Some(fraction)),
            Some(_) => return None,
            None => (amount, None),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let fraction = match fraction {
            Some(fraction) if digits(fraction) && (1..=9).contains(&fraction.len()) => {
                format!("{fraction:0<9}").parse().ok()?
            }
            Some(_) => return None,
            None if whole.is_empty() => return None,
            None => 0,
        };
        if !digits(whole) {
            return None;
        }
        let whole = whole.trim_start_matches('0');
        // Nothing so long is in range.
        let whole: i128 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok().filter(|amount| *amount < 1_i128 << 80)?
        };
        let sign = if negative { -1 } else { 1 };
        amounts[i] = sign * whole;
        amounts[3] += sign * fraction;
    }
    text.is_empty().then_some(amounts)
}

fn uuid(text: &[u8]) {
    let expected = match text.len() {
        36 => Uuid::try_parse_ascii(text).ok(),
        _ => None,
    };
    let ours = read::<Uuid>(Type::Scalar(17), text);
    assert_eq!(ours, expected);
    if let Some(uuid) = ours {
        assert_eq!(
            read::<Uuid>(Type::Scalar(6), uuid.to_string().as_bytes()),
            ours
        );
    }
}

fn bytes(text: &[u8]) {
    let expected = STANDARD.decode(text).ok();
    assert_eq!(read::<Vec<u8>>(Type::Scalar(7), text), expected);
    assert_eq!(
        read::<bytes::Bytes>(Type::Scalar(13), text),
        expected.clone().map(Into::into)
    );
    let four = expected
        .as_ref()
        .and_then(|bytes| bytes[..].try_into().ok());
    assert_eq!(read::<[u8; 4]>(Type::Scalar(7), text), four);
    if let Ok(text) = std::str::from_utf8(text) {
        let base64 = Base64::new(text);
        assert_eq!(base64.decode().ok(), expected);
        if let Some(expected) = &expected {
            assert_eq!(base64.decoded_len(), Some(expected.len()));
            assert_eq!(STANDARD.encode(expected), text);
        }
    }
    // Borrowed: decoded for the whole message, before a row is read.
    let mut reader = one_row::<(Option<&[u8]>,)>(&[Type::Scalar(7)], &[Value::Text(text.to_vec())]);
    assert_eq!(
        reader.next().ok().flatten().and_then(|row| row.0),
        expected.as_deref()
    );
}

fn integer(text: &[u8]) {
    let expected = std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.starts_with('+'))
        .and_then(|text| text.parse::<i64>().ok());
    assert_eq!(read::<i64>(Type::Scalar(2), text), expected);
    let small = expected.and_then(|value| i32::try_from(value).ok());
    let read = read::<ProtoEnum<i32>>(Type::Scalar(14), text);
    assert_eq!(read.map(|ProtoEnum(value)| value), small);
}

fn float(text: &[u8]) {
    let expected = match text {
        b"NaN" => Some(f64::NAN),
        b"Infinity" => Some(f64::INFINITY),
        b"-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    };
    let ours = read::<f64>(Type::Scalar(3), text);
    assert_eq!(ours.map(f64::to_bits), expected.map(f64::to_bits));
    let single = read::<f32>(Type::Scalar(15), text);
    assert_eq!(
        single.map(f32::to_bits),
        expected.map(|value| (value as f32).to_bits())
    );
    if let Some(bytes) = text.first_chunk() {
        let number = f64::from_le_bytes(*bytes);
        let mut reader = one_row::<(f64, f32)>(
            &[Type::Scalar(3), Type::Scalar(15)],
            &[Value::Number(number), Value::Number(number)],
        );
        let (double, single) = reader.next().unwrap().unwrap();
        assert_eq!(double.to_bits(), number.to_bits());
        assert!(single == number as f32 || number.is_nan() && single.is_nan());
    }
}

fn json(text: &[u8]) {
    let valid = std::str::from_utf8(text).ok();
    let expected: Option<serde_json::Value> =
        valid.and_then(|text| serde_json::from_str(text).ok());
    let json = Type::Scalar(11);
    assert_eq!(read::<serde_json::Value>(json.clone(), text), expected);
    let pairs = read::<Json<Vec<(String, f64)>>>(json.clone(), text);
    if let Some(Json(pairs)) = pairs {
        let again = serde_json::to_string(&pairs).unwrap();
        let read = read::<Json<Vec<(String, f64)>>>(json.clone(), again.as_bytes());
        assert_eq!(read, Some(Json(pairs)));
    }
    let value = Value::Text(text.to_vec());
    let mut reader = one_row::<(&serde_json::value::RawValue,)>(&[json], &[value]);
    if let Ok(Some((raw,))) = reader.next() {
        // Space around the document is not part of it.
        assert_eq!(Some(raw.get()), valid.map(|text| text.trim_ascii()));
        assert!(serde_json::from_str::<serde::de::IgnoredAny>(raw.get()).is_ok());
    }
}

/// Three texts of one row, which are checked together.
fn utf8(text: &[u8]) {
    let third = text.len() / 3;
    let texts = [&text[..third], &text[third..2 * third], &text[2 * third..]];
    let values = texts.map(|text| Value::Text(text.to_vec()));
    let columns = [6; 3].map(Type::Scalar);
    let mut reader = one_row::<(&str, &str, &str)>(&columns, &values);
    let expected = texts.map(|text| std::str::from_utf8(text).ok());
    let read = reader.next().ok().flatten();
    match expected {
        [Some(a), Some(b), Some(c)] => assert_eq!(read, Some((a, b, c))),
        _ => assert_eq!(read, None),
    }
    assert_eq!(
        crate::parsers::read::<String>(Type::Scalar(6), text).as_deref(),
        std::str::from_utf8(text).ok()
    );
}

/// What the text is without a column; and printed and parsed again it must be the same.
fn parse<T: FromStr + Display + PartialEq + Debug>(text: &[u8]) -> Option<T> {
    let value = std::str::from_utf8(text).ok()?.parse::<T>().ok()?;
    let shown = value.to_string();
    assert_eq!(shown.parse::<T>().ok().as_ref(), Some(&value), "{shown}");
    Some(value)
}

/// Reads the text as the value of a column of this type.
fn read<T>(ty: Type, text: &[u8]) -> Option<T>
where
    (T,): OwnedRow,
{
    let mut reader = one_row::<(T,)>(&[ty], &[Value::Text(text.to_vec())]);
    let row = match reader.next_owned() {
        Ok(row) => row,
        Err(error) => {
            assert!(error.is_row_error(), "{error}");
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    Some(row.expect("one row").0)
}

/// A result of one row.
fn one_row<T: spanner_rows::SpannerRow>(columns: &[Type], values: &[Value]) -> RowReader<T> {
    let columns: Vec<_> = columns.iter().map(|ty| ("", ty.clone())).collect();
    let mut message = wire::metadata(&columns);
    for value in values {
        put(&mut message, 0x12, &value.encoded());
    }
    let mut reader = RowReader::new(&RetrySettings::new());
    reader.receive(message.into());
    reader.end();
    reader
}
