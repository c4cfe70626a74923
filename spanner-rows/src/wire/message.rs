//! One received `PartialResultSet`, walked once: the rows are counted and their
//! starts kept, everything else is read.
//!
//! Token, `last` and the chunked flag come after the values on the wire, and
//! nothing of a message may be used before they are known.

use bytes::Bytes;

use super::error::{WireError, WireErrorKind};
use super::metadata::{MetadataParts, PrecommitToken, ResultMetadata};
use super::reader::{self, FieldAt, Fields, Span};
use super::row_type::Field;
use super::stats::{ResultStats, StatsParts};
use super::value::VALUES_TAG;
use super::writer::put_bytes;

/// The largest message that is read, and the limit of protobuf itself. Places in
/// a message therefore fit a `u32`.
pub(crate) const MAX_LEN: usize = (u32::MAX / 2) as usize;

/// Where in the rows a message begins or ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The number of columns; `None` before any metadata.
    pub(crate) columns: Option<usize>,
    /// How many values of the row that is not complete yet are.
    pub(crate) filled: usize,
    /// Whether the value after those has begun.
    pub(crate) pending: bool,
}

impl Layout {
    /// Whether a row is begun and not complete.
    pub(crate) const fn mid_row(self) -> bool {
        self.filled > 0 || self.pending
    }

    /// The layout behind `count` values, the last of them incomplete if `chunked`.
    const fn after(self, count: usize, chunked: bool) -> Self {
        let columns = match self.columns {
            Some(columns) if columns > 0 && count > 0 => columns,
            _ => return self,
        };
        Self {
            columns: self.columns,
            filled: (self.filled + count - chunked as usize) % columns,
            pending: chunked,
        }
    }
}

/// One message of a result, whose values stand in one run in `wire`: the end of a
/// row that earlier messages began (the head), whole rows, and the begin of a row
/// that later messages complete (the tail). Each of the three may be missing.
#[derive(Debug)]
pub(crate) struct Message {
    /// The message as received; or, when its values were scattered, only those.
    pub(crate) wire: Bytes,
    /// Where the values lie in `wire`.
    pub(crate) values: Span,
    /// How many values there are.
    pub(crate) count: usize,
    /// Where the whole rows start and, behind them, where the last one ends.
    /// Nothing at all when the head does not complete its row.
    pub(crate) starts: Vec<u32>,
    /// Whether the last value goes on in the next message that has values.
    pub(crate) chunked: bool,
    /// Where in the rows the message begins.
    pub(crate) before: Layout,
    /// Where in the rows it ends.
    pub(crate) after: Layout,
    /// The length of the message as received.
    pub(crate) encoded_len: usize,
    pub(crate) metadata: Option<Box<ResultMetadata>>,
    /// Where the stream can be taken up again behind this message; empty for nowhere.
    pub(crate) resume_token: Bytes,
    pub(crate) stats: Option<Box<ResultStats>>,
    pub(crate) precommit: Option<PrecommitToken>,
    /// Whether the server says that no message follows.
    pub(crate) last: bool,
}

impl Message {
    /// Walks a message that begins where `layout` says. `starts` is a buffer to use.
    pub(crate) fn parse(
        wire: Bytes,
        layout: Layout,
        mut starts: Vec<u32>,
    ) -> Result<Self, WireError> {
        if wire.len() > MAX_LEN {
            return Err(WireError::new(WireErrorKind::TooLarge, 0));
        }
        let whole = Span {
            start: 0,
            end: wire.len(),
        };
        let mut control = Control::default();
        let start = control.read_until_values(&wire, whole)?;
        let before = control.layout(layout);
        let walk = walk(&wire, start, before, &mut starts)?;
        if !control.read_rest(&wire, walk.end, layout)? {
            return Self::parse_scattered(wire, layout, starts);
        }
        Ok(control.into_message(wire, whole.end, start, before, walk, starts))
    }

