//! What single rules are for: one test per rule that is broken easily.

use std::time::Duration;

use super::support::{Driver, status, unavailable};
use crate::error::{Code, ErrorKind};
use crate::result::assembler::{Assembler, Spares};
use crate::result::reader::ResultReader;
use crate::result::retry::RetrySettings;
use crate::types::timestamp::Timestamp;
use crate::wire::message::{Layout, Message};
use crate::wire::samples::{Sample, SampleMessage, SampleMetadata, SampleStats, strategy};
use crate::wire::{Field, RowCount, RowType, TypeCode};

fn start(settings: RetrySettings, columns: usize) -> Driver {
    let mut driver = Driver::new(ResultReader::new(settings));
    driver.receive(&texts("").columns(&strategy::columns(columns)));
    driver
}

fn texts(texts: &str) -> SampleMessage {
    SampleMessage::of(texts.split_whitespace().map(Sample::text))
}

fn one_column() -> Driver {
    start(RetrySettings::new(), 1)
}

#[test]
fn rows_wait_for_a_token_or_the_end() {
    let mut driver = one_column();
    driver.receive(&texts("a")).receive(&texts("b"));
    assert!(driver.rows.is_empty());
    assert!(driver.reader.held_bytes() > 0);
    driver.receive(&texts("c").token("t"));
    assert_eq!(driver.texts(), ["a", "b", "c"]);
    assert_eq!(driver.reader.held_bytes(), 0);
    driver.receive(&texts("d"));
    assert_eq!(driver.rows.len(), 3);
    driver.end();
    assert_eq!(driver.texts(), ["a", "b", "c", "d"]);
}

#[test]
fn the_same_token_again_is_no_new_point() {
    let mut driver = one_column();
    driver
        .receive(&texts("a").token("t"))
        .receive(&texts("b").token("t"));
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.fail(unavailable()), Some(b"t".to_vec()));
    driver.receive(&texts("b").token("u")).end();
    assert_eq!(driver.texts(), ["a", "b"]);
}

#[test]
fn an_empty_token_is_none() {
    let mut driver = one_column();
    driver
        .receive(&texts("a").token("t"))
        .receive(&texts("b").token(""));
    assert_eq!(driver.fail(unavailable()), Some(b"t".to_vec()));
}

/// `h` is covered by the token and stays; the `e` behind it is not and goes.
#[test]
fn a_token_in_the_middle_of_a_value_keeps_what_it_covers() {
    let mut driver = start(RetrySettings::new(), 2);
    driver
        .receive(&texts("1 h").chunked().token("t"))
        .receive(&texts("e").chunked());
    assert_eq!(driver.fail(unavailable()), Some(b"t".to_vec()));
    driver
        .receive(&texts("el").chunked())
        .receive(&texts("lo"))
        .end();
    assert_eq!(driver.texts(), ["1,hello"]);
    assert!(driver.error.is_none());
}

#[test]
fn held_rows_are_not_handed_out_before_a_final_error() {
    let mut driver = one_column();
    driver.receive(&texts("a").token("t")).receive(&texts("b"));
    assert_eq!(driver.fail(status(Code::PermissionDenied)), None);
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.code(), Some(Code::PermissionDenied));
}

#[test]
fn released_rows_come_before_the_error_even_if_nobody_asked_yet() {
    let mut reader = ResultReader::new(RetrySettings::new());
    let message = texts("a").columns(&strategy::columns(1)).token("t");
    reader.receive(message.encode());
    assert_eq!(reader.fail(status(Code::Aborted), Duration::ZERO, 0), None);
    assert!(reader.is_finished());
    assert_eq!(reader.pop().unwrap().unwrap().len(), 1);
    assert_eq!(reader.pop().unwrap_err().code(), Code::Aborted);
    assert!(reader.pop().unwrap().is_none(), "once");
}

#[test]
fn beyond_the_hold_limit_a_break_is_final() {
    for settings in [
        RetrySettings::new().hold_messages(2),
        RetrySettings::new().hold_bytes(10_000),
    ] {
        let mut driver = start(settings, 1);
        let long = "x".repeat(6_000);
        driver.receive(&texts(&long));
        assert!(driver.rows.is_empty());
        driver.receive(&texts(&long));
        assert_eq!(driver.rows.len(), 2, "the limit is exceeded: both");
        driver.receive(&texts("c"));
        assert_eq!(driver.rows.len(), 3, "and each after them, at once");
        assert_eq!(driver.fail(unavailable()), None);
        assert_eq!(driver.code(), Some(Code::Unavailable));
    }
}

