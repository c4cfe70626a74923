//! Bytes that no server sends: an error or rows, within memory and time that grow as
//! the bytes do.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::result::retry::RetrySettings;
use crate::result::rows::RowReader;
use crate::row::dynamic::Row;
use crate::row::value::{OwnedValue, Value};
use crate::wire::samples::{Sample, SampleMessage, strategy};
use crate::wire::writer::{put_bytes, put_varint};
use crate::wire::{Field, RowType, Type, TypeCode};

/// Far more than anything here takes, far less than what grows as a square does.
const LONG: Duration = Duration::from_secs(60);

fn values(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 0x12, bytes);
    out
}

fn columns(count: usize) -> Vec<u8> {
    SampleMessage::of([])
        .columns(&strategy::columns(count))
        .encode()
        .to_vec()
}

/// The rows and errors of a result with these messages.
fn read(messages: impl IntoIterator<Item = Vec<u8>>) -> Vec<Result<Vec<OwnedValue>, String>> {
    let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new());
    for message in messages {
        reader.receive(message.into());
    }
    reader.end();
    let mut seen = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(row)) => {
                let row: Result<_, _> = row.values().map(|v| v.map(OwnedValue::from)).collect();
                seen.push(row.map_err(|error| error.to_string()));
            }
            Ok(None) => break,
            Err(error) => seen.push(Err(error.to_string())),
        }
    }
    assert!(reader.is_finished());
    assert_eq!(reader.held_bytes(), 0);
    seen
}

fn only_error(messages: impl IntoIterator<Item = Vec<u8>>) -> String {
    let mut seen = read(messages);
    assert_eq!(seen.len(), 1, "{seen:?}");
    seen.remove(0).expect_err("an error")
}

/// The lengths of fields, of values and of what is in them, too large in every way.
#[test]
fn lengths_that_overflow() {
    let lengths: [&[u8]; 6] = [
        b"\x7f",
        b"\xff\x7f",
        b"\xff\xff\xff\xff\x07",
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ];
    for length in lengths {
        // Metadata, a value, a token, statistics, an unknown field.
        for tag in [0x0a, 0x12, 0x22, 0x2a, 0x42, 0x7a] {
            let message = [&[tag], length, b"abc"].concat();
            let error = only_error([columns(1), message.clone()]);
            assert!(error.contains("past the end"), "{tag:#x}: {error}");
            let error = only_error([message]);
            assert!(error.contains("past the end"), "{tag:#x}: {error}");
        }
        // A string, a list, an object inside a value; an element inside a list.
        for head in [&b"\x1a"[..], b"\x32", b"\x2a", b"\x32\x0e\x0a"] {
            let message = [columns(1), values(&[head, length, b"abc"].concat())].concat();
            assert!(only_error([message]).contains("past the end"), "{head:?}");
        }
    }
    // No length at all.
    let endless = [&[0x12][..], &[0xff; 11]].concat();
    assert!(only_error([columns(1), endless]).contains("too long"));
}

#[test]
fn a_claimed_length_takes_no_memory() {
    // Two GiB less one, and in the next message the rest of none of it.
    let message = [columns(1), b"\x12\xff\xff\xff\xff\x07".to_vec()].concat();
    let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new());
    reader.receive(message.into());
    assert!(reader.is_finished());
    assert_eq!(reader.held_bytes(), 0);
}

/// One list in another, 10,000 times; the wire format needs that many lengths.
fn nested(open: &[u8], depth: usize) -> Vec<u8> {
    // Written from the end, so that each length is known.
    let mut reversed = Vec::new();
    for _ in 0..depth {
        for tag in open.iter().rev() {
            let mut length = Vec::new();
            put_varint(&mut length, reversed.len() as u64);
            reversed.extend(length.iter().rev());
            reversed.push(*tag);
        }
    }
    reversed.reverse();
    reversed
}

