//! Assembly: rows come out as they were, however they were cut; and any messages at
//! all do what the rules say, as told by a naive assembler.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;

use super::support::{Dice, Driver, Row, cut, next_message};
use crate::result::reader::ResultReader;
use crate::result::retry::RetrySettings;
use crate::wire::samples::{Sample, SampleMessage, strategy};

/// The rules once more, on values instead of bytes: whole values, joined by copying.
#[derive(Debug, Default)]
struct Naive {
    columns: Option<usize>,
    row: Vec<Sample>,
    pending: bool,
}

/// A rule is broken.
#[derive(Debug, PartialEq)]
struct Broken;

impl Naive {
    fn take(&mut self, message: &SampleMessage) -> Result<Vec<Row>, Broken> {
        if let Some(metadata) = &message.metadata {
            let columns = metadata
                .row_type
                .as_ref()
                .map_or(0, |columns| columns.len());
            if *self.columns.get_or_insert(columns) != columns {
                return Err(Broken);
            }
        }
        let columns = self.columns.ok_or(Broken)?;
        if message.values.is_empty() {
            return Ok(vec![]);
        }
        if columns == 0 {
            return Err(Broken);
        }
        let mut values = VecDeque::from(message.values.clone());
        if self.pending {
            let (begun, piece) = (self.row.pop().unwrap(), values.pop_front().unwrap());
            self.row.push(merge(begun, piece)?);
            self.pending = false;
        }
        self.row.extend(values);
        if message.chunked {
            // What is at the end must be able to go on, at every level down.
            self.pending = can_go_on(self.row.last().unwrap());
            if !self.pending {
                return Err(Broken);
            }
        }
        let mut rows = Vec::new();
        while self.row.len() > columns || (self.row.len() == columns && !self.pending) {
            rows.push(self.row.drain(..columns).collect());
        }
        Ok(rows)
    }

    fn end(&self) -> Result<(), Broken> {
        if self.columns.is_none() || self.pending || !self.row.is_empty() {
            return Err(Broken);
        }
        Ok(())
    }
}

fn can_go_on(value: &Sample) -> bool {
    match value {
        Sample::Text(_) => true,
        Sample::List(elements) => elements.last().is_none_or(may_stand_at_seam),
        _ => false,
    }
}

/// Whether a value may be the last one before a seam or the first one behind it.
fn may_stand_at_seam(value: &Sample) -> bool {
    match value {
        Sample::Struct | Sample::Unset => false,
        Sample::List(elements) => elements.last().is_none_or(may_stand_at_seam),
        _ => true,
    }
}

fn merge(a: Sample, b: Sample) -> Result<Sample, Broken> {
    match (a, b) {
        (Sample::Text(a), Sample::Text(b)) => Ok(Sample::Text(a + &b)),
        (Sample::List(mut a), Sample::List(b)) => {
            let mut b = VecDeque::from(b);
            if matches!(b.front(), Some(Sample::Struct | Sample::Unset)) {
                return Err(Broken);
            }
            let both = (a.last(), b.front());
            if let (Some(Sample::Text(_)), Some(Sample::Text(_)))
            | (Some(Sample::List(_)), Some(Sample::List(_))) = both
            {
                let joined = merge(a.pop().unwrap(), b.pop_front().unwrap())?;
                a.push(joined);
            }
            a.extend(b);
            Ok(Sample::List(a))
        }
        _ => Err(Broken),
    }
}

fn reader() -> Driver {
    Driver::new(ResultReader::new(RetrySettings::new()))
}

/// Rows of 1 to 4 columns.
fn table() -> impl Strategy<Value = (usize, Vec<Row>)> {
    (1usize..5).prop_flat_map(|columns| {
        let rows = vec(vec(strategy::value(), columns), 0..7);
        (Just(columns), rows)
    })
}

/// The messages of a server that cuts wherever the dice say.
fn messages(columns: usize, rows: &[Row], dice: &mut Dice) -> Vec<SampleMessage> {
    let mut left: VecDeque<_> = rows.iter().flatten().cloned().collect();
    let mut messages = vec![next_message(&mut left, dice).columns(&strategy::columns(columns))];
    while !left.is_empty() {
        messages.push(next_message(&mut left, dice));
        if messages.len() > 60 {
            messages.push(SampleMessage::of(left.drain(..)));
        }
    }
    messages
}

/// Every way to cut one value in two.
fn all_cuts(value: &Sample) -> Vec<(Sample, Sample)> {
    let mut cuts = Vec::new();
    for at in 0..8 {
        for inner in 0..16 {
            for third in 0..4 {
                let dice = vec![at, inner, third, inner, third];
                cuts.extend(cut(value, &mut Dice::new(dice)));
            }
        }
    }
    cuts
}

#[test]
fn a_value_may_be_cut_anywhere() {
    let text = |text| Sample::text(text);
    let value = Sample::List(vec![
        text("ab"),
        Sample::Null,
        Sample::List(vec![]),
        Sample::List(vec![text(""), Sample::Number(1.0), text("h\u{e9}")]),
        Sample::Bool(true),
        text("z"),
    ]);
    let cuts = all_cuts(&value);
    for (i, (begin, rest)) in cuts.iter().enumerate() {
        for (middle, end) in all_cuts(rest).into_iter().step_by(31) {
            let mut driver = reader();
            driver
                .receive(
                    &SampleMessage::of([begin.clone()])
                        .columns(&strategy::columns(2))
                        .chunked(),
                )
                .receive(&SampleMessage::of([middle]).chunked())
                .receive(&SampleMessage::of([end, text("next")]))
                .end();
            assert_eq!(driver.rows, [[value.clone(), text("next")]], "cut {i}");
        }
    }
    assert!(cuts.len() > 100);
}

