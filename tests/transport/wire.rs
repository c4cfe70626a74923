//! What the peer says, in bytes: HTTP/2 frames, headers, gRPC messages, and the
//! messages of the data service.
//!
//! All of it is written out by hand, independently of the libraries that read it.

/// Types of frames (RFC 9113, section 6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags of frames.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// Error codes (RFC 9113, section 7).
pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const PROTOCOL_ERROR: u32 = 1;
pub(crate) const INTERNAL_ERROR: u32 = 2;
pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
pub(crate) const STREAM_CLOSED: u32 = 5;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const CANCEL: u32 = 8;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;
pub(crate) const HTTP_1_1_REQUIRED: u32 = 13;

/// Identifiers of settings.
pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame, its length counted.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut out = vec![len[1], len[2], len[3], kind, flags];
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

pub(crate) fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (id, value) in pairs {
        payload.extend_from_slice(&id.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

/// A header block without any compression: literals that no table remembers
/// (RFC 7541, section 6.2.2).
pub(crate) fn header_block(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in headers {
        out.push(0);
        for text in [name, value] {
            put_hpack_len(&mut out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

/// An integer with a prefix of seven bits (RFC 7541, section 5.1).
fn put_hpack_len(out: &mut Vec<u8>, len: usize) {
    match len.checked_sub(127) {
        None => out.push(len as u8),
        Some(rest) => {
            out.push(127);
            put_varint(out, rest as u64);
        }
    }
}

/// A message with its gRPC prefix.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = vec![0];
    out.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    out.extend_from_slice(message);
    out
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A length-delimited field of a message.
pub(crate) fn field(number: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, number << 3 | 2);
    put_varint(&mut out, content.len() as u64);
    out.extend_from_slice(content);
    out
}

pub(crate) fn integer(number: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, number << 3);
    put_varint(&mut out, value);
    out
}

/// The content of a length-delimited field of a message.
pub(crate) fn find_field(mut message: &[u8], number: u64) -> Option<&[u8]> {
    loop {
        let tag = take_varint(&mut message)?;
        match tag & 7 {
            0 => _ = take_varint(&mut message)?,
            2 => {
                let len = usize::try_from(take_varint(&mut message)?).ok()?;
                let (content, rest) = message.split_at_checked(len)?;
                if tag >> 3 == number {
                    return Some(content);
                }
                message = rest;
            }
            _ => return None,
        }
    }
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

/// A `PartialResultSet` of a result with the columns `n INT64, text STRING`.
#[derive(Clone, Default)]
pub(crate) struct Part(Vec<u8>);

impl Part {
    /// With the metadata, as the first of a result.
    pub(crate) fn first() -> Self {
        let column = |name: &str, code| {
            let column = [field(1, name.as_bytes()), field(2, &integer(1, code))].concat();
            field(1, &column)
        };
        let row_type = [column("n", 2), column("text", 6)].concat();
        Self(field(1, &field(1, &row_type)))
    }

    pub(crate) fn more() -> Self {
        Self::default()
    }

    pub(crate) fn value(mut self, text: &str) -> Self {
        self.0
            .extend_from_slice(&field(2, &field(3, text.as_bytes())));
        self
    }

    pub(crate) fn row(self, n: i64, text: &str) -> Self {
        self.value(&n.to_string()).value(text)
    }

    /// The last value goes on in the next message.
    pub(crate) fn chunked(mut self) -> Self {
        self.0.extend_from_slice(&integer(3, 1));
        self
    }

    pub(crate) fn token(mut self, token: &str) -> Self {
        self.0.extend_from_slice(&field(4, token.as_bytes()));
        self
    }

    /// No message follows.
    pub(crate) fn last(mut self) -> Self {
        self.0.extend_from_slice(&integer(9, 1));
        self
    }

    /// With its gRPC prefix.
    pub(crate) fn framed(&self) -> Vec<u8> {
        framed(&self.0)
    }
}
