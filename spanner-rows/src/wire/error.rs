//! What can be wrong with the bytes of a message.

use std::fmt;

/// A place in a message where the bytes are not what the protocol allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    kind: WireErrorKind,
    offset: usize,
}

/// The ways in which bytes can fail to be a protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The bytes end inside a number, a tag or a fixed-width field.
    Truncated,
    /// A length says that more bytes follow than there are.
    LengthPastEnd,
    /// A variable-length integer has more than ten bytes or exceeds 64 bits.
    VarintTooLong,
    /// A field number of zero or above 2²⁹ − 1.
    FieldNumber,
    /// The wire types 6 and 7, which protobuf does not define.
    WireType,
    /// A known field with a wire type other than its own.
    UnexpectedWireType,
    /// A group is not closed, or closed under another number.
    Group,
    /// Values are nested deeper than this crate follows.
    TooDeep,
    /// The message is larger than 2 GiB − 1, the limit of protobuf.
    TooLarge,
    /// A `google.protobuf.Value` holds two lists; which one counts cannot be told without joining them.
    RepeatedList,
    /// Text that is not UTF-8.
    Utf8,
}

impl WireError {
    #[cold]
    pub(crate) const fn new(kind: WireErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> WireErrorKind {
        self.kind
    }

    /// Where: the number of bytes before the fault, counted from the start of
    /// the message (or of the joined row, when a row came in several messages).
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The same fault seen from a buffer in which these bytes start at `by`.
    pub(crate) const fn shifted(mut self, by: usize) -> Self {
        self.offset += by;
        self
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            WireErrorKind::Truncated => "the bytes end inside a field",
            WireErrorKind::LengthPastEnd => "a length runs past the end",
            WireErrorKind::VarintTooLong => "a variable-length integer is too long",
            WireErrorKind::FieldNumber => "a field number is out of range",
            WireErrorKind::WireType => "a wire type does not exist",
            WireErrorKind::UnexpectedWireType => "a known field has another wire type",
            WireErrorKind::Group => "a group is not closed properly",
            WireErrorKind::TooDeep => "values are nested too deeply",
            WireErrorKind::TooLarge => "the message is larger than 2 GiB - 1",
            WireErrorKind::RepeatedList => "one value holds two lists",
            WireErrorKind::Utf8 => "text is not UTF-8",
        };
        write!(f, "malformed message at byte {}: {what}", self.offset)
    }
}

impl std::error::Error for WireError {}