#[test]
fn a_token_makes_it_resumable_again() {
    let mut driver = start(RetrySettings::new().hold_messages(0), 1);
    driver.receive(&texts("a")).receive(&texts("b").token("t"));
    assert_eq!(driver.texts(), ["a", "b"]);
    assert_eq!(driver.fail(unavailable()), Some(b"t".to_vec()));
    driver.receive(&texts("c"));
    assert_eq!(driver.texts(), ["a", "b", "c"], "nothing may be held");
    assert_eq!(driver.fail(unavailable()), None);
}

/// What the limit counts is what is held, not what went through.
#[test]
fn released_bytes_are_not_held() {
    let mut driver = start(RetrySettings::new().hold_bytes(2_000), 1);
    for i in 0..50_u8 {
        driver.receive(&texts("abcdefghijklmnopqrstuvwxyz").token(vec![i + 1]));
        driver.receive(&texts("abcdefghijklmnopqrstuvwxyz"));
        assert_eq!(driver.rows.len(), 2 * usize::from(i) + 1);
    }
}

/// With nothing released the statement simply runs again, and may see other columns.
#[test]
fn a_restart_may_bring_other_metadata() {
    let metadata = |columns, seconds| SampleMetadata {
        row_type: Some(strategy::columns(columns)),
        read_timestamp: Some((seconds, 0)),
        ..SampleMetadata::default()
    };
    let mut driver = Driver::new(ResultReader::new(RetrySettings::new()));
    let mut first = texts("a b c");
    first.metadata = Some(metadata(1, 1));
    first.stats = Some(SampleStats {
        exact: Some(7),
        ..SampleStats::default()
    });
    driver.receive(&first);
    assert_eq!(driver.reader.received_row_type().unwrap().len(), 1);
    assert_eq!(driver.reader.row_type(), None);
    assert_eq!(driver.reader.read_timestamp(), None);

    assert_eq!(driver.fail(unavailable()), Some(vec![]));
    assert_eq!(driver.reader.received_row_type(), None);
    let mut second = texts("a b c");
    second.metadata = Some(metadata(3, 2));
    driver.receive(&second);
    assert_eq!(driver.reader.received_row_type().unwrap().len(), 3);
    assert_eq!(driver.reader.read_timestamp(), None, "held, not released");
    driver.end();
    assert_eq!(driver.texts(), ["a,b,c"]);
    assert_eq!(driver.reader.row_type().unwrap().len(), 3);
    assert_eq!(driver.reader.read_timestamp(), Timestamp::new(2, 0));
    assert_eq!(driver.reader.stats(), None, "those of a dropped message");
}

#[test]
fn columns_never_change_behind_released_rows() {
    let row_type = |name: &str| RowType::new([Field::new(name, TypeCode::String.into())]);
    let mut driver = Driver::new(ResultReader::new(RetrySettings::new()));
    driver
        .receive(&texts("a").columns(&row_type("x")).token("t"))
        .receive(&texts("b").columns(&row_type("x")).token("u"))
        .receive(&texts("c").columns(&row_type("y")).token("v"))
        .receive(&texts("d").token("w"));
    assert_eq!(driver.texts(), ["a", "b"]);
    assert_eq!(driver.code(), Some(Code::Internal));
    let text = driver.error.unwrap().to_string();
    assert!(
        text.contains("from STRUCT<x STRING> to STRUCT<y STRING>"),
        "{text}"
    );
}

/// Repeated metadata may be about the transaction only.
#[test]
fn metadata_without_columns_says_nothing_about_them() {
    let mut driver = one_column();
    driver.receive(&texts("a").token("t"));
    driver.fail(unavailable()).unwrap();
    let mut message = texts("b");
    message.metadata = Some(SampleMetadata {
        read_timestamp: Some((9, 9)),
        ..SampleMetadata::default()
    });
    driver.receive(&message).end();
    assert_eq!(driver.texts(), ["a", "b"]);
    assert_eq!(driver.reader.read_timestamp(), None, "the first counts");
}

#[test]
fn what_a_dropped_message_said_of_the_transaction_stays() {
    let mut driver =
        Driver::new(ResultReader::new(RetrySettings::new()).expecting_transaction_id());
    let mut message = texts("a");
    message.metadata = Some(SampleMetadata {
        row_type: Some(strategy::columns(1)),
        transaction_id: b"T1".to_vec(),
        precommit: Some((b"p5".to_vec(), 5)),
        ..SampleMetadata::default()
    });
    message.precommit = Some((b"p4".to_vec(), 4));
    driver.receive(&message);
    assert_eq!(driver.fail(unavailable()), Some(vec![]));
    assert_eq!(driver.reader.transaction_id().unwrap(), "T1");
    // The repeated request names the transaction, so no id need come.
    let mut again = texts("a").columns(&strategy::columns(1));
    again.precommit = Some((b"p3".to_vec(), 3));
    driver.receive(&again);
    let mut same_number = texts("");
    same_number.precommit = Some((b"q5".to_vec(), 5));
    driver.receive(&same_number).end();
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.reader.precommit_token().unwrap().token, "p5");
}

