//! Rows of the shapes that are compared, in messages of about 31 KiB with a
//! token of 40 bytes, as the service sends them.

use bytes::Bytes;
use spanner_rows::testing::Message;
use spanner_rows::{OwnedValue, SpannerRow, TypeCode};

/// The encoded messages of a result.
pub(crate) struct Messages {
    pub(crate) encoded: Vec<Bytes>,
    pub(crate) rows: u64,
}

/// STRING of 24, 36 and 1,600 bytes.
#[derive(SpannerRow)]
pub(crate) struct Customer<'row> {
    pub(crate) a: &'row str,
    pub(crate) b: &'row str,
    pub(crate) c: &'row str,
}

/// As [`Customer`], owned.
#[derive(SpannerRow)]
pub(crate) struct OwnedCustomer {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) c: String,
}

/// Eight STRING.
#[derive(SpannerRow)]
pub(crate) struct Strings8<'row> {
    pub(crate) a: &'row str,
    pub(crate) b: &'row str,
    pub(crate) c: &'row str,
    pub(crate) d: &'row str,
    pub(crate) e: &'row str,
    pub(crate) f: &'row str,
    pub(crate) g: &'row str,
    pub(crate) h: &'row str,
}

/// As [`Strings8`], owned.
#[derive(SpannerRow)]
pub(crate) struct OwnedStrings8 {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) c: String,
    pub(crate) d: String,
    pub(crate) e: String,
    pub(crate) f: String,
    pub(crate) g: String,
    pub(crate) h: String,
}

/// INT64 and a STRING of 16 bytes.
#[derive(SpannerRow)]
pub(crate) struct Narrow<'row> {
    pub(crate) a: i64,
    pub(crate) b: &'row str,
}

/// As [`Narrow`], owned.
#[derive(SpannerRow)]
pub(crate) struct OwnedNarrow {
    pub(crate) a: i64,
    pub(crate) b: String,
}

const EIGHT: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

pub(crate) fn customer() -> Messages {
    let columns = EIGHT[..3].iter().map(|name| (*name, TypeCode::String));
    messages(columns, |random| {
        [24, 36, 1_600].map(|len| random.text(len)).into()
    })
}

/// Texts of 24 bytes.
pub(crate) fn strings8() -> Messages {
    let columns = EIGHT.iter().map(|name| (*name, TypeCode::String));
    messages(columns, |random| (0..8).map(|_| random.text(24)).collect())
}

/// Texts of 0 to 48 bytes at random.
pub(crate) fn vary8() -> Messages {
    let columns = EIGHT.iter().map(|name| (*name, TypeCode::String));
    messages(columns, |random| {
        (0..8)
            .map(|_| {
                let len = random.below(49) as usize;
                random.text(len)
            })
            .collect()
    })
}

pub(crate) fn narrow() -> Messages {
    let columns = [("a", TypeCode::Int64), ("b", TypeCode::String)];
    messages(columns.into_iter(), |random| {
        vec![random.integer(), random.text(16)]
    })
}

fn messages(
    columns: impl Iterator<Item = (&'static str, TypeCode)>,
    mut row: impl FnMut(&mut Random) -> Vec<String>,
) -> Messages {
    const MESSAGES: u8 = 30;
    const MESSAGE_SIZE: usize = 31 * 1024;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut rows = 0;
    let mut columns = Some(columns);
    let encoded = (0..MESSAGES).map(|i| {
        let mut message = Message::new();
        if let Some(columns) = columns.take() {
            message = message.columns(columns);
        }
        let mut size = 0;
        while size < MESSAGE_SIZE {
            let row = row(&mut random);
            size += row.iter().map(|text| text.len() + 4).sum::<usize>();
            message = message.values(row.into_iter().map(OwnedValue::String));
            rows += 1;
        }
        let mut token = [0x80; 40];
        token[0] = i;
        message.resume_token(token.to_vec()).encode()
    });
    Messages {
        encoded: encoded.collect(),
        rows,
    }
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn text(&mut self, len: usize) -> String {
        (0..len)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect()
    }

    /// 1 to 18 digits, a quarter of them negative.
    fn integer(&mut self) -> String {
        let digits = 1 + self.below(18) as u32;
        let value = self.below(10_u64.pow(digits)) as i64;
        let sign = if self.below(4) == 0 { -1 } else { 1 };
        (sign * value).to_string()
    }
}
