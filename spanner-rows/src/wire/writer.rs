//! Writes values in wire form: query parameters, keys, and the joined rows.

use super::value::{BOOL_TAG, ELEMENT_TAG, LIST_TAG, NULL_TAG, NUMBER_TAG, STRING_TAG};

/// Writes one `google.protobuf.Value`.
///
/// Handed to [`ToColumn::write`](crate::ToColumn::write), which calls exactly
/// one of its methods. Lengths come before contents on the wire, so a list is
/// written first and its length put before it afterwards.
#[derive(Debug)]
pub struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> ValueWriter<'a> {
    /// Appends the value to `out`, without a tag or a length of its own.
    pub(crate) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Writes NULL.
    pub fn null(self) {
        self.out.extend_from_slice(&[NULL_TAG, 0]);
    }

    /// Writes a BOOL.
    pub fn bool(self, value: bool) {
        self.out.extend_from_slice(&[BOOL_TAG, u8::from(value)]);
    }

    /// Writes a number, the form of finite FLOAT64 and FLOAT32 values.
    pub fn number(self, value: f64) {
        self.out.push(NUMBER_TAG);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a string, the form of every other scalar.
    pub fn string(self, text: &str) {
        put_bytes(self.out, STRING_TAG, text.as_bytes());
    }

    /// Writes bytes as base64, the form of BYTES and PROTO.
    pub fn base64(self, bytes: &[u8]) {
        let text = base64_simd::STANDARD.encode_to_string(bytes);
        put_bytes(self.out, STRING_TAG, text.as_bytes());
    }

    /// Writes a list, the form of ARRAY and STRUCT.
    pub fn list(self, elements: impl FnOnce(&mut ListWriter<'_>)) {
        let out = self.out;
        out.push(LIST_TAG);
        with_length(out, |out| elements(&mut ListWriter { out }));
    }
}

/// Writes the elements of a list, one after another.
#[derive(Debug)]
pub struct ListWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> ListWriter<'a> {
    #[cfg(feature = "client")]
    pub(crate) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Appends one element.
    pub fn element(&mut self, write: impl FnOnce(ValueWriter<'_>)) {
        put_value(self.out, ELEMENT_TAG, write);
    }
}

/// Appends a length-delimited field that holds a value.
pub(crate) fn put_value(out: &mut Vec<u8>, tag: u8, write: impl FnOnce(ValueWriter<'_>)) {
    out.push(tag);
    with_length(out, |out| write(ValueWriter::new(out)));
}

/// Appends a length-delimited field.
pub(crate) fn put_bytes(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    out.push(tag);
    put_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Appends a variable-length integer.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends what `content` writes, its length before it. The length nearly
/// always fits one byte; when it does not, the content moves up.
pub(crate) fn with_length(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    content(out);
    let len = (out.len() - at - 1) as u64;
    if len < 0x80 {
        out[at] = len as u8;
    } else {
        let mut prefix = Vec::with_capacity(10);
        put_varint(&mut prefix, len);
        out.splice(at..=at, prefix);
    }
}
