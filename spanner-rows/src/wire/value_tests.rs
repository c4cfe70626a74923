use super::*;
use crate::wire::samples::Sample;
use crate::wire::writer::put_bytes;

/// Reads a value that has something before and behind it.
fn read_inside(value: &[u8]) -> Result<Kind, WireError> {
    let buf = [b"_____", value, b"\x08\x00"].concat();
    let span = Span {
        start: 5,
        end: 5 + value.len(),
    };
    read(&buf, span)
}

const fn span(start: usize, end: usize) -> Span {
    Span { start, end }
}

#[test]
fn every_form_of_every_kind() {
    let cases: [(&[u8], Kind); 17] = [
        (b"\x08\x00", Kind::Null),
        (b"\x08\x01", Kind::Null),
        (b"\x08\x80\x00", Kind::Null),
        (b"\x20\x00", Kind::Bool(false)),
        (b"\x20\x01", Kind::Bool(true)),
        (b"\x20\x02", Kind::Bool(true)),
        (b"\x20\x80\x00", Kind::Bool(false)),
        (b"\x11\0\0\0\0\0\0\xf8\x3f", Kind::Number(1.5)),
        (b"\x1a\x00", Kind::String(span(7, 7))),
        (b"\x1a\x02ab", Kind::String(span(7, 9))),
        // A length longer than needed; a tag longer than needed.
        (b"\x1a\x82\x00ab", Kind::String(span(8, 10))),
        (b"\x9a\x00\x02ab", Kind::String(span(8, 10))),
        (b"\x32\x00", Kind::List(span(7, 7))),
        (b"\x32\x04\x0a\x02\x08\x00", Kind::List(span(7, 11))),
        (b"\x2a\x00", Kind::Struct(span(7, 7))),
        (b"", Kind::Unset),
        // Unknown fields only.
        (b"\x38\x01\x3a\x01a", Kind::Unset),
    ];
    for (value, kind) in cases {
        assert_eq!(read_inside(value).unwrap(), kind, "{value:02x?}");
    }
    // Beside an unknown field.
    let kinds: [(&[u8], Kind); 4] = [
        (b"\x08\x00", Kind::Null),
        (b"\x20\x01", Kind::Bool(true)),
        (b"\x11\0\0\0\0\0\0\xf8\x3f", Kind::Number(1.5)),
        (b"\x1a\x01a", Kind::String(span(9, 10))),
    ];
    for (value, kind) in kinds {
        let value = [b"\x38\x01", value].concat();
        assert_eq!(read_inside(&value).unwrap(), kind, "{value:02x?}");
    }
    // The last one counts, and what is unknown does not.
    assert_eq!(
        read_inside(b"\x08\x00\x1a\x01a\x38\x01").unwrap(),
        Kind::String(span(9, 10))
    );
    assert_eq!(read_inside(b"\x1a\x01a\x20\x01").unwrap(), Kind::Bool(true));
    assert_eq!(
        read_inside(b"\x1a\x01a\x32\x00").unwrap(),
        Kind::List(span(10, 10))
    );
    assert_eq!(
        read_inside(b"\x32\x00\x1a\x01a").unwrap(),
        Kind::String(span(9, 10))
    );
}

#[test]
fn long_strings_and_lists() {
    for len in [126, 127, 128, 129, 16_383, 16_384] {
        for (tag, list) in [(STRING_TAG, false), (LIST_TAG, true)] {
            let mut value = Vec::new();
            put_bytes(&mut value, tag, &vec![b'a'; len]);
            let content = span(5 + value.len() - len, 5 + value.len());
            let kind = if list {
                Kind::List(content)
            } else {
                Kind::String(content)
            };
            assert_eq!(read_inside(&value).unwrap(), kind);
            // One byte more than the value has, and one less.
            value.push(0);
            assert!(read_inside(&value).is_err());
            value.truncate(value.len() - 2);
            assert!(read_inside(&value).is_err());
        }
    }
}

