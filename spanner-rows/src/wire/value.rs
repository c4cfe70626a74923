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
        Self::new(buf, ELEMENT_TAG, span)
    }

    /// The values of a row in a `PartialResultSet`.
    pub(crate) fn of_row(buf: &'a [u8], span: Span) -> Self {
        Self::new(buf, VALUES_TAG, span)
    }

    #[inline(always)]
    pub(crate) fn new(buf: &'a [u8], tag: u8, span: Span) -> Self {
        Self {
            rest: buf.get(span.start..span.end).unwrap_or_default(),
            end: span.end,
            tag,
        }
    }

    /// Where the next element's tag lies.
    #[inline(always)]
    pub(crate) const fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The same values, read on from the tag at `pos`.
    pub(crate) fn at(mut self, pos: usize) -> Self {
        let skip = pos.checked_sub(self.position());
        self.rest = skip
            .and_then(|skip| self.rest.get(skip..))
            .unwrap_or_default();
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
    pub(crate) fn next_bytes(&mut self) -> Result<Option<(&'a [u8], usize)>, WireError> {
        if let [tag, len @ 0..0x80, tail @ ..] = self.rest
            && *tag == self.tag
            && let Some((value, rest)) = tail.split_at_checked(usize::from(*len))
        {
            let start = self.end - tail.len();
            self.rest = rest;
            return Ok(Some((value, start)));
        }
        self.next_long()
    }

    /// An element of 128 bytes and more, the end, or something that is neither.
    #[inline(never)]
    fn next_long(&mut self) -> Result<Option<(&'a [u8], usize)>, WireError> {
        while let [first, ..] = self.rest {
            if *first == self.tag {
                let content = reader::length(self.rest, 1, self.rest.len())
                    .map_err(|error| error.shifted(self.position()))?;
                let start = self.position() + content.start;
                let value = self.rest.get(content.start..content.end);
                self.rest = self.rest.get(content.end..).unwrap_or_default();
                return Ok(value.map(|value| (value, start)));
            }
            self.pass_unknown()?;
        }
        Ok(None)
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

/// Whether everything in the value is well formed, to any depth that is allowed.
pub(crate) fn check(buf: &[u8], span: Span) -> Result<(), WireError> {
    check_at(buf, span, MAX_DEPTH)
}

fn check_at(buf: &[u8], span: Span, depth: usize) -> Result<(), WireError> {
    match read(buf, span)? {
        Kind::String(text) if super::utf8::text(text.of(buf)).is_none() => {
            Err(WireError::new(WireErrorKind::Utf8, text.start))
        }
        Kind::List(list) => {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(WireError::new(WireErrorKind::TooDeep, list.start));
            };
            let mut elements = Elements::of_list(buf, list);
            while let Some(element) = elements.next()? {
                check_at(buf, element, depth)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
