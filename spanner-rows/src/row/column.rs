//! One value of a row, as a type's `read` sees it.

use super::binding::Binding;
use super::cursor::RowCursor;
use super::error::{DecodeError, DecodeErrorKind};
use super::segment::Page;
use super::text::KnownText;
use crate::wire::reader::Span;
use crate::wire::value::{self, BOOL_TAG, Elements, Found, Kind, NULL_TAG, NUMBER_TAG, STRING_TAG};
use crate::wire::{WireError, WireErrorKind, utf8};

/// One value of a row, still in wire form.
///
/// [`FromColumn::read`](crate::FromColumn::read) takes it apart with the method
/// for the form it expects; which form a Spanner type has is in the
/// documentation of `google.spanner.v1.TypeCode`.
#[derive(Clone, Copy, Debug)]
pub struct Column<'c, 'row> {
    page: &'c Page<'row>,
    known: KnownText<'row>,
    binding: &'row Binding,
    /// The `google.protobuf.Value` message.
    value: &'row [u8],
    /// Where that starts in the buffer.
    at: usize,
}

impl<'c, 'row> Column<'c, 'row> {
    #[inline(always)]
    pub(crate) const fn new(
        page: &'c Page<'row>,
        known: KnownText<'row>,
        binding: &'row Binding,
        (value, at): Found<'row>,
    ) -> Self {
        Self {
            page,
            known,
            binding,
            value,
            at,
        }
    }

    /// Whether the value is NULL.
    #[inline(always)]
    #[must_use]
    pub fn is_null(&self) -> bool {
        match self.value {
            [NULL_TAG, 0] => true,
            [STRING_TAG, len @ 0..0x80, text @ ..] if text.len() == usize::from(*len) => false,
            _ => matches!(self.kind(), Ok(Kind::Null)),
        }
    }

    /// The text of a value that is sent as a string.
    ///
    /// # Errors
    ///
    /// The value is NULL, not a string, or not UTF-8.
    #[inline(always)]
    pub fn text(&self) -> Result<&'row str, DecodeError> {
        let (bytes, at) = self.string()?;
        if let Some(text) = self.known.text(at, bytes.len()) {
            return Ok(text);
        }
        match utf8::text(bytes) {
            Some(text) => Ok(text),
            None => Err(not_utf8(at)),
        }
    }

    /// The bytes of a value that is sent as a string, unchecked: for types whose
    /// text is ASCII and whose parser refuses everything else.
    ///
    /// # Errors
    ///
    /// The value is NULL or not a string.
    #[inline(always)]
    pub fn ascii(&self) -> Result<&'row [u8], DecodeError> {
        Ok(self.string()?.0)
    }

    /// The bytes of a BYTES or PROTO value, decoded from base64.
    ///
    /// The type's `bind` must have called [`Binder::bytes`](crate::Binder::bytes).
    ///
    /// # Errors
    ///
    /// The value is NULL, not a string, or not padded standard base64.
    #[inline]
    pub fn bytes(&self) -> Result<&'row [u8], DecodeError> {
        let (text, at) = self.string()?;
        if !self.binding.decodes_bytes {
            return Err(DecodeError::invalid(
                "its `bind` did not call `Binder::bytes`, so nothing is decoded",
            ));
        }
        match self.page.bytes(text, at) {
            Some(bytes) => Ok(bytes),
            None => Err(not_base64(text)),
        }
    }

    /// A BOOL.
    ///
    /// # Errors
    ///
    /// The value is NULL or of another kind.
    #[inline(always)]
    pub fn bool(&self) -> Result<bool, DecodeError> {
        match self.value {
            [BOOL_TAG, value @ 0..=1] => Ok(*value == 1),
            _ => bool_of(self.value, self.at),
        }
    }

    /// A finite or special floating-point number; the special ones are sent as
    /// the strings `NaN`, `Infinity` and `-Infinity`.
    ///
    /// # Errors
    ///
    /// The value is NULL, of another kind, or another string.
    #[inline(always)]
    pub fn number(&self) -> Result<f64, DecodeError> {
        match self.value {
            [NUMBER_TAG, a, b, c, d, e, f, g, h] => {
                Ok(f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
            }
            _ => number_of(self.page, self.value, self.at),
        }
    }

    /// The elements of an ARRAY.
    ///
    /// # Errors
    ///
    /// The value is NULL or not a list.
    pub fn list(&self) -> Result<ListReader<'c, 'row>, DecodeError> {
        let elements = self.elements()?;
        match self.binding.element() {
            Some(element) => Ok(ListReader {
                page: self.page,
                known: self.known,
                element,
                elements,
            }),
            None => Err(DecodeError::invalid(
                "its `bind` did not call `Binder::array`, so the elements are not bound",
            )),
        }
    }

    /// The fields of a STRUCT, read by `read` as a row.
    #[doc(hidden)]
    pub fn structure<R>(
        &self,
        read: impl FnOnce(&mut RowCursor<'_, 'row>) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        match self.kind()? {
            Kind::List(span) => {
                let elements = Elements::of_list(self.page.wire(), span);
                let found = elements.count()?;
                if found != self.binding.width as usize {
                    return Err(DecodeError::invalid(format_args!(
                        "the STRUCT has {} fields, {found} values came",
                        self.binding.width
                    )));
                }
                RowCursor::structure(self.page, self.known, self.binding, elements, read)
            }
            other => Err(unexpected("a list", other)),
        }
    }

    #[inline]
    pub(crate) fn kind(&self) -> Result<Kind, DecodeError> {
        value::read_at(self.value, self.at).map_err(DecodeError::from)
    }

    pub(crate) const fn binding(&self) -> &'row Binding {
        self.binding
    }

    /// The elements of an ARRAY that is not read now.
    pub(crate) fn elements(&self) -> Result<Elements<'row>, DecodeError> {
        match self.kind()? {
            Kind::List(span) => Ok(Elements::of_list(self.page.wire(), span)),
            other => Err(unexpected("a list", other)),
        }
    }

    pub(crate) const fn page(&self) -> &'c Page<'row> {
        self.page
    }

    pub(crate) const fn known(&self) -> KnownText<'row> {
        self.known
    }

    pub(crate) const fn span(&self) -> Span {
        Span {
            start: self.at,
            end: self.at + self.value.len(),
        }
    }

    /// The content of a string, and where it lies.
    #[inline(always)]
    fn string(&self) -> Result<Found<'row>, DecodeError> {
        match self.value {
            [STRING_TAG, len @ 0..0x80, text @ ..] if text.len() == usize::from(*len) => {
                Ok((text, self.at + 2))
            }
            _ => string_of(self.page, self.value, self.at),
        }
    }
}

