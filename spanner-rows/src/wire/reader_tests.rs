use super::*;
use crate::wire::writer::put_varint;

fn tag_of(field: u32, wire_type: WireType) -> Tag {
    Tag { field, wire_type }
}

fn kind<T: std::fmt::Debug>(result: Result<T, WireError>) -> (WireErrorKind, usize) {
    let error = result.expect_err("malformed");
    (error.kind(), error.offset())
}

#[test]
fn varints_of_every_length() {
    for bits in 0..=64 {
        for value in [(1u128 << bits) - 1, 1u128 << bits] {
            let Ok(value) = u64::try_from(value) else {
                continue;
            };
            // Something before and behind.
            let mut buf = vec![0xff; 3];
            put_varint(&mut buf, value);
            let end = buf.len();
            buf.push(0x7f);
            assert_eq!(varint(&buf, 3).unwrap(), (value, end));
            for cut in 3..end {
                let expected = (WireErrorKind::Truncated, 3);
                assert_eq!(kind(varint(&buf[..cut], 3)), expected);
            }
        }
    }
    // Longer than needed, which protobuf allows.
    assert_eq!(varint(b"\x85\x80\x80\x00", 0).unwrap(), (5, 4));
    assert_eq!(
        varint(b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0).unwrap(),
        (0, 10)
    );
    // 65 bits, and eleven bytes.
    let ten = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    for last in [0x02, 0x7f, 0x80, 0x81, 0xff] {
        let buf = [&ten[..], &[last, 0]].concat();
        assert_eq!(kind(varint(&buf, 0)), (WireErrorKind::VarintTooLong, 0));
    }
    let buf = [&ten[..], &[0x01]].concat();
    assert_eq!(varint(&buf, 0).unwrap(), (u64::MAX, 10));
}

#[test]
fn lengths_end_at_the_end() {
    let buf = b"__\x03abc_";
    assert_eq!(length(buf, 2, 6).unwrap(), Span { start: 3, end: 6 });
    assert_eq!(length(buf, 2, 7).unwrap(), Span { start: 3, end: 6 });
    assert_eq!(kind(length(buf, 2, 5)), (WireErrorKind::LengthPastEnd, 2));
    assert_eq!(length(b"\x00", 0, 1).unwrap(), Span { start: 1, end: 1 });
}

#[test]
fn tags_have_a_number_and_a_known_type() {
    let written = |key: u64| {
        let mut buf = vec![0];
        put_varint(&mut buf, key);
        buf
    };
    let types = [
        WireType::Varint,
        WireType::Fixed64,
        WireType::Len,
        WireType::StartGroup,
        WireType::EndGroup,
        WireType::Fixed32,
    ];
    for field in [1, 15, 16, 0x1fff_ffff] {
        for (number, wire_type) in types.into_iter().enumerate() {
            let buf = written(u64::from(field) << 3 | number as u64);
            assert_eq!(tag(&buf, 1).unwrap(), (tag_of(field, wire_type), buf.len()));
        }
        for number in [6, 7] {
            let buf = written(u64::from(field) << 3 | number);
            assert_eq!(kind(tag(&buf, 1)), (WireErrorKind::WireType, 1));
        }
    }
    for field in [0, 0x2000_0000, 1 << 32, (1 << 32) + 1, u64::MAX >> 3] {
        let buf = written(field << 3 | 2);
        assert_eq!(kind(tag(&buf, 1)), (WireErrorKind::FieldNumber, 1));
    }
}

#[test]
fn what_is_skipped_ends_at_the_end() {
    let cases: [(&[u8], WireType); 5] = [
        (b"\x80\x01", WireType::Varint),
        (b"12345678", WireType::Fixed64),
        (b"1234", WireType::Fixed32),
        (b"\x02ab", WireType::Len),
        // Field 2 with a varint, field 3 with a group of nothing.
        (b"\x10\x07\x1b\x1c\x0c", WireType::StartGroup),
    ];
    for (content, wire_type) in cases {
        let buf = [b"__", content, b"\x00\x00"].concat();
        let end = 2 + content.len();
        for room in [end, buf.len()] {
            assert_eq!(
                skip(&buf, 2, room, tag_of(1, wire_type)).unwrap(),
                end,
                "{wire_type:?}"
            );
        }
        // The bytes are there, but belong to others.
        for room in 2..end {
            assert!(
                skip(&buf, 2, room, tag_of(1, wire_type)).is_err(),
                "{wire_type:?} {room}"
            );
        }
    }
    let end_group = skip(b"\x0c", 0, 1, tag_of(1, WireType::EndGroup));
    assert_eq!(kind(end_group), (WireErrorKind::Group, 0));
}

#[test]
fn groups_close_in_order_and_end() {
    let group = |content: &[u8]| skip(content, 0, content.len(), tag_of(1, WireType::StartGroup));
    assert_eq!(group(b"\x0c").unwrap(), 1);
    assert_eq!(group(b"\x13\x14\x0c").unwrap(), 3);
    assert_eq!(group(b"\x13\x1b\x1c\x14\x13\x14\x0c\x0c").unwrap(), 7);
    assert_eq!(kind(group(b"\x14")), (WireErrorKind::Group, 0));
    assert_eq!(kind(group(b"\x13\x0c\x14")), (WireErrorKind::Group, 1));
    assert_eq!(kind(group(b"\x13\x14")), (WireErrorKind::Truncated, 2));
    for depth in [1, 98, 99, 100, 101, 5_000] {
        let content = [&b"\x0b".repeat(depth)[..], &b"\x0c".repeat(depth + 1)].concat();
        let skipped = group(&content);
        match depth < MAX_DEPTH {
            true => assert_eq!(skipped.unwrap(), content.len()),
            false => assert_eq!(kind(skipped), (WireErrorKind::TooDeep, MAX_DEPTH - 1)),
        }
    }
}

#[test]
fn fields_say_where_they_are() {
    let buf = b"__\x08\x96\x01\x12\x02hi\x1d1234\x21123456788\x00";
    let mut fields = Fields::new(buf, Span { start: 2, end: 23 });
    let mut seen = Vec::new();
    while let Some(field) = fields.next().unwrap() {
        seen.push((field.tag.field, field.at, field.span, field.varint));
    }
    let span = |start, end| Span { start, end };
    assert_eq!(
        seen,
        [
            (1, 2, span(3, 5), 150),
            (2, 5, span(7, 9), 0),
            (3, 9, span(10, 14), 0),
            (4, 14, span(15, 23), 0),
        ]
    );
    // Each kind of field cut short of its own end, though the buffer goes on.
    for (start, ends) in [(2, 3..5), (5, 6..9), (9, 10..14), (14, 15..23)] {
        for end in ends {
            assert!(
                Fields::new(buf, Span { start, end }).next().is_err(),
                "{start}..{end}"
            );
        }
    }
    // A tag of two bytes of which the second is not part of the message.
    let wide = b"\x80\x01\x05";
    assert!(Fields::new(wide, Span { start: 0, end: 1 }).next().is_err());
    assert!(
        Fields::new(wide, Span { start: 0, end: 9 })
            .next()
            .unwrap()
            .is_some()
    );
}