#[test]
fn the_first_transaction_counts() {
    let mut driver = Driver::new(ResultReader::new(RetrySettings::new()));
    for id in ["T1", "T2"] {
        let mut message = texts("a");
        message.metadata = Some(SampleMetadata {
            row_type: Some(strategy::columns(1)),
            transaction_id: id.into(),
            ..SampleMetadata::default()
        });
        driver.receive(&message);
    }
    assert_eq!(driver.reader.transaction_id().unwrap(), "T1");
}

#[test]
fn statistics_are_those_at_the_end() {
    let stats = |exact| {
        let mut message = texts("a");
        message.stats = Some(SampleStats {
            exact: Some(exact),
            ..SampleStats::default()
        });
        message
    };
    let mut driver = one_column();
    driver
        .receive(&stats(1).token("t"))
        .receive(&stats(2).token("u"));
    assert_eq!(driver.reader.stats(), None);
    driver.end();
    let stats = driver.reader.stats().unwrap();
    assert_eq!(stats.row_count(), Some(RowCount::Exact(2)));
}

#[test]
fn after_the_last_message_nothing_counts() {
    let mut driver = one_column();
    driver.receive(&texts("a"));
    assert!(!driver.reader.is_finished() && !driver.reader.saw_last());
    driver.receive(&texts("b").last());
    assert!(driver.reader.is_finished() && driver.reader.saw_last());
    assert_eq!(driver.texts(), ["a", "b"]);
    driver.receive(&texts("c").token("t"));
    driver.receive_raw(vec![0xff]);
    assert_eq!(driver.fail(unavailable()), None);
    driver.end();
    assert_eq!(driver.texts(), ["a", "b"]);
    assert!(driver.error.is_none());
}

#[test]
fn an_error_is_the_end() {
    let mut driver = one_column();
    driver.receive(&texts("a").token("t"));
    assert_eq!(driver.fail(status(Code::NotFound)), None);
    driver.receive(&texts("b").token("u")).end();
    assert_eq!(driver.fail(unavailable()), None);
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.code(), Some(Code::NotFound));
}

/// Released rows, then the error; nothing of what was held.
#[test]
fn a_malformed_message_is_final() {
    let mut driver = one_column();
    driver.receive(&texts("a").token("t")).receive(&texts("b"));
    driver.receive_raw(b"\x12\x05".to_vec());
    driver.end();
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.code(), Some(Code::Internal));
    assert!(matches!(
        driver.error.as_ref().unwrap().kind(),
        ErrorKind::Wire(error) if error.offset() == 1
    ));
}

/// Rows of the messages before it, none of its own, and nothing of those after it.
#[test]
fn a_message_that_breaks_the_rules_gives_no_row() {
    let mut bad = SampleMessage::of([Sample::text("b"), Sample::Null]);
    bad.chunked = true;
    let mut driver = one_column();
    driver
        .receive(&texts("a"))
        .receive(&bad)
        .receive(&texts("c"))
        .receive(&texts("d").token("t"));
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.code(), Some(Code::Internal));
    assert!(driver.reader.is_finished());
}

#[test]
fn values_without_columns_are_an_error() {
    let mut driver = start(RetrySettings::new(), 0);
    driver.receive(&texts("a")).end();
    assert_eq!(driver.code(), Some(Code::Internal));
}

#[test]
fn a_result_without_any_column_information_fails_at_once() {
    let mut driver = Driver::new(ResultReader::new(RetrySettings::new()));
    driver.receive(&texts(""));
    assert_eq!(driver.code(), Some(Code::Internal));
    assert_eq!(driver.reader.received_row_type(), None);
}

#[test]
fn a_stream_taken_up_at_its_very_end_is_complete() {
    let mut driver = one_column();
    driver.receive(&texts("a").token("t"));
    assert_eq!(driver.fail(unavailable()), Some(b"t".to_vec()));
    driver.end();
    assert_eq!(driver.texts(), ["a"]);
    assert!(driver.error.is_none());
}

#[test]
fn the_end_inside_a_row_is_an_error() {
    let mut driver = start(RetrySettings::new(), 2);
    driver.receive(&texts("a b c").token("t")).end();
    assert_eq!(driver.texts(), ["a,b"]);
    assert_eq!(driver.code(), Some(Code::Internal));
    let text = driver.error.unwrap().to_string();
    assert!(text.contains("after 1 of 2 values"), "{text}");
}

#[test]
fn the_error_tells_how_many_attempts_there_were() {
    let mut driver = one_column();
    for _ in 0..3 {
        assert!(driver.fail(unavailable()).is_some());
    }
    assert_eq!(driver.fail(status(Code::OutOfRange)), None);
    assert!(matches!(
        driver.error.as_ref().unwrap().kind(),
        ErrorKind::Status { attempts: 4, .. }
    ));
}

