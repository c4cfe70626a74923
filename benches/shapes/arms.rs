//! The ways of reading the messages of a result that are measured beside each other.

use std::hint::black_box;

use bytes::Bytes;
use googleapis_tonic_google_spanner_v1::google::spanner::v1::PartialResultSet;
use prost::Message as _;
use spanner_rows::{OwnedRow, RetrySettings, Row, RowReader, SpannerRow};

use super::Shape;
use super::content::{Content, Discard, Hashes, Sink};
use super::messages::{Messages, whole};
use super::rows::Pair;
use super::{
    CustomerShape, Exact12Shape, NarrowShape, NullCustomerShape, NullStrings8Shape, SingleShape,
    Strings8Shape, TextCustomerShape, TextStrings8Shape, Vary8Shape, Wide10Shape,
};

/// What the others are compared with.
pub(crate) const PROST: &str = "prost + convert";

/// A shape with its arms.
pub(crate) struct Subject {
    pub(crate) shape: &'static str,
    pub(crate) messages: fn(usize) -> Messages,
    pub(crate) arms: Vec<Arm>,
}

/// One way of reading.
pub(crate) struct Arm {
    pub(crate) name: &'static str,
    /// Reads all messages and looks at nothing.
    pub(crate) time: fn(&[Bytes]),
    /// Reads all messages and tells what they contain; `None` for an arm that
    /// does not read values.
    pub(crate) content: Option<fn(&[Bytes]) -> Hashes>,
}

/// Every shape of the tables, and its variants.
pub(crate) fn subjects() -> Vec<Subject> {
    vec![
        subject::<CustomerShape>(),
        subject::<Exact12Shape>(),
        subject::<Strings8Shape>(),
        subject::<NarrowShape>(),
        subject::<Wide10Shape>(),
        subject::<SingleShape>(),
        subject::<Vary8Shape>(),
        subject::<NullCustomerShape>(),
        subject::<TextCustomerShape>(),
        subject::<NullStrings8Shape>(),
        subject::<TextStrings8Shape>(),
    ]
}

impl Subject {
    /// Every arm reads the same.
    ///
    /// # Panics
    ///
    /// When one does not.
    pub(crate) fn check(&self, messages: &Messages) {
        let content = |arm: &Arm| Some((arm.name, arm.content?(&messages.encoded)));
        let mut contents = self.arms.iter().filter_map(content);
        let (_, expected) = contents.next().expect("an arm that reads");
        assert_eq!(expected.rows, messages.rows, "{}", self.shape);
        for (arm, read) in contents {
            assert_eq!(read.rows, messages.rows, "{}, {arm}", self.shape);
            // An arm that reads one column says nothing of those before it.
            let unread = super::content::Hash::default();
            for (column, (found, expected)) in
                read.columns.iter().zip(&expected.columns).enumerate()
            {
                let skipped = column + 1 < read.columns.len() && *found == unread;
                let is_partial = arm == ROW_ONE;
                assert!(
                    found == expected || (is_partial && skipped),
                    "{}, {arm}: column {column} differs",
                    self.shape
                );
            }
            assert_eq!(read.columns.len(), expected.columns.len());
        }
    }
}

const ROW_ONE: &str = "Row, last column";

macro_rules! arm {
    ($name:expr, $read:expr) => {
        Arm {
            name: $name,
            time: |messages| $read(messages, &mut Discard),
            content: Some(|messages| {
                let mut hashes = Hashes::default();
                $read(messages, &mut hashes);
                hashes
            }),
        }
    };
    (unread $name:expr, $read:expr) => {
        Arm {
            name: $name,
            time: $read,
            content: None,
        }
    };
}

