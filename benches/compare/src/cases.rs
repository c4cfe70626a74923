//! What is read.

use crate::arms::Compared;
use crate::shapes::messages::{Messages, cut};
use crate::shapes::{
    ChunkedShape, Codec4kShape, CustomerShape, Exact12Shape, NarrowShape, PointShape, Shape,
    Strings8Shape, Vary8Shape, Wide10Shape,
};
use crate::{Result, client};

/// A shape, in messages of some size.
pub(crate) struct Case {
    pub(crate) shape: &'static str,
    /// Bytes of values in a message, at most.
    pub(crate) message_size: usize,
    /// In the answer to one query.
    pub(crate) rows: u64,
    /// One after another in one round.
    pub(crate) queries: u32,
    /// Makes the messages.
    pub(crate) messages: fn(u64, usize) -> Messages,
    /// Runs a client process.
    pub(crate) client: fn(&str, &Self, &str) -> Result<()>,
}

impl Case {
    /// A name, and the statement that asks for it.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}KiB", self.shape, self.message_size / 1024)
    }

    pub(crate) fn named(name: &str) -> Result<Self> {
        let found = cases().into_iter().find(|case| case.name() == name);
        found.ok_or_else(|| format!("there is no case {name}").into())
    }
}

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    let sizes = [32 * 1024, 1024 * 1024].into_iter();
    let mut all: Vec<Case> = sizes
        .flat_map(|size| {
            [
                case::<CustomerShape>(size, 100, 100),
                case::<Exact12Shape>(size, 100, 200),
                case::<Wide10Shape>(size, 100_000, 1),
                case::<NarrowShape>(size, 200_000, 1),
                case::<Codec4kShape>(size, 1_000, 200),
                case::<Strings8Shape>(size, 100_000, 1),
                case::<ChunkedShape>(size, 2_000, 1),
                case::<Vary8Shape>(size, 100_000, 1),
            ]
        })
        .collect();
    all.push(case::<PointShape>(32 * 1024, 1, 1_000));
    all
}

fn case<S: Compared>(message_size: usize, rows: u64, queries: u32) -> Case {
    Case {
        shape: <S as Shape>::NAME,
        message_size,
        rows,
        queries,
        messages: cut::<S>,
        client: client::run::<S>,
    }
}
