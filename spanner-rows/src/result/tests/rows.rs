//! Rows handed out in every way, of results whose rows lie whole in messages and across
//! them.

use std::time::Duration;

use bytes::Bytes;

use super::support::unavailable;
use crate::error::Error;
use crate::result::retry::RetrySettings;
use crate::result::rows::RowReader;
use crate::row::dynamic::Row;
use crate::types::timestamp::Timestamp;
use crate::wire::samples::{Sample, SampleMessage, SampleMetadata, SampleStats};
use crate::wire::{Field, RowCount, RowType, TypeCode};

type Owned = (i64, String);

fn row_type() -> RowType {
    RowType::new([
        Field::new("id", TypeCode::Int64.into()),
        Field::new("name", TypeCode::String.into()),
    ])
}

fn texts(texts: &str) -> SampleMessage {
    SampleMessage::of(texts.split_whitespace().map(Sample::text))
}

/// Nine rows in five messages: two whole, one begun; its end and one whole; an end
/// inside a value; its end, two whole with one that cannot be read between; one whole.
fn messages() -> Vec<Bytes> {
    [
        texts("0 zero 1 one 2").columns(&row_type()),
        texts("two 3 three"),
        texts("4 fo").chunked(),
        texts("ur 5 five bad six 7 seven"),
        texts("8 eight"),
    ]
    .iter()
    .map(SampleMessage::encode)
    .collect()
}

const NAMES: [&str; 9] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
];

fn whole<T: crate::SpannerRow>() -> RowReader<T> {
    let mut reader = RowReader::new(&RetrySettings::new());
    for message in messages() {
        reader.receive(message);
    }
    reader.end();
    reader
}

/// Each row must be as it was sent, the bad one an error that tells its number.
fn check(rows: Vec<Result<Owned, Error>>, from: usize) {
    assert_eq!(rows.len(), 9 - from);
    for (row, number) in rows.into_iter().zip(from..) {
        match row {
            Ok(row) => assert_eq!(row, (number as i64, NAMES[number].to_owned())),
            Err(error) => {
                assert_eq!(number, 6);
                assert!(error.is_row_error());
                assert!(
                    error.to_string().contains("row 6, column 0 `id`"),
                    "{error}"
                );
            }
        }
    }
}

fn owned(row: (i64, &str)) -> Owned {
    (row.0, row.1.to_owned())
}

#[test]
fn one_by_one() {
    let mut reader = whole::<(i64, &str)>();
    let mut rows = Vec::new();
    while let Some(row) = reader.next().map(|row| row.map(owned)).transpose() {
        rows.push(row);
    }
    check(rows, 0);
    assert!(reader.next().unwrap().is_none());

    let mut reader = whole::<Owned>();
    let mut rows = Vec::new();
    while let Some(row) = reader
        .next()
        .map(|row| row.map(|row| row.clone()))
        .transpose()
    {
        rows.push(row);
    }
    check(rows, 0);

    let mut reader = whole::<Owned>();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_owned().transpose() {
        rows.push(row);
    }
    check(rows, 0);
}

#[test]
fn each_row_at_once() {
    let mut reader = whole::<(i64, &str)>();
    let mut rows = Vec::new();
    loop {
        match reader.for_each(&mut |row| rows.push(Ok(owned(row)))) {
            Ok(()) => break,
            Err(error) => rows.push(Err(error)),
        }
    }
    check(rows, 0);
}

#[test]
fn batches_from_any_row_on() {
    // The rows of each message that completes any.
    let sizes = [2, 2, 4, 1];
    for before in 0..9 {
        let mut reader = whole::<(i64, &str)>();
        for _ in 0..before {
            let _ = reader.next();
        }
        let mut rows = Vec::new();
        let mut lens = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            assert!(!batch.is_empty());
            assert_eq!(batch.row_type(), &row_type());
            lens.push(batch.len());
            let each: Vec<_> = (0..batch.len()).map(|i| batch.row(i).map(owned)).collect();
            for (one, other) in each.iter().zip(&batch) {
                assert_eq!(one.as_ref().ok(), other.map(owned).ok().as_ref());
            }
            let mut ends = batch.iter();
            assert_eq!(ends.len(), batch.len());
            let mut backwards = Vec::new();
            while let Some(row) = ends.next_back() {
                backwards.push(row.map(owned).ok());
                assert_eq!(ends.size_hint(), (ends.len(), Some(ends.len())));
                assert_eq!(ends.len(), batch.len() - backwards.len());
            }
            assert!(ends.next().is_none() && ends.next_back().is_none());
            backwards.reverse();
            let forwards: Vec<_> = batch.iter().map(|row| row.map(owned).ok()).collect();
            assert_eq!(forwards, backwards);
            rows.extend(each);
        }
        check(rows, before);
        let mut left = before;
        let expected: Vec<_> = sizes
            .into_iter()
            .map(|size| {
                let rest = usize::saturating_sub(size, left);
                left = left.saturating_sub(size);
                rest
            })
            .filter(|rest| *rest > 0)
            .collect();
        assert_eq!(lens, expected);
    }
}

