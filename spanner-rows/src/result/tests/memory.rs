//! What is kept for later, and what is not.

use bytes::Bytes;

use crate::result::assembler::{Assembler, Batch, Spares};
use crate::row::segment::Segment;
use crate::row::tables::Tables;
use crate::wire::message::{Layout, Message};
use crate::wire::samples::{Sample, SampleMessage, strategy};

/// Takes messages of two columns.
#[derive(Default)]
struct Taker {
    assembler: Assembler,
    spares: Spares,
    layout: Layout,
}

impl Taker {
    fn take(&mut self, texts: &str) -> (Bytes, Batch) {
        let mut message = SampleMessage::of(texts.split_whitespace().map(Sample::text));
        if self.layout.columns.is_none() {
            message = message.columns(&strategy::columns(2));
        }
        // Of a vector, so that it tells who has it.
        let wire = Bytes::from(message.encode().to_vec());
        let message = Message::parse(wire.clone(), self.layout, self.spares.take()).unwrap();
        self.layout = message.after;
        let batch = self.assembler.take(message, &mut self.spares).unwrap();
        (wire, batch)
    }
}

#[test]
fn a_message_is_kept_for_whole_rows_only() {
    let mut taker = Taker::default();
    let (wire, batch) = taker.take("a b c");
    assert_eq!(batch.len(), 1);
    assert!(!wire.is_unique());
    let (wire, batch) = taker.take("d e");
    assert_eq!((batch.len(), batch.rows.rows()), (1, 0));
    assert!(wire.is_unique(), "its row is joined, its rest copied");
    let (wire, batch) = taker.take("f g h");
    assert_eq!((batch.len(), batch.rows.rows()), (2, 1));
    assert!(!wire.is_unique());
    let (wire, batch) = taker.take("i");
    assert!(batch.is_empty());
    assert!(wire.is_unique());
}

#[test]
fn so_many_lists_are_used_again_and_no_more() {
    let mut spares = Spares::default();
    for i in 1..=10 {
        spares.put(Vec::with_capacity(i * 100));
    }
    // Those without memory take no place.
    spares.put(Vec::new());
    let kept: Vec<_> = (0..10).map(|_| spares.take().capacity()).collect();
    assert!(
        kept[..4].iter().all(|capacity| *capacity >= 100),
        "{kept:?}"
    );
    assert!(kept[4..].iter().all(|capacity| *capacity == 0), "{kept:?}");
    spares.put(Vec::new());
    spares.put(vec![1, 2, 3]);
    assert!(spares.take().is_empty(), "emptied");
    for (capacity, kept) in [(16 << 10, true), ((16 << 10) + 1, false)] {
        spares.put(Vec::with_capacity(capacity));
        assert_eq!(spares.take().capacity() >= capacity, kept);
    }
}

#[test]
fn so_many_tables_are_used_again_and_no_more() {
    /// The memory of the tables that come back after so many were given.
    fn kept(bytes: usize, times: usize) -> Vec<usize> {
        let mut spares = Spares::default();
        for _ in 0..times {
            let tables = Some(Box::new(Tables::with_capacity(bytes)));
            spares.put_segment(Segment::new(Bytes::new(), Vec::new(), tables));
        }
        std::iter::from_fn(|| spares.tables())
            .map(|tables| tables.capacity())
            .collect()
    }
    let usual = kept(1_000, 9);
    assert_eq!(usual.len(), 4);
    assert!(usual.iter().all(|bytes| *bytes >= 1_000), "{usual:?}");
    assert_eq!(kept(1 << 20, 1).len(), 1);
    assert!(kept((1 << 20) + 1, 1).is_empty());
}