#[test]
fn malformed_values_say_where() {
    use WireErrorKind::*;
    let cases: [(&[u8], WireErrorKind, usize); 14] = [
        (b"\x08", Truncated, 6),
        (b"\x0a\x00", UnexpectedWireType, 5),
        (b"\x11\0\0\0", Truncated, 6),
        (b"\x10\x01", UnexpectedWireType, 5),
        (b"\x15\0\0\0\0", UnexpectedWireType, 5),
        (b"\x18\x01", UnexpectedWireType, 5),
        (b"\x1a\x02a", LengthPastEnd, 6),
        (b"\x22\x00", UnexpectedWireType, 5),
        (b"\x28\x00", UnexpectedWireType, 5),
        (b"\x30\x00", UnexpectedWireType, 5),
        (b"\x32\x00\x32\x00", RepeatedList, 7),
        (b"\x2a\x00\x32\x00", RepeatedList, 7),
        (b"\x32\x00\x2a\x00", RepeatedList, 7),
        (b"\x20\x01\x00", FieldNumber, 7),
    ];
    for (value, kind, offset) in cases {
        let error = read_inside(value).expect_err("malformed");
        assert_eq!(
            (error.kind(), error.offset()),
            (kind, offset),
            "{value:02x?}"
        );
    }
}

/// A list of two values with an unknown field between them, in the middle of a buffer.
fn list() -> (Vec<u8>, Span) {
    let long = "x".repeat(200);
    let mut buf = b"___".to_vec();
    put_bytes(&mut buf, ELEMENT_TAG, &Sample::text("a").encoded());
    buf.extend_from_slice(b"\x10\x07");
    put_bytes(&mut buf, ELEMENT_TAG, &Sample::text(&long).encoded());
    buf.extend_from_slice(b"\x1d1234");
    let end = buf.len();
    buf.extend_from_slice(b"\x0a\x00");
    (buf, span(3, end))
}

#[test]
fn elements_and_where_they_are() {
    let (buf, whole) = list();
    let mut elements = Elements::of_list(&buf, whole);
    assert_eq!(elements.count().unwrap(), 2);
    assert_eq!(elements.position(), 3);
    let first = elements.next().unwrap().unwrap();
    assert_eq!(first, span(5, 8));
    assert_eq!(elements.position(), 8);
    assert_eq!(elements.count().unwrap(), 1);
    let second = elements.next().unwrap().unwrap();
    assert_eq!(second, span(13, 216));
    assert_eq!(elements.position(), 216);
    assert_eq!(elements.next().unwrap(), None);
    assert_eq!(elements.position(), whole.end);
}

#[test]
fn malformed_elements_say_where() {
    use WireErrorKind::*;
    let cases: [(&[u8], WireErrorKind, usize); 8] = [
        (b"\x0a\x05abc", LengthPastEnd, 6),
        (b"\x0a\x81\x01abc", LengthPastEnd, 6),
        (b"\x0a", Truncated, 6),
        (b"\x0a\x00\x08\x01", UnexpectedWireType, 7),
        // The tag of an element in two bytes.
        (b"\x0a\x00\x8a\x00\x00", FieldNumber, 7),
        (b"\x10\x01\x17", WireType, 7),
        (b"\x12\x02a", LengthPastEnd, 6),
        (b"\x10\x01\x1c", Group, 8),
    ];
    for (content, kind, offset) in cases {
        let buf = [b"_____", content].concat();
        let mut elements = Elements::of_list(&buf, span(5, buf.len()));
        let error = loop {
            match elements.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{content:02x?}"),
                Err(error) => break error,
            }
        };
        assert_eq!(
            (error.kind(), error.offset()),
            (kind, offset),
            "{content:02x?}"
        );
        assert!(Elements::of_list(&buf, span(5, buf.len())).count().is_err());
    }
}

#[test]
fn the_check_goes_to_the_bottom() {
    let check = |value: &Sample| {
        let wire = value.encoded();
        check(&wire, span(0, wire.len()))
    };
    let nested = |inner: Sample, depth: usize| {
        (0..depth).fold(inner, |value, _| Sample::List(vec![Sample::Null, value]))
    };
    for depth in [0, 1, 99, 100] {
        assert_eq!(check(&nested(Sample::text("a"), depth)), Ok(None));
        assert!(matches!(
            check(&nested(Sample::Struct, depth)),
            Ok(Some(Kind::Struct(_)))
        ));
        assert_eq!(check(&nested(Sample::Unset, depth)), Ok(Some(Kind::Unset)));
    }
    let error = check(&nested(Sample::Null, 101)).unwrap_err();
    assert_eq!(error.kind(), WireErrorKind::TooDeep);
    // The first strange kind counts, and a fault behind it does too.
    let both = Sample::List(vec![Sample::Unset, Sample::Struct]);
    assert_eq!(check(&both), Ok(Some(Kind::Unset)));
    let wire = b"\x32\x07\x0a\x00\x0a\x03\x1a\x01\xff";
    let error = super::check(wire, span(0, wire.len())).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (WireErrorKind::Utf8, 8));
}

