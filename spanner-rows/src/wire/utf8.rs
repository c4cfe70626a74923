//! The one place where bytes are checked to be text.

/// Up to this length the scalar checker is faster than the vector one, whose
/// set-up costs more than short text.
const SHORT: usize = 64;

/// `bytes` as text, or nothing when they are not UTF-8.
#[inline(always)]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.len() <= SHORT {
        short_text(bytes)
    } else {
        long_text(bytes)
    }
}

// Not inlined: they are large, and what they answer fits into registers. Two
// functions, because the short one then needs no stack.

#[inline(never)]
fn short_text(bytes: &[u8]) -> Option<&str> {
    smoothutf8::from_utf8(bytes)
}

#[inline(never)]
fn long_text(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// The longest start of `bytes` that is ASCII, in steps of [`ASCII_STEP`] bytes.
pub(crate) fn ascii_prefix(bytes: &[u8]) -> usize {
    let mut steps = bytes.chunks(ASCII_STEP);
    match steps.position(|step| !step.is_ascii()) {
        Some(steps) => steps * ASCII_STEP,
        None => bytes.len(),
    }
}

const ASCII_STEP: usize = 256;

/// The longest start of `bytes` that is text.
#[inline]
pub(crate) fn text_prefix(bytes: &[u8]) -> &str {
    match text(bytes) {
        Some(text) => text,
        None => valid_prefix(bytes),
    }
}

fn valid_prefix(bytes: &[u8]) -> &str {
    let valid = match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.valid_up_to(),
    };
    bytes.get(..valid).and_then(text).unwrap_or_default()
}

#[cfg(test)]
#[path = "utf8_tests.rs"]
mod tests;