fn subject<S: Shape>() -> Subject {
    Subject {
        shape: S::NAME,
        messages: whole::<S>,
        arms: vec![
            arm!(PROST, prost_convert::<S::Row>),
            arm!(unread "prost alone", prost_alone),
            arm!("borrowed next", next::<S::Row>),
            arm!("borrowed for_each", for_each::<S::Row>),
            arm!("borrowed batch", batch::<S::Row>),
            arm!("owned reused", next::<<S::Row as Pair>::Owned>),
            arm!("owned fresh", fresh::<<S::Row as Pair>::Owned>),
            arm!("Row, all columns", row_all::<S::Row>),
            arm!(ROW_ONE, row_last::<S::Row>),
            arm!(unread "walk only", walk::<S::Row>),
            arm!(unread "memcpy", memcpy),
        ],
    }
}

/// Feeds the messages to a reader, one by one, and has `read` take the rows.
fn feed<T: SpannerRow>(messages: &[Bytes], mut read: impl FnMut(&mut RowReader<T>)) {
    let mut rows = RowReader::<T>::new(&RetrySettings::default());
    for message in messages {
        rows.receive(message.clone());
        read(&mut rows);
    }
}

fn next<T: SpannerRow>(messages: &[Bytes], sink: &mut impl Sink)
where
    for<'row> T::Lent<'row>: Content,
{
    feed::<T>(messages, |rows| {
        while let Some(row) = rows.next().expect("good rows") {
            sink.row(&row);
        }
    });
}

fn for_each<T: SpannerRow>(messages: &[Bytes], sink: &mut impl Sink)
where
    for<'row> T::Lent<'row>: Content,
{
    feed::<T>(messages, |rows| {
        rows.for_each(&mut |row| sink.row(&row)).expect("good rows");
    });
}

fn batch<T: SpannerRow>(messages: &[Bytes], sink: &mut impl Sink)
where
    for<'row> T::Row<'row>: Content,
{
    feed::<T>(messages, |rows| {
        while let Some(batch) = rows.next_batch().expect("good rows") {
            for row in &batch {
                sink.row(&row.expect("a good row"));
            }
        }
    });
}

fn fresh<T: OwnedRow + Content>(messages: &[Bytes], sink: &mut impl Sink) {
    feed::<T>(messages, |rows| {
        while let Some(row) = rows.next_owned().expect("good rows") {
            sink.row(&row);
        }
    });
}

/// Without a struct: every column asked for by its position.
fn row_all<P: Pair>(messages: &[Bytes], sink: &mut impl Sink) {
    feed::<Row<'static>>(messages, |rows| {
        while let Some(row) = rows.next().expect("good rows") {
            sink.row(&P::read(&row).expect("a good row"));
        }
    });
}

/// Without a struct: one column, behind all others.
fn row_last<P: Pair>(messages: &[Bytes], sink: &mut impl Sink) {
    feed::<Row<'static>>(messages, |rows| {
        while let Some(row) = rows.next().expect("good rows") {
            let value = P::read_last(&row).expect("a good value");
            sink.value(P::LAST, &value);
        }
    });
}

/// What a program pays that decodes with prost and moves the values out.
fn prost_convert<P: Pair>(messages: &[Bytes], sink: &mut impl Sink) {
    for message in messages {
        let message = PartialResultSet::decode(message.clone()).expect("a good message");
        let values = message.values.into_iter();
        let mut kinds = values.map(|value| value.kind.expect("every value has a kind"));
        while let Some(row) = P::convert(&mut kinds) {
            sink.row(&row);
        }
    }
}

fn prost_alone(messages: &[Bytes]) {
    for message in messages {
        let message = PartialResultSet::decode(message.clone()).expect("a good message");
        black_box(&message);
    }
}

/// Up to the rows, and none of them read.
fn walk<T: SpannerRow>(messages: &[Bytes]) {
    feed::<T>(messages, |rows| {
        while let Some(batch) = rows.next_batch().expect("good rows") {
            black_box(&batch);
        }
    });
}

/// What it costs to touch the bytes once.
fn memcpy(messages: &[Bytes]) {
    let mut copy = Vec::new();
    for message in messages {
        copy.clear();
        copy.extend_from_slice(message);
        black_box(&copy);
    }
}
