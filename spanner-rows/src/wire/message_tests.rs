use bytes::Bytes;
use proptest::prelude::*;

use super::super::samples::{Sample, SampleMessage, SampleMetadata, SampleStats, strategy};
use super::super::{ResultStats, RowCount};
use super::{Layout, Message};
use crate::row::value::OwnedValue;
use crate::types::timestamp::Timestamp;
use crate::wire::reader::Span;
use crate::wire::{Field, RowType, TypeCode, WireErrorKind};

fn parse(wire: impl Into<Bytes>, layout: Layout) -> Message {
    Message::parse(wire.into(), layout, Vec::new()).unwrap()
}

fn layout(columns: usize, filled: usize, pending: bool) -> Layout {
    Layout {
        columns: Some(columns),
        filled,
        pending,
    }
}

/// What a message says, without where it says it.
#[derive(Debug, PartialEq)]
struct Content {
    head: Vec<Sample>,
    rows: Vec<Vec<Sample>>,
    tail: Vec<Sample>,
    count: usize,
    chunked: bool,
    before: Layout,
    after: Layout,
    metadata: Option<super::ResultMetadata>,
    token: Bytes,
    stats: Option<ResultStats>,
    precommit: Option<(Bytes, i32)>,
    last: bool,
}

fn content(message: &Message) -> Content {
    let values = |span: Span| Sample::decode_values(span.of(&message.wire));
    Content {
        head: values(message.head()),
        rows: message
            .starts
            .windows(2)
            .map(|row| {
                values(Span {
                    start: row[0] as usize,
                    end: row[1] as usize,
                })
            })
            .collect(),
        tail: values(message.tail()),
        count: message.count,
        chunked: message.chunked,
        before: message.before,
        after: message.after,
        metadata: message.metadata.as_deref().cloned(),
        token: message.resume_token.clone(),
        stats: message.stats.as_deref().cloned(),
        precommit: message
            .precommit
            .as_ref()
            .map(|token| (token.token.clone(), token.seq_num)),
        last: message.last,
    }
}

fn texts(texts: &str) -> Vec<Sample> {
    texts.split_whitespace().map(Sample::text).collect()
}

/// How `values` lie in rows that begin as `layout` says: head, rows, tail and the layout after.
fn rows_of(
    values: &str,
    layout: Layout,
    chunked: bool,
) -> (Vec<Sample>, usize, Vec<Sample>, Layout) {
    let mut message = SampleMessage::of(texts(values));
    message.chunked = chunked;
    let content = content(&parse(message.encode(), layout));
    (
        content.head,
        content.rows.len(),
        content.tail,
        content.after,
    )
}

#[test]
fn values_are_split_into_head_rows_and_tail() {
    // At the start of a row.
    assert_eq!(
        rows_of("a b c d e", layout(2, 0, false), false),
        (vec![], 2, texts("e"), layout(2, 1, false))
    );
    assert_eq!(
        rows_of("a b c d", layout(2, 0, false), false),
        (vec![], 2, vec![], layout(2, 0, false))
    );
    // In the middle of one.
    assert_eq!(
        rows_of("a b c d e", layout(3, 1, false), false),
        (texts("a b"), 1, vec![], layout(3, 0, false))
    );
    assert_eq!(
        rows_of("a", layout(3, 1, false), false),
        (texts("a"), 0, vec![], layout(3, 2, false))
    );
    // In the middle of a value: the first one goes on with it.
    assert_eq!(
        rows_of("a b", layout(1, 0, true), false),
        (texts("a"), 1, vec![], layout(1, 0, false))
    );
    assert_eq!(
        rows_of("a b c", layout(3, 1, true), false),
        (texts("a b"), 0, texts("c"), layout(3, 1, false))
    );
}

#[test]
fn a_row_whose_last_value_goes_on_is_not_complete() {
    assert_eq!(
        rows_of("a b c d", layout(2, 0, false), true),
        (vec![], 1, texts("c d"), layout(2, 1, true))
    );
    assert_eq!(
        rows_of("a b", layout(2, 0, false), true),
        (vec![], 0, texts("a b"), layout(2, 1, true))
    );
    // The head completes its row only without the flag.
    assert_eq!(
        rows_of("a", layout(1, 0, true), true),
        (texts("a"), 0, vec![], layout(1, 0, true))
    );
    assert_eq!(
        rows_of("a b", layout(3, 1, false), true),
        (texts("a b"), 0, vec![], layout(3, 2, true))
    );
    assert_eq!(
        rows_of("a b", layout(2, 1, true), true),
        (texts("a"), 0, texts("b"), layout(2, 0, true))
    );
}

