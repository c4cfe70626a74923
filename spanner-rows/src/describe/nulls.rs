//! Which columns can be NULL.

use std::collections::BTreeSet;

/// What is known to be never NULL, by paths like `Albums[].Title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Nulls {
    /// What the user says.
    said: BTreeSet<String>,
    /// The columns of a table that its schema says it of.
    schema: BTreeSet<String>,
}

impl Nulls {
    #[cfg(any(feature = "client", test))]
    pub(super) fn of_table(columns: impl IntoIterator<Item = String>) -> Self {
        Self {
            said: BTreeSet::new(),
            schema: columns.into_iter().collect(),
        }
    }

    pub(super) fn not_null(&mut self, paths: impl IntoIterator<Item = String>) {
        self.said.extend(paths);
    }

    /// Whether what stands at this path can be NULL. `seen` is told of the paths that were
    /// of use.
    pub(super) fn is_nullable<'a>(&'a self, path: &str, seen: &mut BTreeSet<&'a str>) -> bool {
        if let Some(said) = self.said.get(path) {
            seen.insert(said);
            return false;
        }
        !self.schema.contains(path)
    }

    /// What was said of columns that there are not.
    pub(super) fn unused<'a>(&'a self, seen: &'a BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
        let said = self.said.iter().map(String::as_str);
        said.filter(|path| !seen.contains(path))
    }
}
