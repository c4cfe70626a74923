//! Tags, variable-length integers and lengths: the alphabet of protobuf.
//!
//! Every function takes the whole buffer and a position, and answers with
//! positions, so that errors carry offsets and callers can keep spans.

use super::error::{WireError, WireErrorKind};

/// How deep groups, types and values may nest. Spanner's own limit on query
/// types is far below; protobuf libraries stop at 100.
pub(crate) const MAX_DEPTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireType {
    Varint,
    Fixed64,
    Len,
    StartGroup,
    EndGroup,
    Fixed32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) field: u32,
    pub(crate) wire_type: WireType,
}

/// The bytes of one length-delimited field: `start..end` in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// All of a buffer.
    pub(crate) const fn whole(buf: &[u8]) -> Self {
        Self {
            start: 0,
            end: buf.len(),
        }
    }

    pub(crate) fn of(self, buf: &[u8]) -> &[u8] {
        buf.get(self.start..self.end).unwrap_or_default()
    }
}

/// Reads a variable-length integer at `pos`; answers it and the position after.
#[inline]
pub(crate) fn varint(buf: &[u8], pos: usize) -> Result<(u64, usize), WireError> {
    match buf.get(pos) {
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), pos + 1)),
        _ => long_varint(buf, pos),
    }
}

fn long_varint(buf: &[u8], pos: usize) -> Result<(u64, usize), WireError> {
    let mut value = 0u64;
    for (i, shift) in (0..70).step_by(7).enumerate() {
        let Some(&byte) = buf.get(pos + i) else {
            return Err(WireError::new(WireErrorKind::Truncated, pos));
        };
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            break;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok((value, pos + i + 1));
        }
    }
    Err(WireError::new(WireErrorKind::VarintTooLong, pos))
}

/// Reads a length at `pos`; the span lies within `..end`.
#[inline]
pub(crate) fn length(buf: &[u8], pos: usize, end: usize) -> Result<Span, WireError> {
    let (len, start) = varint(buf, pos)?;
    match usize::try_from(len)
        .ok()
        .and_then(|len| start.checked_add(len))
    {
        Some(stop) if stop <= end => Ok(Span { start, end: stop }),
        _ => Err(WireError::new(WireErrorKind::LengthPastEnd, pos)),
    }
}

/// Reads a tag at `pos`; answers it and the position after.
pub(crate) fn tag(buf: &[u8], pos: usize) -> Result<(Tag, usize), WireError> {
    let (key, next) = varint(buf, pos)?;
    let Ok(field @ 1..=0x1fff_ffff) = u32::try_from(key >> 3) else {
        return Err(WireError::new(WireErrorKind::FieldNumber, pos));
    };
    let wire_type = match key & 7 {
        0 => WireType::Varint,
        1 => WireType::Fixed64,
        2 => WireType::Len,
        3 => WireType::StartGroup,
        4 => WireType::EndGroup,
        5 => WireType::Fixed32,
        _ => return Err(WireError::new(WireErrorKind::WireType, pos)),
    };
    Ok((Tag { field, wire_type }, next))
}

/// Passes over the content of a field whose tag has been read; answers the
/// position after it.
pub(crate) fn skip(buf: &[u8], pos: usize, end: usize, tag: Tag) -> Result<usize, WireError> {
    match tag.wire_type {
        WireType::StartGroup => skip_group(buf, pos, end, tag.field),
        WireType::EndGroup => Err(WireError::new(WireErrorKind::Group, pos)),
        _ => skip_scalar(buf, pos, end, tag.wire_type),
    }
}

fn skip_scalar(
    buf: &[u8],
    pos: usize,
    end: usize,
    wire_type: WireType,
) -> Result<usize, WireError> {
    let next = match wire_type {
        WireType::Varint => varint(buf, pos)?.1,
        WireType::Fixed64 => pos + 8,
        WireType::Fixed32 => pos + 4,
        WireType::Len | WireType::StartGroup | WireType::EndGroup => length(buf, pos, end)?.end,
    };
    if next > end {
        return Err(WireError::new(WireErrorKind::Truncated, pos));
    }
    Ok(next)
}