#[test]
fn no_values_change_nothing() {
    for before in [layout(2, 1, true), layout(2, 0, false), Layout::default()] {
        assert_eq!(
            rows_of("", before, true),
            (vec![], 0, vec![], before),
            "the flag means nothing without values"
        );
    }
}

#[test]
fn values_without_columns_are_counted_only() {
    for before in [Layout::default(), layout(0, 0, false)] {
        let message = parse(SampleMessage::of(texts("a b")).encode(), before);
        assert_eq!((message.count, message.starts.len()), (2, 0));
        assert_eq!(message.after, before);
    }
}

/// Legal, though no server does it: the columns come behind the values.
#[test]
fn metadata_behind_the_values() {
    let columns = RowType::new(["a", "b"].map(|name| Field::new(name, TypeCode::String.into())));
    let values = SampleMessage::of(texts("a b c")).encode();
    let metadata = SampleMessage::of([]).columns(&columns).encode();
    let wire = Bytes::from([&values[..], &metadata].concat());
    let message = parse(wire.clone(), Layout::default());
    assert_eq!(message.before, layout(2, 0, false));
    assert_eq!((message.count, message.starts.len()), (3, 2));
    assert_eq!(message.after, layout(2, 1, false));
    // Where they are known, the values are where they were received.
    let message = parse(wire.clone(), layout(2, 0, false));
    assert_eq!(message.wire, wire);
    assert_eq!((message.count, message.starts.len()), (3, 2));
}

#[test]
fn every_value_counts() {
    for (columns, filled, pending) in [(1, 0, false), (2, 1, false), (3, 1, true), (5, 0, true)] {
        for count in 0..9 {
            let values = vec![Sample::Null; count];
            for chunked in [false, true] {
                let mut sample = SampleMessage::of(values.clone());
                sample.chunked = chunked;
                let message = parse(sample.encode(), layout(columns, filled, pending));
                assert_eq!(message.count, count);
                assert_eq!(message.chunked, chunked && count > 0);
            }
        }
    }
}

#[test]
fn everything_but_values_is_read() {
    let row_type = RowType::new([Field::new("n", TypeCode::Int64.into())]);
    let message = SampleMessage {
        metadata: Some(SampleMetadata {
            row_type: Some(row_type.clone()),
            transaction_id: b"tx".to_vec(),
            read_timestamp: Some((-5, 7)),
            undeclared_parameters: Some(RowType::new([Field::new("p", TypeCode::Bool.into())])),
            precommit: Some((b"first".to_vec(), 1)),
        }),
        values: texts("1 2"),
        chunked: true,
        token: b"token".to_vec(),
        stats: Some(SampleStats {
            plan: b"\x0a\x00".to_vec(),
            query_stats: vec![
                ("rows".to_owned(), Sample::text("3")),
                ("object".to_owned(), Sample::Struct),
                ("list".to_owned(), Sample::List(vec![Sample::Null])),
            ],
            exact: None,
            lower_bound: Some(-1),
        }),
        precommit: Some((b"second".to_vec(), -2)),
        last: true,
    };
    let parsed = parse(message.encode(), Layout::default());
    let metadata = parsed.metadata.as_ref().unwrap();
    assert_eq!(metadata.row_type(), &row_type);
    assert_eq!(metadata.undeclared_parameters().fields()[0].name(), "p");
    assert_eq!(metadata.read_timestamp(), Timestamp::new(-5, 7));
    assert_eq!(metadata.transaction_id(), "tx");
    assert_eq!(metadata.precommit().unwrap().seq_num, 1);
    let stats = parsed.stats.as_ref().unwrap();
    assert_eq!(stats.row_count(), Some(RowCount::LowerBound(-1)));
    assert_eq!(stats.query_plan_bytes(), "\n\0");
    assert_eq!(
        stats.query_stat("rows"),
        Some(&OwnedValue::String("3".to_owned()))
    );
    assert_eq!(
        stats
            .query_stats()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
        ["rows", "list"]
    );
    assert_eq!(parsed.resume_token, "token");
    let precommit = parsed.precommit.as_ref().unwrap();
    assert_eq!(
        (&precommit.token[..], precommit.seq_num),
        (&b"second"[..], -2)
    );
    assert!(parsed.last && parsed.chunked);
    assert_eq!(parsed.after, layout(1, 0, true));
}

