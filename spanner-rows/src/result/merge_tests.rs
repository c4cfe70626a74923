use super::{KEPT_CAPACITY, PartialRow};
use crate::error::Error;
use crate::wire::reader::Span;
use crate::wire::samples::{Sample, SampleMessage};

fn append(row: &mut PartialRow, values: Vec<Sample>, chunked: bool) {
    try_append(row, values, chunked).unwrap();
}

fn try_append(row: &mut PartialRow, values: Vec<Sample>, chunked: bool) -> Result<(), Error> {
    let wire = SampleMessage::of(values).encode();
    let span = Span {
        start: 0,
        end: wire.len(),
    };
    row.append(&wire, span, chunked)
}

#[test]
fn pieces_are_appended_where_the_value_is_open() {
    let mut row = PartialRow::default();
    append(&mut row, vec![Sample::Null, Sample::text("a")], true);
    assert!(!row.open.is_empty());
    append(&mut row, vec![Sample::text("b")], true);
    assert!(!row.open.is_empty());
    append(&mut row, vec![Sample::text("c"), Sample::text("d")], false);
    assert!(row.open.is_empty());
    let wire = row.finish();
    assert_eq!(
        Sample::decode_values(&wire),
        [Sample::Null, Sample::text("abc"), Sample::text("d")]
    );
    assert!(row.finish().is_empty(), "nothing is left");
}

/// What Spanner never sends cannot be half of anything, in lists at any level.
#[test]
fn strange_kinds_at_a_seam_are_refused() {
    let list = |elements: &[Sample]| Sample::List(elements.to_vec());
    let one = |element: &Sample| Sample::List(vec![element.clone()]);
    let text = Sample::text("a");
    for strange in [Sample::Struct, Sample::Unset] {
        let ends = [
            strange.clone(),
            list(&[text.clone(), strange.clone()]),
            list(&[text.clone(), one(&strange)]),
        ];
        for value in ends {
            let mut row = PartialRow::default();
            let error = try_append(&mut row, vec![Sample::Null, value.clone()], true);
            let error = error.expect_err("before the seam").to_string();
            assert!(error.contains("only strings and lists can"), "{error}");
            // Away from the seam it is not looked at.
            try_append(&mut PartialRow::default(), vec![value, text.clone()], true).unwrap();
        }
        for (begun, piece) in [
            (list(&[]), one(&strange)),
            (one(&text), list(&[strange.clone(), text.clone()])),
            (one(&list(&[])), one(&one(&strange))),
        ] {
            for goes_on in [false, true] {
                let mut row = PartialRow::default();
                append(&mut row, vec![begun.clone()], true);
                let error = try_append(&mut row, vec![piece.clone()], goes_on);
                let error = error.expect_err("behind the seam").to_string();
                assert!(error.contains("only strings and lists can"), "{error}");
            }
        }
    }
}

/// Filled-in lengths of every size that changes how they are written.
#[test]
fn lengths_are_right_whatever_their_size() {
    for len in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
        let text = "x".repeat(len);
        for value in [
            Sample::text(&text),
            Sample::List(vec![Sample::List(vec![Sample::text(&text)])]),
        ] {
            let mut row = PartialRow::default();
            append(&mut row, vec![value.clone()], true);
            assert_eq!(Sample::decode_values(&row.finish()), [value], "{len}");
        }
    }
}

/// One row is read while the next one begins, and no memory is asked for.
#[test]
fn buffers_are_used_again() {
    const LEN: usize = 300;
    let mut row = PartialRow::default();
    let mut before = None;
    for i in 0..1_000 {
        if i > 10 {
            assert!(row.wire.try_reclaim(2 * LEN), "row {i} needs memory");
        }
        append(&mut row, vec![Sample::text(&"x".repeat(LEN))], true);
        append(&mut row, vec![Sample::text("end")], false);
        before = Some(row.finish());
    }
    assert_eq!(before.unwrap().len(), 1 + 5 + 1 + 5 + LEN + 3);
}

#[test]
fn a_huge_row_takes_its_buffer_with_it() {
    let mut row = PartialRow::default();
    for _ in 0..2 {
        append(&mut row, vec![Sample::text("small")], true);
        drop(row.finish());
    }
    append(
        &mut row,
        vec![Sample::text(&"x".repeat(KEPT_CAPACITY))],
        true,
    );
    assert!(row.finish().len() > KEPT_CAPACITY);
    assert!(!row.other.try_reclaim(KEPT_CAPACITY), "it is gone");
    assert!(row.wire.try_reclaim(10), "the other one stays");
}
