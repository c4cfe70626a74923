//! One `google.protobuf.Value`: which kind it has and where its content lies.

use super::error::{WireError, WireErrorKind};
use super::reader::{self, Fields, MAX_DEPTH, Span, WireType};

/// Field `values` of `google.protobuf.ListValue`, length-delimited.
pub(crate) const ELEMENT_TAG: u8 = 0x0a;
/// Field `values` of `google.spanner.v1.PartialResultSet`, length-delimited.
pub(crate) const VALUES_TAG: u8 = 0x12;

/// Tags of the kinds of `google.protobuf.Value`.
pub(crate) const NULL_TAG: u8 = 0x08;
pub(crate) const NUMBER_TAG: u8 = 0x11;
pub(crate) const STRING_TAG: u8 = 0x1a;
pub(crate) const BOOL_TAG: u8 = 0x20;
pub(crate) const LIST_TAG: u8 = 0x32;

/// The kind of a value; of strings, lists and structs also where the content
/// lies in the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(f64),
    String(Span),
    List(Span),
    /// A JSON object; Spanner never sends one.
    Struct(Span),
    /// No kind at all, which valid data never has.
    Unset,
}

impl Kind {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Struct(_) => "a JSON object",
            Self::Unset => "a value without a kind",
        }
    }
}

/// Reads the `Value` message that fills `span`.
pub(crate) fn read(buf: &[u8], span: Span) -> Result<Kind, WireError> {
    read_at(span.of(buf), span.start)
}

/// Reads a `Value` message whose bytes start at `at` in their buffer; the spans
/// in the answer are places in that buffer.
///
/// Servers write exactly one field, and short strings are by far the most
/// frequent; anything else that protobuf allows (unknown fields, the last of
/// several kinds counts) is read by slower halves.
#[inline(always)]
pub(crate) fn read_at(bytes: &[u8], at: usize) -> Result<Kind, WireError> {
    match bytes {
        [STRING_TAG, len @ 0..0x80, content @ ..] if content.len() == usize::from(*len) => {
            Ok(Kind::String(Span {
                start: at + 2,
                end: at + 2 + content.len(),
            }))
        }
        [NULL_TAG, 0] => Ok(Kind::Null),
        [BOOL_TAG, 0] => Ok(Kind::Bool(false)),
        [BOOL_TAG, 1] => Ok(Kind::Bool(true)),
        [NUMBER_TAG, n @ ..] if n.len() == 8 => match <[u8; 8]>::try_from(n) {
            Ok(bytes) => Ok(Kind::Number(f64::from_le_bytes(bytes))),
            Err(_) => read_any(bytes, at),
        },
        _ => read_long(bytes, at),
    }
}

/// A string of 128 bytes and more, or a list.
#[inline(never)]
fn read_long(bytes: &[u8], at: usize) -> Result<Kind, WireError> {
    if let [STRING_TAG | LIST_TAG, ..] = bytes
        && let Ok(content) = reader::length(bytes, 1, bytes.len())
        && content.end == bytes.len()
    {
        let span = Span {
            start: at + content.start,
            end: at + content.end,
        };
        return Ok(match bytes {
            [STRING_TAG, ..] => Kind::String(span),
            _ => Kind::List(span),
        });
    }
    read_any(bytes, at)
}

#[cold]
fn read_any(bytes: &[u8], at: usize) -> Result<Kind, WireError> {
    let whole = Span {
        start: 0,
        end: bytes.len(),
    };
    let kind = read_fields(bytes, whole).map_err(|error| error.shifted(at))?;
    let shifted = |span: Span| Span {
        start: at + span.start,
        end: at + span.end,
    };
    Ok(match kind {
        Kind::String(span) => Kind::String(shifted(span)),
        Kind::List(span) => Kind::List(shifted(span)),
        Kind::Struct(span) => Kind::Struct(shifted(span)),
        scalar => scalar,
    })
}

fn read_fields(buf: &[u8], span: Span) -> Result<Kind, WireError> {
    let mut kind = Kind::Unset;
    let mut fields = Fields::new(buf, span);
    while let Some(field) = fields.next()? {
        kind = match field.tag.field {
            1 => field.integer().map(|_| Kind::Null)?,
            2 => match field.tag.wire_type {
                WireType::Fixed64 => {
                    let bytes = <[u8; 8]>::try_from(field.span.of(buf))
                        .map_err(|_| WireError::new(WireErrorKind::Truncated, field.at))?;
                    Kind::Number(f64::from_le_bytes(bytes))
                }
                _ => return Err(WireError::new(WireErrorKind::UnexpectedWireType, field.at)),
            },
            3 => Kind::String(field.message()?),
            4 => Kind::Bool(field.integer()? != 0),
            // Two messages in a oneof are joined by protobuf; nobody writes that.
            5 | 6 if matches!(kind, Kind::List(_) | Kind::Struct(_)) => {
                return Err(WireError::new(WireErrorKind::RepeatedList, field.at));
            }
            5 => Kind::Struct(field.message()?),
            6 => Kind::List(field.message()?),
            _ => kind,
        };
    }
    Ok(kind)
}