#[test]
fn both_ends_of_a_batch_meet() {
    let mut reader = whole::<(i64, &str)>();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        batches.push(batch);
    }
    let mut rows = batches[2].iter();
    assert_eq!(rows.next().unwrap().unwrap(), (4, "four"));
    assert_eq!(rows.next_back().unwrap().unwrap(), (7, "seven"));
    assert_eq!(rows.next().unwrap().unwrap(), (5, "five"));
    assert!(rows.next_back().unwrap().is_err());
    assert!(rows.next().is_none() && rows.next_back().is_none());
    assert_eq!(rows.len(), 0);
}

#[test]
#[should_panic(expected = "row 2 of a batch of 2 rows")]
fn a_row_behind_the_batch() {
    let mut reader = whole::<(i64, &str)>();
    let batch = reader.next_batch().unwrap().unwrap();
    let _ = batch.row(2);
}

#[test]
fn ways_take_turns() {
    let mut reader = whole::<Owned>();
    assert_eq!(reader.next().unwrap().unwrap().0, 0);
    assert_eq!(reader.next_owned().unwrap().unwrap().0, 1);
    assert_eq!(reader.next().unwrap().unwrap().0, 2);
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!(batch.len(), 1);
    assert_eq!(batch.row(0).unwrap().0, 3);
    assert_eq!(reader.next().unwrap().unwrap().0, 4);
    let mut rest = Vec::new();
    let error = reader.for_each(&mut |row| rest.push(row.0)).unwrap_err();
    assert!(error.to_string().contains("row 6,"), "{error}");
    reader.for_each(&mut |row| rest.push(row.0)).unwrap();
    assert_eq!(rest, [5, 7, 8]);
    assert!(reader.next_batch().unwrap().is_none());
    assert!(reader.next_owned().unwrap().is_none());
}

#[test]
fn rows_are_ready_when_they_are_released() {
    let mut reader = RowReader::<(i64, &str)>::new(&RetrySettings::new());
    assert!(reader.row_type().is_none() && reader.metadata().is_none());
    assert!(!reader.is_ready(1).unwrap());
    let mut messages = messages().into_iter();
    let first = messages.next().unwrap();
    let len = first.len();
    reader.receive(first);
    assert!(reader.held_bytes() > len);
    assert_eq!(reader.row_type(), Some(&row_type()));
    assert!(reader.metadata().is_none(), "a restart may change it");
    reader.bind().unwrap();
    assert!(reader.is_ready(0).unwrap());
    assert!(!reader.is_ready(1).unwrap());
    assert!(!reader.is_finished());
    for message in messages {
        reader.receive(message);
    }
    reader.end();
    assert!(reader.is_finished());
    assert_eq!(reader.held_bytes(), 0);
    assert!(reader.is_ready(9).unwrap());
    assert!(!reader.is_ready(10).unwrap());
    for taken in 1..=9 {
        let _ = reader.next();
        assert!(reader.is_ready(9 - taken).unwrap());
        assert!(!reader.is_ready(10 - taken).unwrap());
    }
    assert_eq!(reader.metadata().unwrap().row_type(), &row_type());

    let mut reader = whole::<(i64, &str)>();
    assert!(reader.is_ready(9).unwrap());
    let _ = reader.next_batch().unwrap().unwrap();
    assert!(reader.is_ready(7).unwrap());
    assert!(!reader.is_ready(8).unwrap());
}

#[test]
fn a_row_that_does_not_fit_ends_the_result() {
    for early in [true, false] {
        let mut reader = RowReader::<(i64, bool)>::new(&RetrySettings::new().hold_messages(0));
        let mut messages = messages().into_iter();
        reader.receive(messages.next().unwrap());
        if early {
            assert!(reader.bind().unwrap_err().to_string().contains("`name`"));
        }
        let error = reader.next().unwrap_err();
        assert!(!error.is_row_error());
        assert!(error.to_string().contains("`name`"), "{error}");
        assert!(reader.is_finished());
        reader.receive(messages.next().unwrap());
        assert!(reader.next().unwrap().is_none());
        assert!(reader.next_batch().unwrap().is_none());
        assert!(!reader.is_ready(1).unwrap());
    }
}