#[test]
fn nesting_without_end() {
    let begun = Instant::now();
    for depth in [200, 10_000, 200_000] {
        let lists = nested(&[0x32, 0x0a], depth);
        for chunked in [false, true] {
            let mut message = [columns(1), values(&lists)].concat();
            if chunked {
                message.extend_from_slice(b"\x18\x01");
            }
            let error = only_error(
                [message, values(&lists)]
                    .into_iter()
                    .take(1 + usize::from(chunked)),
            );
            assert!(error.contains("nested too deeply"), "{depth}: {error}");
        }
        // Objects in objects: a kind that is not looked into.
        let objects = nested(&[0x2a, 0x0a, 0x12], depth);
        let error = only_error([[columns(1), values(&objects)].concat()]);
        assert!(error.contains("JSON object"), "{error}");
        // ARRAY of ARRAY of …; STRUCT in STRUCT in …
        for open in [&[0x12][..], &[0x1a, 0x0a, 0x12]] {
            let ty = nested(open, depth);
            let mut message = Vec::new();
            for tag in [0x12, 0x0a, 0x0a, 0x0a] {
                let inner = std::mem::take(&mut message);
                put_bytes(
                    &mut message,
                    tag,
                    if inner.is_empty() { &ty } else { &inner },
                );
            }
            assert!(only_error([message]).contains("nested too deeply"));
        }
        // Groups.
        let groups = [columns(1), vec![0x7b; depth]].concat();
        assert!(only_error([groups]).contains("nested too deeply"));
    }
    assert!(begun.elapsed() < LONG);
}

/// A list that holds something Spanner never sends is an error, at any depth; once the
/// list ended there without a word.
#[test]
fn strange_kinds_inside_a_list() {
    for strange in [Sample::Struct, Sample::Unset] {
        let mut value = strange;
        for _ in 0..3 {
            value = Sample::List(vec![Sample::text("a"), value, Sample::text("b")]);
            let good = Sample::List(vec![Sample::text("a")]);
            let message = SampleMessage::of([value.clone(), good])
                .columns(&strategy::columns(1))
                .encode();
            let seen = read([message.to_vec()]);
            let [Err(error), Ok(_)] = &seen[..] else {
                panic!("{seen:?}");
            };
            assert!(error.contains("a value that Spanner sends"), "{error}");
        }
    }
}

#[test]
fn wrong_kinds_fail_in_their_row_only() {
    let kinds = [
        Sample::Null,
        Sample::Bool(true),
        Sample::Number(1.5),
        Sample::text("x"),
        Sample::List(vec![]),
        Sample::Struct,
        Sample::Unset,
    ];
    let types = [
        (Type::new(TypeCode::Bool), Sample::Bool(true)),
        (Type::new(TypeCode::Int64), Sample::text("1")),
        (Type::new(TypeCode::Float64), Sample::Number(0.5)),
        (Type::new(TypeCode::Bytes), Sample::text("AA==")),
        (Type::array(TypeCode::Int64.into()), Sample::List(vec![])),
    ];
    for (ty, good) in types {
        let row_type = RowType::new([Field::new("v", ty.clone())]);
        for bad in &kinds {
            let message = SampleMessage::of([good.clone(), bad.clone(), good.clone()])
                .columns(&row_type)
                .encode();
            let (first, second, third) = match ty.code() {
                TypeCode::Bool => three::<bool>(message),
                TypeCode::Int64 => three::<i64>(message),
                TypeCode::Float64 => three::<f64>(message),
                TypeCode::Bytes => three::<Vec<u8>>(message),
                _ => three::<Vec<i64>>(message),
            };
            assert!(first && third);
            let same = std::mem::discriminant(bad) == std::mem::discriminant(&good);
            // Of the texts only `x` is neither a number nor base64.
            assert_eq!(second, same && *bad != Sample::text("x"), "{ty} {bad:?}");
        }
    }
}

/// Which of three rows can be read.
fn three<T>(message: Bytes) -> (bool, bool, bool)
where
    (T,): crate::row::traits::OwnedRow,
{
    let mut reader = RowReader::<(T,)>::new(&RetrySettings::new());
    reader.receive(message);
    reader.end();
    let mut next = || match reader.next_owned() {
        Ok(row) => row.is_some(),
        Err(error) => {
            assert!(error.is_row_error(), "{error}");
            false
        }
    };
    (next(), next(), next())
}