/// A field that comes twice is joined as protobuf says.
#[test]
fn repeated_fields_are_joined() {
    let name = |name: &str| RowType::new([Field::new(name, TypeCode::Bool.into())]);
    let first = SampleMessage {
        metadata: Some(SampleMetadata {
            row_type: Some(name("a")),
            transaction_id: b"one".to_vec(),
            ..SampleMetadata::default()
        }),
        stats: Some(SampleStats {
            plan: b"ab".to_vec(),
            query_stats: vec![("x".to_owned(), Sample::text("1"))],
            exact: Some(1),
            lower_bound: None,
        }),
        precommit: Some((b"p".to_vec(), 1)),
        token: b"t".to_vec(),
        ..SampleMessage::default()
    };
    let second = SampleMessage {
        metadata: Some(SampleMetadata {
            row_type: Some(name("b")),
            read_timestamp: Some((1, 2)),
            ..SampleMetadata::default()
        }),
        stats: Some(SampleStats {
            plan: b"c".to_vec(),
            query_stats: vec![("x".to_owned(), Sample::text("2"))],
            exact: None,
            lower_bound: Some(4),
        }),
        precommit: Some((b"q".to_vec(), 2)),
        token: b"u".to_vec(),
        ..SampleMessage::default()
    };
    let parsed = parse(
        [first.encode(), second.encode()].concat(),
        Layout::default(),
    );
    let metadata = parsed.metadata.unwrap();
    assert_eq!(metadata.row_type().to_string(), "STRUCT<a BOOL, b BOOL>");
    assert_eq!(metadata.transaction_id(), "one");
    assert_eq!(metadata.read_timestamp(), Timestamp::new(1, 2));
    let stats = parsed.stats.unwrap();
    assert_eq!(stats.query_plan_bytes(), "abc");
    assert_eq!(stats.query_stats().count(), 1);
    assert_eq!(
        stats.query_stat("x"),
        Some(&OwnedValue::String("2".to_owned()))
    );
    assert_eq!(stats.row_count(), Some(RowCount::LowerBound(4)));
    assert_eq!(parsed.precommit.unwrap().seq_num, 2);
    assert_eq!(parsed.resume_token, "u");
}

#[test]
fn malformed_messages_say_where() {
    use WireErrorKind::*;
    let too_deep = [&[0x0b].repeat(101)[..], &[0x0c].repeat(101)].concat();
    let cases: [(&[u8], WireErrorKind, usize); 20] = [
        (b"\x12", Truncated, 1),
        (b"\x12\x80", Truncated, 1),
        (b"\x12\x01", LengthPastEnd, 1),
        (b"\x12\x02\x08\x00\x12\x05\x1a", LengthPastEnd, 5),
        (b"\x12\x81\x01\x08", LengthPastEnd, 1),
        (
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            LengthPastEnd,
            1,
        ),
        (
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            VarintTooLong,
            1,
        ),
        (b"\x10\x01", UnexpectedWireType, 0),
        (b"\x12\x02\x08\x00\x10\x01", UnexpectedWireType, 4),
        (b"\x1a\x01\x01", UnexpectedWireType, 0),
        (b"\x20\x01", UnexpectedWireType, 0),
        (b"\x4a\x00", UnexpectedWireType, 0),
        (b"\x00\x00", FieldNumber, 0),
        (b"\x0f", WireType, 0),
        (b"\x0c", Group, 1),
        (b"\x5b\x64", Group, 1),
        (b"\x5b", Truncated, 1),
        (b"\x5d\x00", Truncated, 1),
        (b"\x0a\x02\x0a\x05", LengthPastEnd, 3),
        (b"\x0a\x09\x0a\x07\x0a\x05\x0a\x01\xff\x12\x00", Utf8, 8),
    ];
    for (wire, kind, offset) in cases {
        let error = Message::parse(
            Bytes::copy_from_slice(wire),
            layout(1, 0, false),
            Vec::new(),
        )
        .expect_err(&format!("{wire:02x?}"));
        assert_eq!(
            (error.kind(), error.offset()),
            (kind, offset),
            "{wire:02x?}"
        );
    }
    let error = Message::parse(too_deep.into(), layout(1, 0, false), Vec::new()).unwrap_err();
    assert_eq!(error.kind(), TooDeep);
}

#[test]
fn types_nested_without_end_are_refused() {
    let mut ty = vec![0x08, 8];
    for _ in 0..120 {
        let mut outer = vec![0x08, 8];
        super::put_bytes(&mut outer, 0x12, &ty);
        ty = outer;
    }
    let mut wire = ty;
    for tag in [0x12, 0x0a, 0x0a, 0x0a] {
        let mut outer = Vec::new();
        super::put_bytes(&mut outer, tag, &wire);
        wire = outer;
    }
    let error = Message::parse(wire.into(), Layout::default(), Vec::new()).unwrap_err();
    assert_eq!(error.kind(), WireErrorKind::TooDeep);
}

fn any_layout() -> impl Strategy<Value = Layout> {
    (0usize..5, 0usize..5, any::<bool>(), 0..6).prop_map(|(columns, filled, pending, unknown)| {
        match columns {
            _ if unknown == 0 => Layout::default(),
            0 => layout(0, 0, false),
            columns => layout(columns, filled % columns, pending),
        }
    })
}

