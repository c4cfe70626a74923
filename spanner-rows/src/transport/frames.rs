//! Cuts the body of an answer into messages.
//!
//! gRPC puts five bytes before each message: whether it is compressed, and its
//! length as a big-endian `u32`. HTTP/2 cuts the body wherever it likes.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::{Code, Status};

/// The bytes before a message.
pub(super) const PREFIX_LEN: usize = 5;

/// The largest message that is read, 2 GiB - 1 byte. A cell alone may have
/// 10 MiB, so the limit is there for broken lengths only.
const MAX_LEN: usize = i32::MAX as usize;

/// Messages up to this size are copied out of the block they arrived in: a kept
/// row of a few bytes must not keep a block of many rows alive.
const COPY_LEN: usize = 4 << 10;

/// Memory is taken at most this far ahead of what has arrived: a length is a
/// claim.
const AHEAD: usize = 1 << 20;

/// Blocks above this size are given up after their message, not used again.
const KEEP_LEN: usize = 4 << 20;

/// Takes blocks of the body in, gives messages out.
///
/// A message that lies in one block is handed out as a part of it. Otherwise it
/// is put together in a block that is used again as soon as nobody holds the
/// message any more.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// What is left of the block that arrived last.
    block: Bytes,
    prefix: [u8; PREFIX_LEN],
    prefix_len: usize,
    /// The part of the current message that has arrived, unless it lies in `block`.
    partial: BytesMut,
}

impl Frames {
    /// Takes in the next block of the body; to be called when
    /// [`next`](Self::next) has found no message.
    pub(super) fn push(&mut self, block: Bytes) {
        debug_assert!(self.block.is_empty());
        self.block = block;
    }

