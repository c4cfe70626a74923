//! How several messages stand in the bytes of one input.

/// The messages, each behind its length in two bytes. A length beyond the end takes
/// what there is.
pub(crate) fn split(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let [low, high, tail @ ..] = rest else {
            return None;
        };
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (message, tail) = tail.split_at(len);
        rest = tail;
        Some(message)
    })
}