/// The bytes of a value and where they lie in the buffer.
pub(crate) type Found<'a> = (&'a [u8], usize);

/// The values of a list or of a row: length-delimited fields under one tag,
/// others passed over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a> {
    /// What is left to read.
    rest: &'a [u8],
    /// Where that ends in the buffer.
    end: usize,
    tag: u8,
}

impl<'a> Elements<'a> {
    /// The elements of a `ListValue`.
    pub(crate) fn of_list(buf: &'a [u8], span: Span) -> Self {
        Self::new(span.of(buf), span.end, ELEMENT_TAG)
    }

    /// The values of a row in a `PartialResultSet`.
    pub(crate) fn of_row(buf: &'a [u8], span: Span) -> Self {
        Self::new(span.of(buf), span.end, VALUES_TAG)
    }

    /// The fields with this tag in `rest`, which ends at `end` in its buffer.
    #[inline(always)]
    pub(crate) const fn new(rest: &'a [u8], end: usize, tag: u8) -> Self {
        Self { rest, end, tag }
    }

    /// Whether these are the values of a row, not the elements of a list.
    pub(crate) const fn is_row(&self) -> bool {
        self.tag == VALUES_TAG
    }

    /// Where the next element's tag lies.
    #[inline(always)]
    pub(crate) const fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// What is left to read.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The same values, of which only `rest` is left.
    #[inline(always)]
    pub(crate) const fn go_on(mut self, rest: &'a [u8]) -> Self {
        self.rest = rest;
        self
    }

    /// The values that end where these do, from the tag at `start` in `buf` on.
    pub(crate) fn again_from(mut self, buf: &'a [u8], start: usize) -> Self {
        self.rest = buf.get(start..self.end).unwrap_or_default();
        self
    }

    /// How many elements there are from here on.
    pub(crate) fn count(mut self) -> Result<usize, WireError> {
        let mut n = 0;
        while self.next()?.is_some() {
            n += 1;
        }
        Ok(n)
    }

    /// Where the content of the next element lies.
    pub(crate) fn next(&mut self) -> Result<Option<Span>, WireError> {
        let next = self.next_bytes()?;
        Ok(next.map(|(bytes, start)| Span {
            start,
            end: start + bytes.len(),
        }))
    }