    /// The next message that has arrived completely.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Status> {
        let Some(len) = self.read_prefix()? else {
            return Ok(None);
        };
        let missing = len - self.partial.len();
        if missing > self.block.len() {
            self.keep(missing);
            return Ok(None);
        }
        self.prefix_len = 0;
        if !self.partial.is_empty() {
            self.partial
                .extend_from_slice(&self.block.split_to(missing));
            return Ok(Some(self.take_partial()));
        }
        let message = self.block.split_to(len);
        Ok(Some(if len > COPY_LEN {
            message
        } else {
            Bytes::copy_from_slice(&message)
        }))
    }

    /// Whether the body may end here.
    pub(super) fn is_between_messages(&self) -> bool {
        self.prefix_len == 0 && self.block.is_empty()
    }

    /// The length of the current message, as soon as all of its prefix has arrived.
    fn read_prefix(&mut self) -> Result<Option<usize>, Status> {
        while self.prefix_len < PREFIX_LEN {
            if self.block.is_empty() {
                return Ok(None);
            }
            self.prefix[self.prefix_len] = self.block.get_u8();
            self.prefix_len += 1;
        }
        let [compressed, len @ ..] = self.prefix;
        let len = u32::from_be_bytes(len) as usize;
        match compressed {
            0 if len <= MAX_LEN => Ok(Some(len)),
            0 => Err(Status::new(
                Code::OutOfRange,
                format!("the server announced a message of {len} bytes, the limit is {MAX_LEN}"),
            )),
            1 => Err(Status::new(
                Code::Internal,
                "the server sent a compressed message, though no compression was offered",
            )),
            flag => Err(Status::new(
                Code::Internal,
                format!("the answer is not gRPC: a message begins with {flag}, not 0 or 1"),
            )),
        }
    }

    /// Moves what has arrived of the current message out of the block.
    fn keep(&mut self, missing: usize) {
        if self.block.is_empty() {
            return;
        }
        let ahead = AHEAD.max(self.partial.len());
        self.partial
            .reserve(missing.min(self.block.len().saturating_add(ahead)));
        self.partial.extend_from_slice(&self.block);
        self.block = Bytes::new();
    }

    fn take_partial(&mut self) -> Bytes {
        let message = self.partial.split().freeze();
        if message.len() > KEEP_LEN {
            self.partial = BytesMut::new();
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(messages: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for message in messages {
            out.push(0);
            out.extend_from_slice(&(message.len() as u32).to_be_bytes());
            out.extend_from_slice(message);
        }
        out
    }

    fn all(frames: &mut Frames, blocks: &[&[u8]]) -> Vec<Bytes> {
        let mut out = Vec::new();
        for block in blocks {
            frames.push(Bytes::copy_from_slice(block));
            while let Some(message) = frames.next().unwrap() {
                out.push(message);
            }
        }
        out
    }

    #[test]
    fn any_cut_gives_the_same_messages() {
        let long = vec![7; 9000];
        let messages: [&[u8]; 5] = [b"one", b"", b"three", &long, b"five"];
        let body = framed(&messages);
        for size in [1, 2, 3, 4, 5, 6, 7, 100, 5000, 9000, body.len()] {
            let mut frames = Frames::default();
            let blocks: Vec<_> = body.chunks(size).collect();
            assert_eq!(all(&mut frames, &blocks), messages, "blocks of {size}");
            assert!(frames.is_between_messages());
        }
    }

    #[test]
    fn a_body_may_end_only_between_messages() {
        let body = framed(&[b"abc", b"defg"]);
        for len in 0..=body.len() {
            let mut frames = Frames::default();
            all(&mut frames, &[&body[..len]]);
            assert_eq!(
                frames.is_between_messages(),
                [0, 8, 17].contains(&len),
                "{len}"
            );
        }
    }

    #[test]
    fn a_large_message_in_one_block_is_not_copied() {
        let message = vec![1; COPY_LEN + 1];
        let block = Bytes::from(framed(&[&message]));
        let inside = block.as_ptr_range();
        let mut frames = Frames::default();
        frames.push(block);
        let message = frames.next().unwrap().unwrap();
        assert!(inside.contains(&message.as_ptr()));
    }

    #[test]
    fn a_small_message_does_not_pin_its_block() {
        let block = Bytes::from(framed(&[b"small"]));
        let mut frames = Frames::default();
        frames.push(block.clone());
        let _kept = frames.next().unwrap().unwrap();
        assert!(frames.next().unwrap().is_none());
        assert!(block.is_unique() || frames.block.is_empty());
        frames.block = Bytes::new();
        assert!(block.is_unique());
    }

    #[test]
    fn the_block_of_a_dropped_message_is_used_again() {
        let message = vec![1; 20_000];
        let body = framed(&[&message]);
        let mut frames = Frames::default();
        let mut places = std::collections::HashSet::new();
        for _ in 0..10 {
            let got = all(&mut frames, &[&body[..9000], &body[9000..]]);
            assert_eq!(got, [&message[..]]);
            places.insert(got[0].as_ptr() as usize / (64 << 10));
        }
        assert!(places.len() <= 3, "{} places", places.len());
    }

    #[test]
    fn a_huge_message_does_not_leave_a_huge_block() {
        let huge = framed(&[&vec![1; KEEP_LEN + 1]]);
        let small = framed(&[&[1; 20_000]]);
        let mut frames = Frames::default();
        assert_eq!(all(&mut frames, &[&huge[..9], &huge[9..]]).len(), 1);
        assert!(all(&mut frames, &[&small[..9000]]).is_empty());
        assert!(frames.partial.capacity() < 1 << 20);
    }

    #[test]
    fn a_claimed_length_takes_no_memory() {
        let mut frames = Frames::default();
        frames.push(Bytes::from_static(&[0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]));
        assert_eq!(frames.next().unwrap(), None);
        assert!(frames.partial.capacity() <= 2 * AHEAD);
        assert!(!frames.is_between_messages());
    }

    #[test]
    fn bad_prefixes_are_errors() {
        for (prefix, code, text) in [
            ([0, 0x80, 0, 0, 0], Code::OutOfRange, "2147483648 bytes"),
            ([1, 0, 0, 0, 1], Code::Internal, "compressed"),
            ([b'<', b'h', b't', b'm', b'l'], Code::Internal, "not gRPC"),
        ] {
            let mut frames = Frames::default();
            frames.push(Bytes::copy_from_slice(&prefix));
            let status = frames.next().unwrap_err();
            assert_eq!(status.code(), code);
            assert!(status.message().contains(text), "{status}");
        }
    }
}
