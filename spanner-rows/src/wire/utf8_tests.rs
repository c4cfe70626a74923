use super::*;

/// Short and long text go through different checks.
#[test]
fn text_of_every_length() {
    for letter in ["a", "é", "€", "😀"] {
        for len in (0..200).step_by(letter.len()) {
            let good = "a".repeat(len % 5) + &letter.repeat(len / letter.len());
            assert_eq!(text(good.as_bytes()), Some(&*good));
            assert_eq!(text_prefix(good.as_bytes()), good);
            for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98"] {
                let damaged = [good.as_bytes(), bad].concat();
                assert_eq!(text(&damaged), None);
                assert_eq!(text_prefix(&damaged), good);
                let damaged = [good.as_bytes(), bad, b"behind"].concat();
                assert_eq!(text(&damaged), None);
                assert_eq!(text_prefix(&damaged), good);
            }
        }
    }
}

/// In steps: of what is not ASCII nothing, of what is all but a part of a step.
#[test]
fn ascii_up_to_the_step_before() {
    let ascii = vec![b'a'; 3 * ASCII_STEP + 7];
    for len in [
        0,
        1,
        ASCII_STEP - 1,
        ASCII_STEP,
        ASCII_STEP + 1,
        ascii.len(),
    ] {
        assert_eq!(ascii_prefix(&ascii[..len]), len);
    }
    for at in [
        0,
        1,
        ASCII_STEP - 1,
        ASCII_STEP,
        2 * ASCII_STEP + 3,
        ascii.len() - 1,
    ] {
        let mut bytes = ascii.clone();
        bytes[at] = 0x80;
        assert_eq!(ascii_prefix(&bytes), at / ASCII_STEP * ASCII_STEP, "{at}");
    }
}