/// The content of a string of any length, and where it lies.
///
/// Takes parts of the column: were the column lent, it would have to be put
/// together in memory for every value.
#[inline(never)]
pub(super) fn string_of<'row>(
    page: &Page<'row>,
    value: &'row [u8],
    at: usize,
) -> Result<Found<'row>, DecodeError> {
    if let [STRING_TAG, ..] = value
        && let Some((text, [])) = value::longer(value)
    {
        return Ok((text, at + value.len() - text.len()));
    }
    match value::read_at(value, at)? {
        Kind::String(span) => {
            let text = page.wire().get(span.start..span.end);
            Ok((text.unwrap_or_default(), span.start))
        }
        other => Err(unexpected("a string", other)),
    }
}

/// A BOOL in an unusual form, or something that is not a BOOL.
#[inline(never)]
fn bool_of(value: &[u8], at: usize) -> Result<bool, DecodeError> {
    match value::read_at(value, at)? {
        Kind::Bool(value) => Ok(value),
        other => Err(unexpected("a bool", other)),
    }
}

/// A number that is sent as a string, or something that is not a number.
#[inline(never)]
fn number_of(page: &Page<'_>, value: &[u8], at: usize) -> Result<f64, DecodeError> {
    match value::read_at(value, at)? {
        Kind::Number(value) => Ok(value),
        Kind::String(span) => match span.of(page.wire()) {
            b"NaN" => Ok(f64::NAN),
            b"Infinity" => Ok(f64::INFINITY),
            b"-Infinity" => Ok(f64::NEG_INFINITY),
            other => Err(DecodeError::with_excerpt(
                "a floating-point number is sent as a number, `NaN`, `Infinity` or `-Infinity`",
                &String::from_utf8_lossy(other),
            )),
        },
        other => Err(unexpected("a number", other)),
    }
}

#[cold]
pub(crate) fn unexpected(expected: &'static str, found: Kind) -> DecodeError {
    match found {
        Kind::Null => DecodeError::new(DecodeErrorKind::Null),
        found => DecodeError::kind_of(expected, found.name()),
    }
}

#[cold]
pub(super) fn not_utf8(at: usize) -> DecodeError {
    WireError::new(WireErrorKind::Utf8, at).into()
}

#[cold]
pub(crate) fn not_base64(text: &[u8]) -> DecodeError {
    DecodeError::with_excerpt(
        "it is not padded standard base64",
        &String::from_utf8_lossy(text),
    )
}

/// The elements of an ARRAY value, in order.
#[derive(Debug)]
pub struct ListReader<'c, 'row> {
    page: &'c Page<'row>,
    known: KnownText<'row>,
    element: &'row Binding,
    elements: Elements<'row>,
}

impl<'c, 'row> Iterator for ListReader<'c, 'row> {
    type Item = Result<Column<'c, 'row>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.elements.next_bytes() {
            Ok(Some(value)) => Some(Ok(Column::new(self.page, self.known, self.element, value))),
            Ok(None) => None,
            Err(error) => {
                self.elements = Elements::of_list(&[], Span { start: 0, end: 0 });
                Some(Err(error.into()))
            }
        }
    }
}