/// The rows before are released by the token and not handed out yet.
#[test]
fn a_restart_goes_on_behind_the_token() {
    let mut reader = RowReader::<(i64, &str)>::new(&RetrySettings::new());
    let mut messages = messages().into_iter();
    reader.receive(messages.next().unwrap());
    let message = texts("two 3 three").token("t").encode();
    reader.receive(message);
    reader.receive(texts("4 lost").encode());
    let retry = reader.fail(unavailable(), Duration::ZERO, 0).unwrap();
    assert_eq!((&retry.resume_token[..], retry.attempt), (&b"t"[..], 2));
    reader.receive(texts("4 fo").chunked().encode());
    reader.receive(texts("ur").encode());
    reader.end();
    let mut rows = Vec::new();
    reader.for_each(&mut |row| rows.push(owned(row))).unwrap();
    let expected: Vec<_> = (0..5).map(|i| (i, NAMES[i as usize].to_owned())).collect();
    assert_eq!(rows, expected);
}

/// Bound early, and bound again when the columns are others after all.
#[test]
fn a_restart_may_bring_the_columns_in_another_order() {
    let mut reader = RowReader::<Row<'_>>::new(&RetrySettings::new());
    reader.receive(messages().swap_remove(0));
    reader.bind().unwrap();
    assert_eq!(reader.row_type().unwrap().position("name"), Some(1));
    assert!(reader.fail(unavailable(), Duration::ZERO, 0).is_some());
    let others = RowType::new(row_type().fields().iter().rev().cloned());
    let message = texts("zero 0 one 1").columns(&others).token("t");
    reader.receive(message.encode());
    reader.receive(texts("two 2").encode());
    reader.end();
    for (i, name) in NAMES.iter().take(3).enumerate() {
        let row = reader.next().unwrap().unwrap();
        assert_eq!(row.get::<i64>("id").unwrap(), i as i64);
        assert_eq!(row.get::<&str>("name").unwrap(), *name);
    }
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn what_is_told_of_the_result() {
    let mut message = texts("1 one").columns(&row_type()).last();
    message.metadata = Some(SampleMetadata {
        row_type: Some(row_type()),
        transaction_id: b"tx".to_vec(),
        read_timestamp: Some((7, 8)),
        ..SampleMetadata::default()
    });
    message.precommit = Some((b"token".to_vec(), 3));
    message.stats = Some(SampleStats {
        exact: Some(1),
        ..SampleStats::default()
    });
    let mut reader =
        RowReader::<(i64, &str)>::new(&RetrySettings::new()).expecting_transaction_id();
    assert!(reader.transaction_id().is_none() && reader.stats().is_none());
    reader.receive(message.encode());
    assert_eq!(reader.read_timestamp(), Timestamp::new(7, 8));
    assert_eq!(reader.transaction_id().unwrap(), &b"tx"[..]);
    assert_eq!(reader.precommit_token().unwrap().token(), &b"token"[..]);
    assert_eq!(reader.precommit_token().unwrap().seq_num(), 3);
    assert_eq!(
        reader.stats().unwrap().row_count(),
        Some(RowCount::Exact(1))
    );
    assert!(reader.is_finished());

    let mut reader =
        RowReader::<(i64, &str)>::new(&RetrySettings::new()).expecting_transaction_id();
    reader.receive(texts("1 one").columns(&row_type()).encode());
    let error = reader.next().unwrap_err();
    assert!(
        error.to_string().contains("no transaction returned"),
        "{error}"
    );
}

/// A batch that is used up is let go of before the next is asked for.
#[test]
fn a_used_batch_is_not_kept() {
    let mut reader = RowReader::<(i64, &str)>::new(&RetrySettings::new().hold_messages(0));
    let first = Bytes::from(texts("0 zero 1 one").columns(&row_type()).encode().to_vec());
    reader.receive(first.clone());
    assert!(reader.next().unwrap().is_some());
    assert!(reader.next().unwrap().is_some());
    assert!(!first.is_unique());
    assert!(reader.next().unwrap().is_none());
    assert!(first.is_unique());
    let second = Bytes::from(texts("2 two 3 three").encode().to_vec());
    reader.receive(second.clone());
    reader.receive(texts("4 four").encode());
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!(reader.next().unwrap().unwrap(), (4, "four"));
    assert!(!second.is_unique(), "the batch has it");
    drop(batch);
    assert!(second.is_unique());
    reader.end();
    assert!(reader.next().unwrap().is_none());
}
