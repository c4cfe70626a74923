//! `cargo xtask api`: the public API of spanner-rows in one file, so that a change of it
//! shows in review.
//!
//! It is read from the source, which any stable compiler does, and not from what a nightly
//! one writes. So it is what is written, not what is inferred: auto traits are not in it,
//! paths stand as they do in their file, and code that a macro makes is shown as the call
//! of the macro with the public heads that the macro has.

mod collect;
mod print;
mod source;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

const HEADER: &str = "\
// The public API of spanner-rows, made from the source by `cargo xtask api`.
//
// Fields that are not public are one field `__private`; bodies are left out. A change
// here is a change for users: say so in CHANGELOG.md.
";

/// Writes the file.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    fs::write(file(), listing()?)?;
    println!("{}", file().display());
    Ok(())
}

/// Fails when the file is not what would be written.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    let (is, expected) = (fs::read_to_string(file())?, listing()?);
    if is == expected {
        return Ok(());
    }
    for line in changes(&is, &expected) {
        eprintln!("{line}");
    }
    Err("the public API has changed: run `cargo xtask api`, and look at the difference".into())
}

fn listing() -> Result<String, Box<dyn Error>> {
    let crate_root = root().join("spanner-rows/src/lib.rs");
    let modules = source::load(&crate_root)?;
    let api = collect::collect(&modules)?;
    Ok(format!("{HEADER}{}", print::print(&api)))
}

/// The lines that only one of both has; what moved is not told.
fn changes(is: &str, expected: &str) -> Vec<String> {
    let lines = |of: &str, other: &str, sign: char| {
        let others = other.lines().collect::<std::collections::HashSet<_>>();
        let only = of.lines().filter(|line| !others.contains(line));
        only.map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    [lines(is, expected, '-'), lines(expected, is, '+')].concat()
}

fn file() -> PathBuf {
    root().join("spanner-rows/public-api.rs.txt")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::{changes, check, listing};

    #[test]
    fn the_list_is_what_the_source_says() {
        check().expect("the public API is listed");
    }

    #[test]
    fn what_is_listed() {
        let listing = listing().expect("the source can be read");
        for line in [
            "// spanner_rows::Client\n",
            "// spanner_rows::testing::FakeSpanner\n",
            // A method, also behind a macro; a trait and its derive; a trait for another type.
            "    pub fn query(&self, sql: impl Into<String>) -> Query {}\n",
            "pub const fn data_boost (mut self , enabled : bool) -> Self\n",
            "pub trait SpannerRow {\n",
            "pub use spanner_derive::SpannerRow;\n",
            "impl FromColumn<'_> for String {}\n",
            // Made by macros.
            "    TypeCode {",
            "pub enum Code\n",
        ] {
            assert!(listing.contains(line), "{line}");
        }
        for hidden in ["pub(crate) fn", "proto::", "Assembler", "RowCursor::"] {
            assert!(!listing.contains(hidden), "{hidden}");
        }
    }

    #[test]
    fn what_changed_is_told() {
        assert_eq!(changes("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
    }
}