    /// Walks a message whose values do not stand in one run after the metadata:
    /// they are put into one first. Legal, and no known server does it.
    #[cold]
    pub(crate) fn parse_scattered(
        wire: Bytes,
        layout: Layout,
        mut starts: Vec<u32>,
    ) -> Result<Self, WireError> {
        let mut control = Control::default();
        let mut gathered = Vec::with_capacity(wire.len());
        let whole = Span {
            start: 0,
            end: wire.len(),
        };
        let mut fields = Fields::new(&wire, whole);
        while let Some(field) = fields.next()? {
            if field.tag.field == VALUES_FIELD {
                put_bytes(&mut gathered, VALUES_TAG, field.message()?.of(&wire));
            } else {
                control.read(&wire, field)?;
            }
        }
        let before = control.layout(layout);
        let walk = walk(&gathered, 0, before, &mut starts)?;
        Ok(control.into_message(gathered.into(), whole.end, 0, before, walk, starts))
    }

    /// The memory that the message takes while it is held back, a block of its own
    /// supposed. An empty one takes some too, and columns more than they took on the wire.
    pub(crate) fn held_len(&self) -> usize {
        let columns = self.metadata.as_ref().map_or(0, |metadata| {
            metadata.row_type().len() + metadata.undeclared_parameters().len()
        });
        size_of::<Self>()
            .saturating_add(self.encoded_len)
            .saturating_add(size_of_val(&*self.starts))
            .saturating_add(columns.saturating_mul(size_of::<Field>()))
    }

    /// The values that go on with a row of earlier messages.
    pub(crate) fn head(&self) -> Span {
        let end = match self.starts.first() {
            Some(start) => *start as usize,
            None => self.values.end,
        };
        Span {
            start: self.values.start,
            end,
        }
    }

    /// The values of the row that later messages complete.
    pub(crate) fn tail(&self) -> Span {
        let start = match self.starts.last() {
            Some(end) => *end as usize,
            None => self.values.end,
        };
        Span {
            start,
            end: self.values.end,
        }
    }
}

const METADATA_FIELD: u32 = 1;
const VALUES_FIELD: u32 = 2;

/// What a walk over the values found.
struct Walk {
    /// Where the values end.
    end: usize,
    count: usize,
    /// Whether the last value is also the last one of its row.
    ends_row: bool,
}

/// Passes over values from `start` on, as long as one follows another, and
/// notes where rows start.
fn walk(
    wire: &[u8],
    start: usize,
    before: Layout,
    starts: &mut Vec<u32>,
) -> Result<Walk, WireError> {
    starts.clear();
    // Without columns there are no rows; what that means is for others to say.
    let columns = match before.columns {
        Some(columns @ 1..) => columns,
        _ => usize::MAX,
    };
    let mut first = columns;
    if columns != usize::MAX {
        if before.mid_row() {
            first = columns.saturating_sub(before.filled).max(1);
        } else {
            starts.push(start as u32);
        }
    }
    let at_first = starts.len();
    let (end, left) = pass_values(wire, start, first, columns, starts)?;
    let count = match starts.len() - at_first {
        0 => first - left,
        rows => first + (rows - 1) * columns + (columns - left),
    };
    Ok(Walk {
        end,
        count,
        ends_row: count > 0 && left == columns,
    })
}

/// The loop that everything received goes through. `left` values end the first
/// row, `columns` each later one. Answers where the values end and how many the
/// last row lacks.
///
/// Not inlined, which keeps what the loop needs in registers.
#[inline(never)]
fn pass_values(
    wire: &[u8],
    start: usize,
    mut left: usize,
    columns: usize,
    starts: &mut Vec<u32>,
) -> Result<(usize, usize), WireError> {
    let mut rest = wire.get(start..).unwrap_or_default();
    loop {
        rest = match rest {
            [VALUES_TAG, len @ 0..0x80, rest @ ..] if usize::from(*len) <= rest.len() => {
                rest.get(usize::from(*len)..).unwrap_or_default()
            }
            [VALUES_TAG, low, high @ 0..0x80, rest @ ..]
                if two_bytes(*low, *high) <= rest.len() =>
            {
                rest.get(two_bytes(*low, *high)..).unwrap_or_default()
            }
            [VALUES_TAG, ..] => pass_long_value(wire, wire.len() - rest.len())?,
            _ => return Ok((wire.len() - rest.len(), left)),
        };
        left -= 1;
        if left == 0 {
            starts.push((wire.len() - rest.len()) as u32);
            left = columns;
        }
    }
}