#[test]
fn attempts_without_progress_are_counted_until_there_is_some() {
    let mut driver = start(RetrySettings::new().max_attempts(3), 1);
    for token in ["t", "u", "v"] {
        assert!(driver.fail(unavailable()).is_some());
        // Messages alone are no progress, nor is the token that is known.
        let first = texts("").columns(&strategy::columns(1));
        driver.receive(&first).receive(&texts("x"));
        assert!(driver.fail(unavailable()).is_some());
        let first = texts("a").columns(&strategy::columns(1));
        driver.receive(&first.token(token));
    }
    assert!(driver.fail(unavailable()).is_some());
    driver.receive(&texts("x").token("v"));
    assert!(driver.fail(unavailable()).is_some());
    assert_eq!(driver.fail(unavailable()), None);
    assert_eq!(driver.texts(), ["a", "a", "a"]);
    assert_eq!(driver.code(), Some(Code::Unavailable));
}

/// The rows are walked before it is known whether they are released; should the
/// two ever disagree about where a message stands, no row may come of it.
#[test]
fn a_message_walked_for_another_place_is_refused() {
    let mut assembler = Assembler::default();
    let mut spares = Spares::default();
    let columns = strategy::columns(2);
    let first = texts("a b c").columns(&columns).encode();
    let first = Message::parse(first, Layout::default(), Vec::new()).unwrap();
    let second = Message::parse(texts("d e").encode(), first.before, Vec::new()).unwrap();
    assert_eq!(assembler.take(first, &mut spares).unwrap().len(), 1);
    let error = assembler.take(second, &mut spares).unwrap_err();
    assert_eq!(error.code(), Code::Internal);
}

/// A joined row is as well formed as one that came whole.
#[test]
fn joined_rows_can_be_walked_again() {
    let mut driver = start(RetrySettings::new(), 2);
    let list = |text| Sample::List(vec![Sample::Null, Sample::List(vec![Sample::text(text)])]);
    let end = |text| Sample::List(vec![Sample::List(vec![Sample::text(text)])]);
    driver.receive(&SampleMessage::of([Sample::text("a"), list("b")]).chunked());
    driver
        .reader
        .receive(SampleMessage::of([end("c")]).token("t").encode());
    let batch = driver.reader.pop().unwrap().unwrap();
    let joined = batch.joined.as_ref().unwrap();
    let wire = bytes::Bytes::copy_from_slice(joined.row_wire(0));
    let layout = Layout {
        columns: Some(2),
        ..Layout::default()
    };
    let message = Message::parse(wire.clone(), layout, Vec::new()).unwrap();
    assert_eq!(message.starts, [0, wire.len() as u32]);
    assert_eq!(
        Sample::decode_values(&wire),
        [Sample::text("a"), list("bc")]
    );
}

/// The tables of a batch that is done with serve the next one, but not huge ones.
#[test]
fn tables_of_rows_are_used_again() {
    for (rows, used_again) in [(1_000, true), (20_000, false)] {
        let mut driver = one_column();
        let many = SampleMessage::of(vec![Sample::Null; rows]);
        driver.receive(&many.token("t"));
        assert_eq!(driver.rows.len(), rows);
        let one = SampleMessage::of([Sample::Null]).token("u").encode();
        driver.reader.receive(one);
        let batch = driver.reader.pop().unwrap().unwrap();
        let table = batch.rows.into_parts().0;
        assert_eq!(table.len(), 2);
        assert_eq!(table.capacity() > rows, used_again, "{rows}");
    }
}

/// A session that is gone takes its tokens along; before there is one, and before
/// anything was handed out, the request means the same on another session.
#[test]
fn a_result_starts_over_on_another_session_only_from_its_beginning() {
    let mut driver = one_column();
    let columns = strategy::columns(1);
    driver.receive(&texts("held").columns(&columns));
    let retry = driver.reader.start_over().unwrap();
    assert_eq!((retry.after, retry.attempt), (Duration::ZERO, 2));
    assert!(retry.resume_token.is_empty());
    assert_eq!(driver.reader.held_bytes(), 0);
    driver.receive(&texts("a").columns(&columns)).end();
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.reader.start_over(), None, "the result is complete");

    let mut driver = one_column();
    driver.receive(&texts("a").token("t"));
    assert_eq!(driver.reader.start_over(), None, "there is a token");

    let mut driver = start(RetrySettings::new().hold_messages(0), 1);
    driver.receive(&texts("a"));
    assert_eq!(driver.texts(), ["a"]);
    assert_eq!(driver.reader.start_over(), None, "a row was handed out");
}