prop_compose! {
    fn any_message()(
        columns in prop::option::weighted(0.3, 0usize..4),
        values in prop::collection::vec(strategy::any_value(), 0..9),
        chunked in any::<bool>(),
        token in prop::collection::vec(any::<u8>(), 0..4),
        stats in prop::option::weighted(0.2, any::<i64>()),
        precommit in prop::option::weighted(0.2, any::<i32>()),
        last in any::<bool>(),
    ) -> SampleMessage {
        SampleMessage {
            metadata: columns.map(|count| SampleMetadata {
                row_type: Some(strategy::columns(count)),
                ..SampleMetadata::default()
            }),
            values,
            chunked,
            token,
            stats: stats.map(|exact| SampleStats { exact: Some(exact), ..SampleStats::default() }),
            precommit: precommit.map(|seq| (vec![1, 2], seq)),
            last,
        }
    }
}

/// Field numbers that no version of the message has, in every wire type.
const UNKNOWN: [&[u8]; 6] = [
    b"\x58\x05",
    b"\x59\x01\x02\x03\x04\x05\x06\x07\x08",
    b"\x5a\x03abc",
    b"\x5b\x12\x02\x08\x00\x63\x64\x5c",
    b"\x5d\x01\x02\x03\x04",
    b"\x52\x01\x00",
];

/// The fields of a message in any order (values among themselves in theirs), with
/// unknown ones between and tags longer than they need be.
fn scatter(message: &SampleMessage, mut dice: impl FnMut(usize) -> usize) -> Vec<u8> {
    let (mut values, mut others): (Vec<_>, Vec<_>) = message
        .fields()
        .into_iter()
        .partition(|field| field[0] == 0x12);
    values.reverse();
    let mut out = Vec::new();
    while !values.is_empty() || !others.is_empty() {
        if dice(4) == 0 {
            out.extend_from_slice(UNKNOWN[dice(UNKNOWN.len())]);
        }
        let field = if others.is_empty() || (dice(2) == 0 && !values.is_empty()) {
            values.pop()
        } else {
            let at = dice(others.len());
            Some(others.swap_remove(at))
        };
        let field = field.unwrap_or_default();
        if dice(4) == 0 {
            out.extend_from_slice(&[field[0] | 0x80, 0x80, 0x00]);
            out.extend_from_slice(&field[1..]);
        } else {
            out.extend_from_slice(&field);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The loop over one run of values and the gathering of scattered ones agree.
    #[test]
    fn fast_and_slow_walk_agree(message in any_message(), layout in any_layout()) {
        let fast = parse(message.encode(), layout);
        let slow = Message::parse_scattered(message.encode(), layout, Vec::new()).unwrap();
        prop_assert_eq!(content(&fast), content(&slow));
        prop_assert_eq!(fast.encoded_len, slow.encoded_len);
        prop_assert_eq!(fast.wire, message.encode(), "not copied");
    }

    #[test]
    fn order_of_fields_and_unknown_ones_mean_nothing(
        message in any_message(),
        layout in any_layout(),
        dice in prop::collection::vec(any::<u16>(), 0..60),
    ) {
        let mut dice = dice.into_iter();
        let scattered = scatter(&message, |n| usize::from(dice.next().unwrap_or(1)) % n);
        prop_assert_eq!(
            content(&parse(scattered, layout)),
            content(&parse(message.encode(), layout))
        );
    }

    /// The values are those that were written, row by row.
    #[test]
    fn rows_are_where_they_should_be(message in any_message(), columns in 1usize..5, filled in 0usize..4) {
        let layout = layout(columns, filled % columns, false);
        let mut message = message;
        message.metadata = None;
        message.chunked = false;
        let content = content(&parse(message.encode(), layout));
        let mut all = content.head.clone();
        all.extend(content.rows.iter().flatten().cloned());
        all.extend(content.tail.iter().cloned());
        prop_assert_eq!(all, message.values);
        prop_assert!(content.rows.iter().all(|row| row.len() == columns));
        prop_assert!(content.tail.len() < columns);
    }

    #[test]
    fn no_bytes_make_it_panic(
        wire in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x12), Just(2), Just(0x1a), Just(0x0a)], 0..60),
        layout in any_layout(),
    ) {
        let _ = Message::parse(wire.into(), layout, Vec::new());
    }

    #[test]
    fn no_damaged_message_makes_it_panic(
        message in any_message(),
        layout in any_layout(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut wire = message.encode().to_vec();
        for (at, byte) in damage {
            if !wire.is_empty() {
                let at = at.index(wire.len());
                wire[at] = byte;
            }
        }
        wire.truncate(cut.index(wire.len() + 1));
        let _ = Message::parse(wire.into(), layout, Vec::new());
    }
}
