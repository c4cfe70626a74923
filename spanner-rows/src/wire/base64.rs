//! Padded standard base64, the form of BYTES and PROTO (`google.spanner.v1.TypeCode.BYTES`).
//!
//! Short texts (keys, hashes, UUIDs stored as BYTES) are the usual ones, and the vector code of base64-simd has not
//! begun before they end: its remainder takes three times what the loop here takes. Longer ones are left to it.

/// Texts shorter than this are decoded here.
const SHORT: usize = 32;

/// How many bytes text of this form stands for.
#[inline]
pub(crate) fn decoded_len(text: &[u8]) -> Option<usize> {
    let padding = match text {
        [.., b'=', b'='] => 2,
        [.., b'='] => 1,
        _ => 0,
    };
    text.len()
        .is_multiple_of(4)
        .then_some((text.len() / 4 * 3).saturating_sub(padding))
}

/// Fills `target` with what `text` stands for; it must have the length that
/// [`decoded_len`] tells. Answers whether `text` is base64; if not, `target` has no meaning.
#[inline]
pub(crate) fn decode(text: &[u8], target: &mut [u8]) -> bool {
    if text.len() < SHORT {
        decode_short(text, target)
    } else {
        let out = base64_simd::AsOut::as_out(target);
        base64_simd::STANDARD.decode(text, out).is_ok()
    }
}

/// Appends what `text` stands for, or nothing if it is not base64.
#[inline]
pub(crate) fn append(text: &[u8], out: &mut Vec<u8>) -> bool {
    if text.len() >= SHORT {
        return base64_simd::STANDARD.decode_append(text, out).is_ok();
    }
    let Some(len) = decoded_len(text) else {
        return false;
    };
    // Of a constant length, so that no loop is needed to clear it.
    let mut bytes = [0; SHORT];
    let Some(bytes) = bytes.get_mut(..len) else {
        return false;
    };
    let good = decode_short(text, bytes);
    if good && out.capacity() == 0 {
        // Exactly as much, for who makes a box of it.
        *out = bytes.to_vec();
    } else if good {
        out.extend_from_slice(bytes);
    }
    good
}

#[inline(never)]
fn decode_short(text: &[u8], target: &mut [u8]) -> bool {
    let Some((whole, last)) = text.split_last_chunk::<4>() else {
        return text.is_empty() && target.is_empty();
    };
    let Some((of_whole, of_last)) = target.split_at_mut_checked(whole.len() / 4 * 3) else {
        return false;
    };
    // Eight characters at a time, and the four that may be left.
    let (eights, four) = whole.as_chunks::<8>();
    let (sixes, three) = of_whole.as_chunks_mut::<6>();
    let mut all = 0;
    for ([a, b, c, d, e, f, g, h], six) in eights.iter().zip(sixes) {
        let (first, second) = (word([*a, *b, *c, *d]), word([*e, *f, *g, *h]));
        all |= first | second;
        let both = u64::from(first) | u64::from(second) << 24;
        let [a, b, c, d, e, f, ..] = both.to_le_bytes();
        *six = [a, b, c, d, e, f];
    }
    if let ([a, b, c, d], [x, y, z]) = (four, three) {
        let word = word([*a, *b, *c, *d]);
        all |= word;
        [*x, *y, *z, _] = word.to_le_bytes();
    }
    // Bits that stand for nothing must be zero; among them is the sign of what is invalid.
    let nothing = match (*last, of_last) {
        ([a, b, b'=', b'='], [x]) => {
            let [first, rest @ ..] = word([a, b, b'A', b'A']).to_le_bytes();
            *x = first;
            u32::from_le_bytes([0, rest[0], rest[1], rest[2]])
        }
        ([a, b, c, b'='], [x, y]) => {
            let [first, second, rest @ ..] = word([a, b, c, b'A']).to_le_bytes();
            (*x, *y) = (first, second);
            u32::from_le_bytes([0, 0, rest[0], rest[1]])
        }
        (last, [x, y, z]) => {
            let word = word(last);
            [*x, *y, *z, _] = word.to_le_bytes();
            word & INVALID
        }
        _ => return false,
    };
    (all & INVALID) | nothing == 0
}

/// The three bytes that four characters stand for, the first one lowest; [`INVALID`] is set
/// when one of them is no character of base64.
#[inline(always)]
fn word([a, b, c, d]: [u8; 4]) -> u32 {
    let [of_a, of_b, of_c, of_d] = &TABLES;
    of_a[usize::from(a)] | of_b[usize::from(b)] | of_c[usize::from(c)] | of_d[usize::from(d)]
}

const INVALID: u32 = 1 << 31;

/// For each of the four places, what a character adds to the word.
static TABLES: [[u32; 256]; 4] = [table(18), table(12), table(6), table(0)];

const fn table(shift: u32) -> [u32; 256] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut table = [INVALID; 256];
    let mut value = 0;
    while value < 64 {
        let [_, first, second, third] = ((value as u32) << shift).to_be_bytes();
        table[ALPHABET[value] as usize] = u32::from_le_bytes([first, second, third, 0]);
        value += 1;
    }
    table
}

#[cfg(test)]
#[path = "base64_tests.rs"]
mod tests;