    /// The content of the next element, and where it lies.
    #[inline(always)]
    pub(crate) fn next_bytes(&mut self) -> Result<Option<Found<'a>>, WireError> {
        if let Some(value) = self.next_short() {
            return Ok(Some(value));
        }
        let (value, rest) = self.next_long()?;
        *self = rest;
        Ok(value)
    }

    /// The next element if it has less than 128 bytes.
    #[inline(always)]
    pub(crate) fn next_short(&mut self) -> Option<Found<'a>> {
        if let [tag, len @ 0..0x80, tail @ ..] = self.rest
            && *tag == self.tag
            && let Some((value, rest)) = tail.split_at_checked(usize::from(*len))
        {
            let start = self.end - tail.len();
            self.rest = rest;
            return Some((value, start));
        }
        None
    }

    /// The text of the next element if that is a string of less than 126 bytes,
    /// and nothing but that.
    #[inline(always)]
    pub(crate) fn next_short_string(&mut self) -> Option<Found<'a>> {
        if let [tag, len, STRING_TAG, text_len @ 0..0x7e, tail @ ..] = self.rest
            && *tag == self.tag
            && *len == *text_len + 2
            && let Some((text, rest)) = tail.split_at_checked(usize::from(*text_len))
        {
            let start = self.end - tail.len();
            self.rest = rest;
            return Some((text, start));
        }
        None
    }

    /// The text of the next element if that is a string of 128 bytes or more, and
    /// nothing but that.
    #[inline(always)]
    pub(crate) fn next_longer_string(&mut self) -> Option<Found<'a>> {
        let (text, rest) = longer_string(self.rest, self.tag)?;
        self.rest = rest;
        Some((text, self.end - rest.len() - text.len()))
    }

    /// The next element if it has 128 bytes or more and a length without needless zeros.
    #[inline]
    pub(crate) fn next_longer(&mut self) -> Option<Found<'a>> {
        if let [tag, ..] = self.rest
            && *tag == self.tag
            && let Some((value, rest)) = longer(self.rest)
        {
            let start = self.end - rest.len() - value.len();
            self.rest = rest;
            return Some((value, start));
        }
        None
    }

    /// An element of any length, the end, or something that is neither;
    /// and what comes behind it.
    ///
    /// Takes and gives the elements by value, so that those of the caller can
    /// stay in registers.
    #[inline(never)]
    fn next_long(mut self) -> Result<(Option<Found<'a>>, Self), WireError> {
        while let [first, ..] = self.rest {
            if *first == self.tag {
                let content = reader::length(self.rest, 1, self.rest.len())
                    .map_err(|error| error.shifted(self.position()))?;
                let start = self.position() + content.start;
                let value = self.rest.get(content.start..content.end);
                self.rest = self.rest.get(content.end..).unwrap_or_default();
                return Ok((value.map(|value| (value, start)), self));
            }
            self.pass_unknown()?;
        }
        Ok((None, self))
    }

    #[cold]
    fn pass_unknown(&mut self) -> Result<(), WireError> {
        let at = self.position();
        let after = self.unknown_len().map_err(|error| error.shifted(at))?;
        self.rest = self.rest.get(after..).unwrap_or_default();
        Ok(())
    }

    fn unknown_len(&self) -> Result<usize, WireError> {
        let (tag, start) = reader::tag(self.rest, 0)?;
        if tag.field == u32::from(self.tag >> 3) {
            // The right field with a wire type that is not its own, or under a
            // tag written with more bytes than needed.
            let kind = match tag.wire_type {
                WireType::Len => WireErrorKind::FieldNumber,
                _ => WireErrorKind::UnexpectedWireType,
            };
            return Err(WireError::new(kind, 0));
        }
        reader::skip(self.rest, start, self.rest.len(), tag)
    }
}

/// The text of the element with this tag that `bytes` begin with, if that is a string of
/// 128 bytes or more, and what follows.
#[inline(never)]
fn longer_string(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    if let Some((value, rest)) = longer(bytes)
        && bytes.first() == Some(&tag)
        && value.first() == Some(&STRING_TAG)
        && let Some((text, [])) = longer(value)
    {
        return Some((text, rest));
    }
    None
}

/// The content behind a tag of one byte and a length of two to four, and what follows.
#[inline]
pub(crate) fn longer(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let bits = |byte: &u8| usize::from(*byte & 0x7f);
    match bytes {
        [_, a @ 0x80..=0xff, b @ 1..0x80, rest @ ..] => {
            rest.split_at_checked(bits(a) | bits(b) << 7)
        }
        [_, a @ 0x80..=0xff, b @ 0x80..=0xff, c @ 1..0x80, rest @ ..] => {
            rest.split_at_checked(bits(a) | bits(b) << 7 | bits(c) << 14)
        }
        [
            _,
            a @ 0x80..=0xff,
            b @ 0x80..=0xff,
            c @ 0x80..=0xff,
            d @ 1..0x80,
            rest @ ..,
        ] => rest.split_at_checked(bits(a) | bits(b) << 7 | bits(c) << 14 | bits(d) << 21),
        _ => None,
    }
}

/// Sees to it that everything in the value is well formed, to any depth that is
/// allowed. Answers the first element with a kind that Spanner never sends.
pub(crate) fn check(buf: &[u8], span: Span) -> Result<Option<Kind>, WireError> {
    check_at(buf, span, MAX_DEPTH)
}

fn check_at(buf: &[u8], span: Span, depth: usize) -> Result<Option<Kind>, WireError> {
    match read(buf, span)? {
        Kind::String(text) if super::utf8::text(text.of(buf)).is_none() => {
            Err(WireError::new(WireErrorKind::Utf8, text.start))
        }
        Kind::List(list) => {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(WireError::new(WireErrorKind::TooDeep, list.start));
            };
            let mut elements = Elements::of_list(buf, list);
            let mut strange = None;
            while let Some(element) = elements.next()? {
                let inside = check_at(buf, element, depth)?;
                strange = strange.or(inside);
            }
            Ok(strange)
        }
        kind @ (Kind::Struct(_) | Kind::Unset) => Ok(Some(kind)),
        _ => Ok(None),
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