#[test]
fn broken_text_and_base64_of_any_length() {
    for len in [1, 20, 63, 64, 65, 200, 10_000] {
        for at in [0, len / 2, len - 1] {
            let mut text = vec![b'a'; len];
            text[at] = 0xff;
            let mut value = Vec::new();
            put_bytes(&mut value, 0x1a, &text);
            let seen = read([[columns(1), values(&value), values(b"\x1a\x01a")].concat()]);
            let [Err(error), Ok(_)] = &seen[..] else {
                panic!("{seen:?}");
            };
            assert!(error.contains("not UTF-8"), "{error}");

            let row_type = RowType::new([Field::new("v", TypeCode::Bytes.into())]);
            let metadata = SampleMessage::of([]).columns(&row_type).encode();
            let message = [&metadata[..], &values(&value), &values(b"\x1a\x04AAAA")].concat();
            let mut reader = RowReader::<(&[u8],)>::new(&RetrySettings::new());
            reader.receive(message.into());
            reader.end();
            let error = reader.next().expect_err("no base64").to_string();
            assert!(error.contains("base64"), "{error}");
            assert!(error.len() < 500, "an excerpt is enough");
            assert_eq!(reader.next().unwrap(), Some((&[0, 0, 0][..],)));
        }
    }
}

#[test]
fn cells_of_ten_mebibytes() {
    let begun = Instant::now();
    let text = "x".repeat(10 << 20);
    let message = SampleMessage::of([Sample::text(&text), Sample::text("a"), Sample::text(&text)])
        .columns(&strategy::columns(1))
        .encode();
    let mut reader = RowReader::<(&str,)>::new(&RetrySettings::new());
    reader.receive(message);
    reader.end();
    assert_eq!(reader.next().unwrap().unwrap().0, text);
    assert_eq!(reader.next().unwrap().unwrap().0, "a");
    assert_eq!(reader.next().unwrap().unwrap().0, text);
    assert!(reader.next().unwrap().is_none());
    assert!(begun.elapsed() < LONG);
}

#[test]
fn a_million_columns() {
    let begun = Instant::now();
    const COLUMNS: usize = 1_000_000;
    // Each takes two bytes: without a name or a type.
    let fields = [0x0a, 0x00].repeat(COLUMNS);
    let mut row_type = Vec::new();
    put_bytes(&mut row_type, 0x0a, &fields);
    let mut message = Vec::new();
    put_bytes(&mut message, 0x0a, &row_type);
    // One row, and the begin of another.
    message.extend(values(b"\x1a\x01a").repeat(COLUMNS + 1));

    let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new());
    reader.receive(message.into());
    reader.end();
    let row = reader.next().unwrap().unwrap();
    assert_eq!(row.len(), COLUMNS);
    assert_eq!(
        row.get::<Value<'_>>(COLUMNS - 1).unwrap(),
        Value::String("a")
    );
    let error = reader.next().expect_err("half a row").to_string();
    assert!(
        error.contains("inside a row, after 1 of 1000000"),
        "{error}"
    );
    assert!(begun.elapsed() < LONG);
}

/// Fields that are joined when they come again are not copied each time they do.
#[test]
fn parts_of_metadata_and_statistics_again_and_again() {
    const TIMES: usize = 200_000;
    let begun = Instant::now();
    let mut once = Vec::new();
    put_bytes(&mut once, 0x0a, &[0x0a, 0x00].repeat(20_000));
    let mut metadata = Vec::new();
    put_bytes(&mut metadata, 0x0a, &once);
    // Empty, but present: metadata, its columns, its parameters.
    for again in [&b"\x0a\x00"[..], b"\x0a\x02\x0a\x00", b"\x0a\x02\x1a\x00"] {
        metadata.extend(again.repeat(TIMES));
    }
    let mut plan = Vec::new();
    put_bytes(&mut plan, 0x0a, &vec![0; 1 << 20]);
    let mut statistics = Vec::new();
    put_bytes(&mut statistics, 0x2a, &plan);
    for again in [&b"\x2a\x00"[..], b"\x2a\x02\x0a\x00", b"\x2a\x02\x12\x00"] {
        statistics.extend(again.repeat(TIMES));
    }
    // The same figure, each with another value.
    statistics.extend(b"\x2a\x0b\x12\x09\x0a\x07\x0a\x01a\x12\x02\x20\x01".repeat(TIMES));

    let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new());
    reader.receive([metadata, statistics].concat().into());
    reader.end();
    assert!(reader.next().unwrap().is_none());
    assert_eq!(reader.row_type().unwrap().len(), 20_000);
    let stats = reader.stats().unwrap();
    assert_eq!(stats.query_plan_bytes().len(), 1 << 20);
    assert_eq!(stats.query_stats().count(), 1);
    assert!(begun.elapsed() < LONG);
}

