//! Text that is checked for more than one value at once, and copies of text.

use super::memory::{KEPT_BYTES, is_excessive};

/// How many bytes are copied of any short text. A copy of fixed length is a few
/// moves; one of the text's own length is a call, whose branches a processor
/// cannot foresee when lengths vary.
const COPIED: usize = 64;

/// As much of a row as is known to be text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownText<'row> {
    text: &'row str,
    /// Where that starts in the buffer.
    start: usize,
}

impl<'row> KnownText<'row> {
    #[inline(always)]
    pub(super) const fn new(text: &'row str, start: usize) -> Self {
        Self { text, start }
    }

    /// The `len` bytes at `at`, if they are among those known to be text.
    #[inline(always)]
    pub(crate) fn text(&self, at: usize, len: usize) -> Option<&'row str> {
        let (_, behind) = self.text.split_at_checked(at.wrapping_sub(self.start))?;
        let (text, _) = behind.split_at_checked(len)?;
        Some(text)
    }

    /// Puts the `len` bytes at `at` into `target`, if they are among those known to be text.
    #[inline(always)]
    pub(crate) fn copy(&self, at: usize, len: usize, target: &mut String) -> bool {
        let Some((_, behind)) = self.text.split_at_checked(at.wrapping_sub(self.start)) else {
            return false;
        };
        if len <= COPIED
            && target.capacity() <= KEPT_BYTES
            && let Some((copied, _)) = behind.split_at_checked(COPIED)
            && copied.is_char_boundary(len)
        {
            target.clear();
            target.push_str(copied);
            target.truncate(len);
            return true;
        }
        match behind.split_at_checked(len) {
            Some((text, _)) => {
                put_text(target, text);
                true
            }
            None => false,
        }
    }
}

/// Puts `text` in place of what is there.
#[inline]
pub(crate) fn put_text(value: &mut String, text: &str) {
    if is_excessive(value.capacity(), text.len()) {
        *value = String::new();
    }
    value.clear();
    value.push_str(text);
}
