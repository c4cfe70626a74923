//! "did you mean …?"

/// The candidate that `word` was most likely meant to be.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let plain = simplified(word);
    let most = (plain.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&plain, &simplified(candidate)), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and separators are not what distinguishes two words.
fn simplified(word: &str) -> Vec<char> {
    word.chars()
        .filter(|c| *c != '_' && *c != '-')
        .flat_map(char::to_lowercase)
        .collect()
}

/// How many letters must be added, left out, replaced or swapped with their
/// neighbour to make `b` of `a`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    fn steps(a: &str, b: &str) -> usize {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        distance(&letters(a), &letters(b))
    }

    #[test]
    fn counts_single_steps() {
        assert_eq!(steps("rename", "rename"), 0);
        assert_eq!(steps("renam", "rename"), 1);
        assert_eq!(steps("reename", "rename"), 1);
        assert_eq!(steps("rebame", "rename"), 1);
        assert_eq!(steps("reanme", "rename"), 1);
        assert_eq!(steps("", "abc"), 3);
        assert_eq!(steps("abc", ""), 3);
    }

    #[test]
    fn finds_the_nearest_and_nothing_far() {
        let known = ["rename", "rename_all", "match_by"];
        assert_eq!(nearest("renam", known), Some("rename"));
        assert_eq!(nearest("renameall", known), Some("rename_all"));
        assert_eq!(nearest("matchBy", known), Some("match_by"));
        assert_eq!(nearest("borrow", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