/// Ways to take an element that are there for speed: what they take is what the general
/// one takes, and what they do not take they leave.
#[test]
fn fast_ways_agree_with_the_slow_one() {
    type Way = fn(&mut Elements<'_>) -> Option<Span>;
    const fn found((bytes, start): Found<'_>) -> Span {
        span(start, start + bytes.len())
    }
    let texts: [Way; 2] = [
        |elements| elements.next_short_string().map(found),
        |elements| elements.next_longer_string().map(found),
    ];
    let values: [Way; 2] = [
        |elements| elements.next_short().map(found),
        |elements| elements.next_longer().map(found),
    ];
    let small = 0..300;
    let edges = [14, 21].map(|bits| (1_usize << bits) - 20..(1 << bits) + 20);
    let mut buf = Vec::new();
    for len in small.chain(edges.into_iter().flatten()) {
        for (kind, tag) in [
            (STRING_TAG, ELEMENT_TAG),
            (LIST_TAG, ELEMENT_TAG),
            (STRING_TAG, 0x12),
        ] {
            let mut value = Vec::new();
            put_bytes(&mut value, kind, &vec![b'a'; len]);
            buf.clear();
            buf.extend_from_slice(b"___");
            put_bytes(&mut buf, tag, &value);
            let behind = buf.len();
            buf.extend_from_slice(b"\x0a\x02\x08\x00");
            let elements = Elements::of_list(&buf, span(3, buf.len()));

            let mut slow = elements;
            let whole = slow.next().unwrap().unwrap();
            let mut taken = 0;
            for way in values {
                let mut fast = elements;
                match way(&mut fast) {
                    Some(value) if tag == ELEMENT_TAG => {
                        assert_eq!(value, whole, "{len}");
                        assert_eq!(fast.position(), behind);
                        taken += 1;
                    }
                    Some(_) => panic!("a field under another tag"),
                    None => assert_eq!(fast.position(), 3),
                }
            }
            assert_eq!(taken, usize::from(tag == ELEMENT_TAG), "{len}");
            let mut taken = 0;
            for way in texts {
                let mut fast = elements;
                match way(&mut fast) {
                    Some(text) => {
                        assert_eq!((kind, tag), (STRING_TAG, ELEMENT_TAG));
                        assert_eq!(Kind::String(text), read(&buf, whole).unwrap());
                        assert_eq!(fast.position(), behind);
                        taken += 1;
                    }
                    None => assert_eq!(fast.position(), 3),
                }
            }
            // Where the value's length takes two bytes and the text's one, neither does.
            let simple = kind == STRING_TAG && tag == ELEMENT_TAG && !(126..128).contains(&len);
            assert_eq!(taken, usize::from(simple), "{len}");
        }
    }
}

#[test]
fn fast_ways_leave_what_is_not_simple() {
    let cut: [&[u8]; 9] = [
        b"",
        b"\x0a",
        b"\x0a\x05\x1a\x03ab",
        // A length that does not fit that of the value.
        b"\x0a\x05\x1a\x02abc",
        b"\x0a\x04\x1a\x03abc",
        // Two fields in one value.
        b"\x0a\x05\x1a\x01a\x08\x00",
        // A needlessly long length.
        b"\x0a\x83\x00\x1a\x01a",
        b"\x0a\x80\x80\x80\x80\x01",
        b"\x0a\x83\x80\x80\x00\x1a\x01a",
    ];
    for content in cut {
        let buf = [b"__", content].concat();
        let elements = Elements::of_list(&buf, span(2, buf.len()));
        for way in [
            Elements::next_short_string,
            Elements::next_longer_string,
            Elements::next_longer,
        ] {
            let mut fast = elements;
            assert_eq!(way(&mut fast), None, "{content:02x?}");
            assert_eq!(fast.position(), 2);
        }
    }
}
