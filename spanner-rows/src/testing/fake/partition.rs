//! Parts of a result, and the tokens by which they are asked for.

use std::ops::Range;

use bytes::Bytes;

/// One of so many parts of all rows of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) index: usize,
    pub(super) count: usize,
}

impl Part {
    pub(super) const ALL: Self = Self { index: 0, count: 1 };

    /// `fake-partition-0-of-3`
    pub(super) fn token(self) -> Bytes {
        format!("fake-partition-{}-of-{}", self.index, self.count).into()
    }

    /// `None` for a token that was never given out. Without one it is all rows.
    pub(super) fn of_token(token: &[u8]) -> Option<Self> {
        if token.is_empty() {
            return Some(Self::ALL);
        }
        let text = std::str::from_utf8(token).ok()?;
        let (index, count) = text.strip_prefix("fake-partition-")?.split_once("-of-")?;
        let (index, count) = (index.parse().ok()?, count.parse().ok()?);
        (index < count).then_some(Self { index, count })
    }

    /// Which of `rows` rows these are.
    pub(super) const fn of(self, rows: usize) -> Range<usize> {
        let (each, more) = (rows / self.count, rows % self.count);
        let start = self.index * each + if self.index < more { self.index } else { more };
        let len = each + if self.index < more { 1 } else { 0 };
        start..start + len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_all_rows() {
        for rows in 0..20 {
            for count in 1..8 {
                let parts = (0..count).map(|index| Part { index, count }.of(rows));
                let all: Vec<_> = parts.flatten().collect();
                assert_eq!(all, (0..rows).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn tokens_are_those_that_were_given_out() {
        let part = Part { index: 2, count: 5 };
        assert_eq!(Part::of_token(&part.token()), Some(part));
        assert_eq!(Part::of_token(b""), Some(Part::ALL));
        for token in [
            "x",
            "fake-partition-5-of-5",
            "fake-partition-0-of-0",
            "fake-partition--1-of-2",
        ] {
            assert_eq!(Part::of_token(token.as_bytes()), None);
        }
    }
}
