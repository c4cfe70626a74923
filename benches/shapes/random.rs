//! Values that look like those of a table and are the same in every run.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use spanner_rows::OwnedValue;

/// A generator of 64-bit numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    const fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// A STRING of lower-case letters.
    pub(crate) fn ascii(&mut self, len: usize) -> OwnedValue {
        OwnedValue::String(self.letters(len))
    }

    pub(crate) fn ascii_between(&mut self, least: u64, most: u64) -> OwnedValue {
        let len = least + self.below(most - least + 1);
        self.ascii(len as usize)
    }

    fn letters(&mut self, len: usize) -> String {
        let letter = |_| char::from(b'a' + self.below(26) as u8);
        (0..len).map(letter).collect()
    }

    /// A STRING of letters of 1 to 4 bytes each.
    pub(crate) fn text(&mut self, len: usize) -> OwnedValue {
        const LETTERS: [char; 12] = [
            'a', 'e', 'n', ' ', 'é', 'ß', 'Ж', 'λ', '日', '本', '한', '🎵',
        ];
        let mut text = String::with_capacity(len);
        while text.len() < len {
            let letter = LETTERS[self.below(LETTERS.len() as u64) as usize];
            if text.len() + letter.len_utf8() <= len {
                text.push(letter);
            }
        }
        OwnedValue::String(text)
    }

    /// NULL in one of ten cases.
    pub(crate) fn or_null(&mut self, value: impl FnOnce(&mut Self) -> OwnedValue) -> OwnedValue {
        match self.below(10) {
            0 => OwnedValue::Null,
            _ => value(self),
        }
    }

    /// An INT64 of 1 to 18 digits, a quarter of them negative.
    pub(crate) fn integer(&mut self) -> OwnedValue {
        let digits = self.digits(18);
        let sign = if self.below(4) == 0 { "-" } else { "" };
        OwnedValue::String(format!("{sign}{digits}"))
    }

    /// A number of at most so many digits; the count of digits is evenly spread.
    fn digits(&mut self, most: u64) -> u64 {
        let digits = 1 + self.below(most) as u32;
        self.below(10_u64.pow(digits))
    }

    /// A NUMERIC of 1 to 12 digits and 0 to 9 decimals.
    pub(crate) fn numeric(&mut self) -> OwnedValue {
        let mut text = self.digits(12).to_string();
        let decimals = self.below(10);
        for place in 0..decimals {
            let dot = if place == 0 { "." } else { "" };
            // Spanner sends no zeros at the end.
            let lowest = u64::from(place + 1 == decimals);
            let digit = lowest + self.below(10 - lowest);
            let _ = write!(text, "{dot}{digit}");
        }
        OwnedValue::String(text)
    }

    pub(crate) const fn boolean(&mut self) -> OwnedValue {
        OwnedValue::Bool(self.below(2) == 1)
    }

    pub(crate) const fn float64(&mut self) -> OwnedValue {
        OwnedValue::Number(self.below(1 << 53) as f64 / 1024.0)
    }

    pub(crate) const fn float32(&mut self) -> OwnedValue {
        OwnedValue::Number(self.below(1 << 24) as f32 as f64 / 64.0)
    }

    pub(crate) fn base64(&mut self, len: usize) -> OwnedValue {
        let bytes: Vec<u8> = (0..len).map(|_| self.below(256) as u8).collect();
        OwnedValue::String(BASE64_STANDARD.encode(bytes))
    }

    pub(crate) fn date(&mut self) -> OwnedValue {
        OwnedValue::String(self.day())
    }

    fn day(&mut self) -> String {
        let (year, month) = (1970 + self.below(80), 1 + self.below(12));
        format!("{year:04}-{month:02}-{:02}", 1 + self.below(28))
    }

    pub(crate) fn timestamp(&mut self) -> OwnedValue {
        let day = self.day();
        let (hour, minute, second) = (self.below(24), self.below(60), self.below(60));
        // Nine digits, the last of them not zero.
        let nanos = self.below(100_000_000) * 10 + 1 + self.below(9);
        OwnedValue::String(format!(
            "{day}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z"
        ))
    }

    pub(crate) fn interval(&mut self) -> OwnedValue {
        let (years, months, days) = (self.below(20), self.below(12), self.below(30));
        let (hours, minutes, seconds) = (self.below(24), self.below(60), self.below(60));
        let millis = self.below(1000);
        OwnedValue::String(format!(
            "P{years}Y{months}M{days}DT{hours}H{minutes}M{seconds}.{millis:03}S"
        ))
    }

    /// A document of about 62 bytes.
    pub(crate) fn json(&mut self) -> OwnedValue {
        let (id, name) = (self.below(100_000), self.letters(12));
        let active = self.below(2) == 1;
        OwnedValue::String(format!(
            r#"{{"id":{id},"name":"{name}","active":{active},"tags":["x","y"]}}"#
        ))
    }

    pub(crate) fn uuid(&mut self) -> OwnedValue {
        let (high, low) = (self.number(), self.number());
        let uuid = uuid::Uuid::from_u64_pair(high, low);
        OwnedValue::String(uuid.hyphenated().to_string())
    }
}