/// A length written in two bytes.
const fn two_bytes(low: u8, high: u8) -> usize {
    (low & 0x7f) as usize | (high as usize) << 7
}

/// Passes over one value of any length, or finds out that there is none of that
/// length; answers what follows.
#[inline(never)]
fn pass_long_value(wire: &[u8], at: usize) -> Result<&[u8], WireError> {
    let value = reader::length(wire, at + 1, wire.len())?;
    Ok(wire.get(value.end..).unwrap_or_default())
}

/// All of a message but the values.
#[derive(Default)]
struct Control {
    chunked: bool,
    metadata: Option<Box<MetadataParts>>,
    resume_token: Bytes,
    stats: Option<Box<StatsParts>>,
    precommit: Option<PrecommitToken>,
    last: bool,
}

impl Control {
    /// Reads what comes before the values; answers where they start.
    fn read_until_values(&mut self, wire: &Bytes, whole: Span) -> Result<usize, WireError> {
        let mut pos = 0;
        while wire.get(pos).is_some_and(|tag| *tag != VALUES_TAG) {
            let rest = Span {
                start: pos,
                ..whole
            };
            let Some(field) = Fields::new(wire, rest).next()? else {
                break;
            };
            if field.tag.field == VALUES_FIELD {
                // A tag longer than it need be: the rest sees to it.
                break;
            }
            self.read(wire, field)?;
            pos = field.span.end;
        }
        Ok(pos)
    }

    /// Reads what comes after the values; `false` when the walk over them was in
    /// vain because more of them follow, or the metadata they need.
    fn read_rest(&mut self, wire: &Bytes, start: usize, layout: Layout) -> Result<bool, WireError> {
        let mut fields = Fields::new(
            wire,
            Span {
                start,
                end: wire.len(),
            },
        );
        while let Some(field) = fields.next()? {
            match field.tag.field {
                VALUES_FIELD => return Ok(false),
                METADATA_FIELD if layout.columns.is_none() => return Ok(false),
                _ => self.read(wire, field)?,
            }
        }
        Ok(true)
    }

    /// Reads one field of `PartialResultSet`.
    fn read(&mut self, wire: &Bytes, field: FieldAt) -> Result<(), WireError> {
        match field.tag.field {
            METADATA_FIELD => self
                .metadata
                .get_or_insert_default()
                .read(wire, field.message()?)?,
            3 => self.chunked = field.integer()? != 0,
            4 => {
                let token = field.message()?;
                self.resume_token = wire.slice(token.start..token.end);
            }
            5 => self
                .stats
                .get_or_insert_default()
                .read(wire, field.message()?)?,
            8 => PrecommitToken::read(&mut self.precommit, wire, field.message()?)?,
            9 => self.last = field.integer()? != 0,
            _ => {}
        }
        Ok(())
    }

    /// `layout` with the columns that the metadata of this message brings.
    fn layout(&self, layout: Layout) -> Layout {
        let columns = self.metadata.as_ref().map(|metadata| metadata.columns());
        Layout {
            columns: layout.columns.or(columns),
            ..layout
        }
    }

    fn into_message(
        self,
        wire: Bytes,
        encoded_len: usize,
        start: usize,
        before: Layout,
        walk: Walk,
        mut starts: Vec<u32>,
    ) -> Message {
        let chunked = self.chunked && walk.count > 0;
        if chunked && walk.ends_row {
            // The last row is not complete after all.
            starts.pop();
        }
        Message {
            wire,
            values: Span {
                start,
                end: walk.end,
            },
            count: walk.count,
            starts,
            chunked,
            before,
            after: before.after(walk.count, chunked),
            encoded_len,
            metadata: self.metadata.map(|metadata| Box::new(metadata.finish())),
            resume_token: self.resume_token,
            stats: self.stats.map(|stats| Box::new(stats.finish())),
            precommit: self.precommit,
            last: self.last,
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