/// Groups are long out of use, but an unknown field may still be one. The open
/// ones are counted, not recursed into.
fn skip_group(buf: &[u8], start: usize, end: usize, field: u32) -> Result<usize, WireError> {
    let mut open = [0u32; MAX_DEPTH];
    open[0] = field;
    let mut depth = 1;
    let mut pos = start;
    while depth > 0 {
        let (inner, next) = tag(buf, pos)?;
        if next > end {
            return Err(WireError::new(WireErrorKind::Truncated, pos));
        }
        pos = match inner.wire_type {
            WireType::StartGroup => {
                let Some(slot) = open.get_mut(depth) else {
                    return Err(WireError::new(WireErrorKind::TooDeep, pos));
                };
                *slot = inner.field;
                depth += 1;
                next
            }
            WireType::EndGroup => {
                if open.get(depth - 1) != Some(&inner.field) {
                    return Err(WireError::new(WireErrorKind::Group, pos));
                }
                depth -= 1;
                next
            }
            _ => skip_scalar(buf, next, end, inner.wire_type)?,
        };
    }
    Ok(pos)
}

/// The fields of one message, in the order in which they come.
pub(crate) struct Fields<'a> {
    buf: &'a [u8],
    pos: usize,
    end: usize,
}

/// One field: its number and where its content lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldAt {
    pub(crate) tag: Tag,
    /// Where the tag starts.
    pub(crate) at: usize,
    /// The content: of a length-delimited field without its length.
    pub(crate) span: Span,
    /// The value of a varint field, else 0.
    pub(crate) varint: u64,
}

impl FieldAt {
    /// The content of a length-delimited field.
    pub(crate) fn message(&self) -> Result<Span, WireError> {
        self.expect(WireType::Len).map(|()| self.span)
    }

    /// The value of a varint field.
    pub(crate) fn integer(&self) -> Result<u64, WireError> {
        self.expect(WireType::Varint).map(|()| self.varint)
    }

    /// The value of a field that is a double.
    pub(crate) fn double(&self, buf: &[u8]) -> Result<f64, WireError> {
        self.expect(WireType::Fixed64)?;
        match <[u8; 8]>::try_from(self.span.of(buf)) {
            Ok(bytes) => Ok(f64::from_le_bytes(bytes)),
            Err(_) => Err(WireError::new(WireErrorKind::Truncated, self.at)),
        }
    }

    fn expect(&self, wire_type: WireType) -> Result<(), WireError> {
        if self.tag.wire_type == wire_type {
            Ok(())
        } else {
            Err(WireError::new(WireErrorKind::UnexpectedWireType, self.at))
        }
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn new(buf: &'a [u8], span: Span) -> Self {
        Self {
            buf,
            pos: span.start,
            end: span.end.min(buf.len()),
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<FieldAt>, WireError> {
        if self.pos >= self.end {
            return Ok(None);
        }
        let at = self.pos;
        let (tag, start) = tag(self.buf, at)?;
        if start > self.end {
            return Err(WireError::new(WireErrorKind::Truncated, at));
        }
        let mut field = FieldAt {
            tag,
            at,
            span: Span { start, end: start },
            varint: 0,
        };
        match tag.wire_type {
            WireType::Len => {
                field.span = length(self.buf, start, self.end)?;
            }
            WireType::Varint => {
                let (value, end) = varint(self.buf, start)?;
                if end > self.end {
                    return Err(WireError::new(WireErrorKind::Truncated, at));
                }
                field.varint = value;
                field.span.end = end;
            }
            _ => field.span.end = skip(self.buf, start, self.end, tag)?,
        }
        self.pos = field.span.end;
        Ok(Some(field))
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