#[test]
fn values_of_a_result_without_columns() {
    let message = [columns(0), values(b"\x1a\x01a").repeat(100_000)].concat();
    assert!(only_error([message]).contains("without columns"));
    assert!(only_error([values(b"\x1a\x01a")]).contains("which columns"));
}

#[test]
fn a_million_tiny_values() {
    const VALUES: usize = 1_000_000;
    let begun = Instant::now();
    // Without a kind, empty, and NULL.
    for value in [&b""[..], b"\x1a\x00", b"\x08\x00"] {
        let message = [columns(1), values(value).repeat(VALUES)].concat();
        let mut reader = RowReader::<(Option<&str>,)>::new(&RetrySettings::new());
        reader.receive(message.into());
        reader.end();
        let mut rows = 0;
        loop {
            match reader.next() {
                Ok(Some((text,))) => {
                    assert_eq!(text, (value.len() != 2 || value[0] != 8).then_some(""))
                }
                Ok(None) => break,
                Err(error) => assert!(error.is_row_error() && value.is_empty(), "{error}"),
            }
            rows += 1;
        }
        assert_eq!(rows, VALUES);
    }
    // And in one list.
    let mut list = Vec::new();
    put_bytes(&mut list, 0x32, &b"\x0a\x02\x08\x00".repeat(VALUES));
    let message = [columns(1), values(&list)].concat();
    let seen = read([message]);
    let [Ok(row)] = &seen[..] else {
        panic!("one row");
    };
    assert!(matches!(&row[..], [OwnedValue::List(list)] if list.len() == VALUES));
    assert!(begun.elapsed() < LONG);
}

/// A value of very many pieces, each of them empty.
#[test]
fn a_value_in_a_hundred_thousand_pieces() {
    let begun = Instant::now();
    let mut reader = RowReader::<(&str,)>::new(&RetrySettings::new().hold_messages(0));
    reader.receive(columns(1).into());
    for _ in 0..100_000 {
        reader.receive(Bytes::from_static(b"\x12\x02\x1a\x00\x18\x01"));
        assert!(reader.next().unwrap().is_none());
    }
    reader.receive(Bytes::from_static(b"\x12\x03\x1a\x01a"));
    reader.end();
    assert_eq!(reader.next().unwrap(), Some(("a",)));
    assert!(begun.elapsed() < LONG);
}

/// What is held back is bounded, whatever it is: empty messages, columns that take two
/// bytes each, rows that do.
#[test]
fn what_is_held_takes_the_memory_that_is_counted() {
    let mut columns = Vec::new();
    put_bytes(&mut columns, 0x0a, &[0x0a, 0x00].repeat(1_000));
    let mut metadata = Vec::new();
    put_bytes(&mut metadata, 0x0a, &columns);
    // The same as parameters.
    columns[0] = 0x1a;
    let mut parameters = Vec::new();
    put_bytes(&mut parameters, 0x0a, &columns);
    let rows = values(b"").repeat(1_000);
    // An element of the list of starts; a column with an empty name.
    let (start, column) = (4, size_of::<Field>());
    for (message, least) in [
        (vec![], size_of::<crate::wire::message::Message>()),
        (metadata, 1_000 * column),
        (parameters, 1_000 * column),
        (rows, 1_000 * (2 + start)),
    ] {
        let limit = 1 << 20;
        let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new().hold_bytes(limit));
        reader.receive(self::columns(1).into());
        let most = limit / least + 1;
        let mut held = 0;
        while reader.held_bytes() > 0 {
            held += 1;
            assert!(
                held <= most,
                "{held} messages, {} bytes",
                reader.held_bytes()
            );
            reader.receive(message.clone().into());
        }
        assert!(held > most / 2, "{held} of {most}");
    }
}
