//! The quick form alone: what it does not read, the slower one would, and nobody would notice.

use super::{Plain, parse_plain, point};

#[test]
fn the_point_is_found_wherever_it_stands() {
    for length in 0..40 {
        assert_eq!(point("7".repeat(length).as_bytes()), None);
        for at in 0..length {
            // What lies beside the point in ASCII, and what differs from it in one bit.
            for other in [b'0', b'9', b'-', b'/', b',', b'.' ^ 0x80, b'.' ^ 1, 0, 0xff] {
                let mut text = vec![other; length];
                text[at] = b'.';
                assert_eq!(point(&text), Some(at), "{}", text.escape_ascii());
                // The first of two counts.
                text[length - 1] = b'.';
                assert_eq!(point(&text), Some(at), "{}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn every_number_of_digits_is_read_at_once() {
    const DIGITS: &str = "98765432109876543210987654321";
    for before in 1..=29 {
        let whole = &DIGITS[..before];
        let expected = |negative, fraction, scale| {
            Some(Plain {
                negative,
                whole: whole.parse().unwrap(),
                fraction,
                scale,
            })
        };
        assert_eq!(parse_plain(whole.as_bytes()), expected(false, 0, 0));
        for behind in 1..=9 {
            let fraction = &"123456789"[..behind];
            let text = format!("-{whole}.{fraction}");
            let value = fraction.parse().unwrap();
            assert_eq!(
                parse_plain(text.as_bytes()),
                expected(true, value, behind as u32),
                "{text}"
            );
        }
        let long = format!("{whole}.0123456789");
        assert_eq!(parse_plain(long.as_bytes()), None, "ten digits behind");
    }
    let long = format!("{DIGITS}0.5");
    assert_eq!(parse_plain(long.as_bytes()), None, "thirty digits before");
}
