//! Against base64-simd, which decodes long texts.

use proptest::prelude::*;

use super::{append, decode, decode_short, decoded_len};

/// What base64-simd makes of it.
fn expected(text: &[u8]) -> Option<Vec<u8>> {
    base64_simd::STANDARD.decode_to_vec(text).ok()
}

fn short(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = vec![0xee; decoded_len(text)?];
    decode_short(text, &mut bytes).then_some(bytes)
}

/// All ways of decoding, which must agree.
fn check(text: &[u8]) {
    let expected = expected(text);
    let text_shown = text.escape_ascii();
    assert_eq!(short(text), expected, "{text_shown}");
    if let Some(len) = decoded_len(text) {
        let mut bytes = vec![0xee; len];
        let decoded = decode(text, &mut bytes).then_some(bytes);
        assert_eq!(decoded, expected, "{text_shown}");
    }
    let mut out = b"before".to_vec();
    assert_eq!(append(text, &mut out), expected.is_some(), "{text_shown}");
    let appended = out.strip_prefix(b"before").unwrap();
    assert_eq!(appended, expected.unwrap_or_default(), "{text_shown}");
}

#[test]
fn every_byte_at_every_place() {
    for end in ["AAAA", "AAA=", "AA==", "/w==", "//8="] {
        for length in [0, 4, 8, 24, 28, 32] {
            let text = ["zZ0+".repeat(8).get(..length).unwrap(), end].concat();
            for place in 0..text.len() {
                for byte in 0..=u8::MAX {
                    let mut text = text.clone().into_bytes();
                    text[place] = byte;
                    check(&text);
                }
            }
        }
    }
}

#[test]
fn every_pair_at_the_end() {
    for first in 0..=u8::MAX {
        for second in 0..=u8::MAX {
            check(&[first, second, b'=', b'=']);
            check(&[b'Q', first, second, b'=']);
            check(&[b'Q', b'Q', first, second]);
        }
    }
}

#[test]
fn lengths() {
    for length in 0..70 {
        check("A".repeat(length).as_bytes());
        check("=".repeat(length).as_bytes());
        let bytes: Vec<u8> = (0..length as u8).map(|i| i.wrapping_mul(37)).collect();
        check(base64_simd::STANDARD.encode_to_string(bytes).as_bytes());
    }
}

#[test]
fn targets_of_another_length() {
    for length in [0, 1, 2, 4, 5, 6, 7] {
        assert!(!decode_short(b"AAAA", &mut vec![0; length]), "{length}");
    }
    assert!(!decode_short(b"AAA=", &mut [0; 3]));
    assert!(!decode_short(b"AA==", &mut [0; 2]));
}

proptest! {
    #[test]
    fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let text = base64_simd::STANDARD.encode_to_string(&bytes);
        check(text.as_bytes());
        let mut out = Vec::new();
        prop_assert!(append(text.as_bytes(), &mut out));
        prop_assert_eq!(out, bytes);
    }

    #[test]
    fn any_text(text in "[A-D/+=a\\PC]{0,40}") {
        check(text.as_bytes());
    }
}
