//! A result cut and encoded once, to be sent any number of times by reference.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use prost::Message as _;

use super::cutter::{Cutter, Piece};
use super::rows::{Layout, Tokens};
use crate::proto::spanner::{
    PartialResultSet, ResultSetMetadata, ResultSetStats, StructType, Transaction,
};

/// What gRPC puts before a message: a flag for compression and the length.
pub(super) const PREFIX_LEN: usize = 5;

/// The messages of a result, each as it goes out.
#[derive(Debug)]
pub(super) struct PreparedRows {
    row_type: StructType,
    /// With the gRPC prefix. The first has no metadata yet, because it depends
    /// on the request.
    frames: Vec<Bytes>,
    /// Which messages carry a token.
    tokens: Vec<bool>,
    token_len: usize,
    /// Tells the tokens of this result from those of others.
    fingerprint: u64,
    metadata_on_resume: bool,
}

impl PreparedRows {
    /// `name` tells what the result answers.
    pub(super) fn new<'v>(
        row_type: StructType,
        values: impl Iterator<Item = (&'v [u8], bool)>,
        layout: &Layout,
        name: &impl Hash,
    ) -> Self {
        let mut cutter = Cutter::new(layout.cut, &layout.message_sizes);
        for (value, starts_row) in values {
            cutter.value(value, starts_row);
        }
        let pieces = cutter.finish();

        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let count = pieces.len();
        let mut prepared = Self {
            row_type,
            frames: Vec::with_capacity(count),
            tokens: (0..count)
                .map(|i| layout.tokens.after(i, i + 1 == count))
                .collect(),
            token_len: layout.token_len,
            fingerprint: hasher.finish(),
            metadata_on_resume: layout.metadata_on_resume,
        };
        for (i, piece) in pieces.into_iter().enumerate() {
            let is_final = i + 1 == count;
            let rest = PartialResultSet {
                chunked_value: piece.chunked,
                resume_token: prepared.token_after(i).unwrap_or_default(),
                last: is_final && layout.last,
                stats: layout.stats.clone().filter(|_| is_final),
                ..PartialResultSet::default()
            };
            prepared.frames.push(frame_of(piece, &rest));
        }
        prepared
    }

    /// The number of the message that follows a token, which is empty at the
    /// start; `None` for a token that was never given out.
    pub(super) fn position(&self, token: &[u8]) -> Option<usize> {
        if token.is_empty() {
            return Some(0);
        }
        let (index, _) = token.split_first_chunk::<8>()?;
        let index = usize::try_from(u64::from_be_bytes(*index)).ok()?;
        (self.token_after(index)? == token).then_some(index + 1)
    }

    /// The message of this number.
    pub(super) fn frame(&self, index: usize) -> Option<&Bytes> {
        self.frames.get(index)
    }

    /// Whether the message has to go out with metadata when it is the first of
    /// its stream.
    pub(super) const fn needs_metadata(&self, index: usize) -> bool {
        index == 0 || self.metadata_on_resume
    }

    /// The two parts of a message with metadata: the metadata, after which any
    /// other fields may follow, and those.
    pub(super) fn frame_with_metadata(
        &self,
        index: usize,
        transaction: Option<Transaction>,
    ) -> Option<(Bytes, Bytes)> {
        let fields = self.frames.get(index)?.slice(PREFIX_LEN..);
        let metadata = PartialResultSet {
            metadata: Some(self.metadata(transaction)),
            ..PartialResultSet::default()
        }
        .encode_to_vec();
        let mut head = prefix(metadata.len() + fields.len()).to_vec();
        head.extend(metadata);
        Some((head.into(), fields))
    }

    pub(super) fn metadata(&self, transaction: Option<Transaction>) -> ResultSetMetadata {
        ResultSetMetadata {
            row_type: Some(self.row_type.clone()),
            transaction,
            undeclared_parameters: None,
        }
    }

    fn token_after(&self, index: usize) -> Option<Bytes> {
        self.tokens.get(index).copied().filter(|token| *token)?;
        let mut token = Vec::with_capacity(self.token_len);
        token.extend((index as u64).to_be_bytes());
        token.extend(self.fingerprint.to_be_bytes());
        // Opaque bytes, no text, as the service's own.
        token.resize(self.token_len.max(token.len()), 0xE7);
        Some(token.into())
    }
}

/// Statistics as they go with the last message.
pub(super) type Stats = Option<ResultSetStats>;

impl Tokens {
    fn after(&self, index: usize, is_final: bool) -> bool {
        match self {
            Self::Every(count) => !is_final && (index + 1).is_multiple_of((*count).max(1)),
            Self::After(indices) => indices.contains(&index),
        }
    }
}

/// A gRPC message with its prefix.
pub(super) fn framed(message: &[u8]) -> Bytes {
    [&prefix(message.len()), message].concat().into()
}

fn frame_of(piece: Piece, rest: &PartialResultSet) -> Bytes {
    let len = piece.values.len() + rest.encoded_len();
    let mut frame = Vec::with_capacity(PREFIX_LEN + len);
    frame.extend(prefix(len));
    frame.extend(piece.values);
    frame.extend(rest.encode_to_vec());
    frame.into()
}

/// A message has at most 4 GiB - 1; protobuf allows half of that.
fn prefix(len: usize) -> [u8; PREFIX_LEN] {
    let [a, b, c, d] = u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes();
    [0, a, b, c, d]
}