/// What is joined costs by the bytes, not by the pieces times the bytes: a cell of
/// 10 MiB in 5,000 pieces, as a text and deep in lists, within seconds even unoptimised.
#[test]
fn a_huge_cell_in_many_pieces() {
    let piece = Sample::text(&"x".repeat(2_000));
    for depth in [0, 3] {
        let piece = (0..depth).fold(piece.clone(), |piece, _| Sample::List(vec![piece]));
        let message = SampleMessage::of([piece]).chunked().encode();
        let mut driver = reader();
        driver.receive(&SampleMessage::of([]).columns(&strategy::columns(1)));
        for i in 0..5_000 {
            driver.reader.receive(message.clone());
            if i == 2_000 {
                let empty = SampleMessage::of([]).chunked();
                driver.receive(&empty);
            }
        }
        let end = (0..depth).fold(Sample::text("end"), |piece, _| Sample::List(vec![piece]));
        driver.receive(&SampleMessage::of([end])).end();
        let mut value = driver.rows[0][0].clone();
        for _ in 0..depth {
            value = match value {
                Sample::List(mut elements) if elements.len() == 1 => elements.remove(0),
                other => panic!("{other:?}"),
            };
        }
        let Sample::Text(text) = value else {
            panic!("{value:?}");
        };
        assert_eq!(text.len(), 10_000_003);
        assert!(text.starts_with("xxx") && text.ends_with("xend"));
    }
}

/// Lists deeper than values may be are refused, and nothing overflows.
#[test]
fn deep_lists_are_refused() {
    for (depth, fits) in [(90, true), (99, true), (100, false), (5_000, false)] {
        let deep = || {
            let mut wire = Vec::new();
            Sample::text("a").encode(&mut wire);
            for _ in 0..depth {
                let mut outer = Vec::new();
                crate::wire::writer::put_bytes(&mut outer, 0x0a, &wire);
                wire.clear();
                crate::wire::writer::put_bytes(&mut wire, 0x32, &outer);
            }
            let mut message = Vec::new();
            crate::wire::writer::put_bytes(&mut message, 0x12, &wire);
            message.extend_from_slice(b"\x18\x01");
            message
        };
        let mut driver = reader();
        driver.receive(&SampleMessage::of([]).columns(&strategy::columns(1)));
        driver.receive_raw(deep());
        driver.receive_raw(deep());
        driver.reader.end();
        let error = driver.reader.pop().unwrap_err().to_string();
        let expected = if fits {
            "inside a value"
        } else {
            "nested too deeply"
        };
        assert!(error.contains(expected), "depth {depth}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn any_split_gives_the_same_rows(
        (columns, rows) in table(),
        dice in vec(any::<u16>(), 0..200),
    ) {
        let mut driver = reader();
        for message in messages(columns, &rows, &mut Dice::new(dice)) {
            driver.receive(&message);
        }
        driver.end();
        prop_assert!(driver.error.is_none(), "{:?}", driver.error);
        prop_assert_eq!(driver.rows, rows);
    }

    /// Messages that mean nothing together, each released at once.
    #[test]
    fn any_messages_do_what_the_rules_say(
        columns in 0usize..4,
        messages in vec(
            (vec(strategy::any_value(), 0..5), any::<bool>(), prop::option::weighted(0.1, 0usize..4)),
            0..7,
        ),
    ) {
        let mut naive = Naive::default();
        let mut driver = reader();
        let mut expected = Vec::new();
        let mut broken = None;
        for (i, (values, chunked, again)) in messages.into_iter().enumerate() {
            let mut message = SampleMessage::of(values).token(vec![i as u8 + 1]);
            message.chunked = chunked;
            if let Some(columns) = again.or_else(|| (i == 0).then_some(columns)) {
                message = message.columns(&strategy::columns(columns));
            }
            driver.receive(&message);
            match naive.take(&message) {
                Ok(rows) => expected.extend(rows),
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
            prop_assert_eq!(&driver.rows, &expected, "rows come out at once");
        }
        driver.end();
        let broken = broken.or_else(|| naive.end().err());
        prop_assert_eq!(&driver.rows, &expected);
        prop_assert_eq!(driver.code(), broken.map(|_| crate::error::Code::Internal));
        prop_assert!(driver.reader.is_finished());
    }

    #[test]
    fn no_bytes_make_it_panic(
        messages in vec(
            (vec(strategy::any_value(), 0..4), any::<bool>(), vec((any::<prop::sample::Index>(), any::<u8>()), 0..3)),
            0..6,
        ),
    ) {
        let mut reader = ResultReader::new(RetrySettings::new());
        reader.receive(SampleMessage::of([]).columns(&strategy::columns(2)).encode());
        for (i, (values, chunked, damage)) in messages.into_iter().enumerate() {
            let mut message = SampleMessage::of(values).token(vec![i as u8 + 1]);
            message.chunked = chunked;
            let mut wire = message.encode().to_vec();
            for (at, byte) in damage {
                let at = at.index(wire.len());
                wire[at] = byte;
            }
            reader.receive(wire.into());
            while let Ok(Some(batch)) = reader.pop() {
                for rows in batch.joined.into_iter().chain([batch.rows]) {
                    reader.recycle(rows);
                }
            }
        }
        reader.end();
        let _ = reader.pop();
    }
}
