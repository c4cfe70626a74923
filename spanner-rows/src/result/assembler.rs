//! Released messages in, rows out.

use super::merge::PartialRow;
use crate::error::Error;
use crate::row::segment::Segment;
use crate::row::tables::Tables;
use crate::wire::RowType;
use crate::wire::message::{Layout, Message};
use crate::wire::metadata::ResultMetadata;
use crate::wire::stats::ResultStats;

/// The rows that one message completed.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The row that earlier messages began: before the others, in a buffer of its own.
    pub(crate) joined: Option<Segment>,
    /// The rows that came whole, in the message as it was received.
    pub(crate) rows: Segment,
}

impl Batch {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.rows() + usize::from(self.joined.is_some())
    }

    /// The segment that holds row `i`, and the row's place in it.
    #[inline]
    pub(crate) fn locate(&self, i: usize) -> (&Segment, usize) {
        match &self.joined {
            None => (&self.rows, i),
            Some(joined) if i == 0 => (joined, 0),
            Some(_) => (&self.rows, i - 1),
        }
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Puts rows together. Changed by released messages only, so that a stream that
/// broke can go on behind what it has.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    metadata: Option<ResultMetadata>,
    stats: Option<ResultStats>,
    layout: Layout,
    partial: PartialRow,
}

impl Assembler {
    /// Takes in the next message. A message that breaks the rules gives no row at
    /// all, and nothing may follow it.
    pub(crate) fn take(
        &mut self,
        mut message: Message,
        spares: &mut Spares,
    ) -> Result<Batch, Error> {
        if let Some(metadata) = message.metadata.take() {
            self.take_metadata(*metadata)?;
        }
        if self.metadata.is_none() {
            return Err(no_metadata());
        }
        if let Some(stats) = message.stats.take() {
            self.stats = Some(*stats);
        }
        if message.count == 0 {
            spares.put(message.starts);
            return Ok(Batch::default());
        }
        if self.layout.columns == Some(0) {
            return Err(Error::protocol("values came for a result without columns"));
        }
        if message.before != self.layout {
            return Err(Error::protocol(
                "a message was read as if it stood elsewhere in the result",
            ));
        }
        self.layout = message.after;
        self.take_values(message, spares)
    }

    fn take_metadata(&mut self, metadata: ResultMetadata) -> Result<(), Error> {
        let Some(known) = &self.metadata else {
            self.layout.columns = Some(metadata.row_type().len());
            self.metadata = Some(metadata);
            return Ok(());
        };
        if metadata.has_row_type() && metadata.row_type() != known.row_type() {
            return Err(other_row_type(known.row_type(), metadata.row_type()));
        }
        // The first one stays: its read timestamp is that of the rows.
        Ok(())
    }

    fn take_values(&mut self, message: Message, spares: &mut Spares) -> Result<Batch, Error> {
        let wire = &message.wire;
        let completes = !message.starts.is_empty();
        let mut joined = None;
        let head = message.head();
        if head.start < head.end {
            let goes_on = message.chunked && !completes;
            self.partial.append(wire, head, goes_on)?;
            if completes {
                joined = Some(self.partial.finish());
            }
        }
        let tail = message.tail();
        if tail.start < tail.end {
            self.partial.append(wire, tail, message.chunked)?;
        }
        Ok(Batch {
            joined: joined.map(|row| {
                let mut starts = spares.take();
                starts.extend([0, row.len() as u32]);
                Segment::new(row, starts, spares.tables())
            }),
            rows: if message.starts.len() > 1 {
                spares.last_len = message.starts.len().min(Spares::KEPT_STARTS);
                Segment::new(message.wire, message.starts, spares.tables())
            } else {
                // No reason to keep the message.
                spares.put(message.starts);
                Segment::default()
            },
        })
    }

    /// The stream ended well, or nothing more is expected.
    pub(crate) fn end(&self) -> Result<(), Error> {
        match self.layout {
            _ if self.metadata.is_none() => Err(no_metadata()),
            Layout { pending: true, .. } => Err(Error::protocol(
                "the result ended inside a value that was to go on",
            )),
            Layout {
                filled: filled @ 1..,
                columns,
                ..
            } => Err(Error::protocol(format!(
                "the result ended inside a row, after {filled} of {} values",
                columns.unwrap_or_default()
            ))),
            _ => Ok(()),
        }
    }

    /// Where the released messages leave the rows.
    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// The metadata of the result; nothing before the first released message.
    pub(crate) const fn metadata(&self) -> Option<&ResultMetadata> {
        self.metadata.as_ref()
    }

    /// The last statistics released.
    pub(crate) const fn stats(&self) -> Option<&ResultStats> {
        self.stats.as_ref()
    }
}

/// Memory of messages and segments that are done with, to be used again.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    starts: Vec<Vec<u32>>,
    #[expect(clippy::vec_box, reason = "segments hold the same boxes")]
    tables: Vec<Box<Tables>>,
    /// How long the list of the last message was. The next one is likely as long,
    /// and batches never bring theirs back.
    last_len: usize,
}

impl Spares {
    /// Enough for a joined row and a message being read and another being received.
    const KEPT: usize = 4;
    /// A list of row starts longer than this is not kept: a message had very many rows.
    const KEPT_STARTS: usize = 16 << 10;

    /// An empty list of row starts.
    pub(crate) fn take(&mut self) -> Vec<u32> {
        self.starts.pop().unwrap_or_default()
    }

    /// An empty list for the row starts of the next message.
    pub(crate) fn take_for_message(&mut self) -> Vec<u32> {
        let spare = self.starts.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(self.last_len))
    }

    pub(crate) fn put(&mut self, mut starts: Vec<u32>) {
        if self.starts.len() < Self::KEPT && (1..=Self::KEPT_STARTS).contains(&starts.capacity()) {
            starts.clear();
            self.starts.push(starts);
        }
    }

    pub(crate) fn tables(&mut self) -> Option<Box<Tables>> {
        self.tables.pop()
    }

    /// Takes a segment back whose rows are done with.
    pub(crate) fn put_segment(&mut self, segment: Segment) {
        let (starts, tables) = segment.into_parts();
        self.put(starts);
        if self.tables.len() < Self::KEPT {
            self.tables.extend(tables);
        }
    }
}

#[cold]
pub(crate) fn no_metadata() -> Error {
    Error::protocol("no message said which columns the result has")
}

#[cold]
fn other_row_type(known: &RowType, again: &RowType) -> Error {
    Error::protocol(format!(
        "the columns changed in the middle of the result, from {known} to {again}"
    ))
}
