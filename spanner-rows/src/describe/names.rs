//! Identifiers of column names.

use std::collections::HashSet;

use unicode_ident::is_xid_start;

/// The words of Rust that an identifier can be with `r#` only: those of edition 2024, which
/// has all of the earlier ones.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Those that it cannot even be with `r#`.
const NEVER_RAW: [&str; 3] = ["crate", "self", "super"];

/// Types that the source names without a path.
const TYPES_IN_USE: [&str; 4] = ["Option", "Self", "String", "Vec"];

/// The words of a name, in lower case: `HTTPServer2 Id` is `http`, `server2`, `id`.
///
/// What cannot start an identifier, but for digits, stands between words. Combining marks
/// are among it: the compiler would join them with the letter before.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        if !is_word(c) {
            words.push(String::new());
            before = None;
            continue;
        }
        let after = letters.peek();
        let new = c.is_uppercase()
            && before.is_some_and(|before: char| {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if new {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase().filter(|c| is_word(*c)));
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_word(c: char) -> bool {
    is_xid_start(c) || c.is_ascii_digit()
}

/// The identifier for a column, in snake case and without `r#`.
pub(super) fn identifier(column: &str, position: usize) -> String {
    let name = words(column).join("_");
    match name.chars().next() {
        None => format!("column_{position}"),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        _ if NEVER_RAW.contains(&name.as_str()) => format!("{name}_"),
        _ => name,
    }
}

/// The identifier as source has it.
pub(super) fn raw(identifier: &str) -> String {
    if KEYWORDS.contains(&identifier) {
        format!("r#{identifier}")
    } else {
        identifier.to_owned()
    }
}

/// The name of a type, in Pascal case.
pub(super) fn type_name(name: &str) -> String {
    let pascal = words(name)
        .iter()
        .map(|word| capitalised(word))
        .collect::<String>();
    match pascal.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("Row{pascal}"),
        Some(_) if !TYPES_IN_USE.contains(&pascal.as_str()) => pascal,
        _ => format!("{pascal}Row"),
    }
}

/// What one of many is called, as far as that can be told: `Albums` has an `Album`.
pub(super) fn singular(name: &str) -> &str {
    match name.strip_suffix(['s', 'S']) {
        Some(one) if one.len() > 2 && !one.ends_with(['s', 'S', 'u', 'U', 'i', 'I']) => one,
        _ => name,
    }
}

/// The name, or with a number behind it the first that is free.
pub(super) fn unique(taken: &mut HashSet<String>, name: String, separator: &str) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        // Two underscores would not be snake case.
        let separator = if name.ends_with(separator) {
            ""
        } else {
            separator
        };
        free = format!("{name}{separator}{number}");
        number += 1;
    }
    free
}

/// A rule of `rename_all`, as `spanner-derive` has it; without one, names are as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    AsWritten,
    Pascal,
    Camel,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Rule {
    const ALL: [Self; 6] = [
        Self::AsWritten,
        Self::Pascal,
        Self::Camel,
        Self::ScreamingSnake,
        Self::Kebab,
        Self::ScreamingKebab,
    ];

    /// The rule that most of these columns follow; the first of several.
    pub(super) fn of_most(fields: &[(&str, &str)]) -> Self {
        let follow = |rule: Self| {
            fields
                .iter()
                .filter(|(name, column)| rule.fits(name, column))
                .count()
        };
        // The last of the greatest is taken: the first, turned around.
        Self::ALL
            .into_iter()
            .rev()
            .max_by_key(|rule| follow(*rule))
            .unwrap_or(Self::AsWritten)
    }

    /// Whether the field of this name is the column by this rule.
    pub(super) fn fits(self, field: &str, column: &str) -> bool {
        // Identifiers are normalised by the compiler, so others are always spelled out.
        column.is_ascii() && self.apply(field) == column
    }

    /// As the attribute names it.
    pub(super) const fn attribute(self) -> Option<&'static str> {
        match self {
            Self::AsWritten => None,
            Self::Pascal => Some("PascalCase"),
            Self::Camel => Some("camelCase"),
            Self::ScreamingSnake => Some("SCREAMING_SNAKE_CASE"),
            Self::Kebab => Some("kebab-case"),
            Self::ScreamingKebab => Some("SCREAMING-KEBAB-CASE"),
        }
    }

    fn apply(self, field: &str) -> String {
        match self {
            Self::AsWritten => field.to_owned(),
            Self::Pascal => field.split('_').map(capitalised).collect(),
            Self::Camel => {
                let pascal = Self::Pascal.apply(field);
                let mut letters = pascal.chars();
                let first = letters.next().into_iter().flat_map(char::to_lowercase);
                first.chain(letters.clone()).collect()
            }
            Self::ScreamingSnake => field.to_uppercase(),
            Self::Kebab => field.replace('_', "-"),
            Self::ScreamingKebab => field.to_uppercase().replace('_', "-"),
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for (column, name) in [
            ("SingerId", "singer_id"),
            ("SingerID", "singer_id"),
            ("HTTPServer2Name", "http_server2_name"),
            ("first_name", "first_name"),
            ("FIRST_NAME", "first_name"),
            ("a b", "a_b"),
            ("__private", "private"),
            ("Self", "self_"),
            ("crate", "crate_"),
            ("1st", "_1st"),
            ("ünï", "ünï"),
            ("U\u{308}ni", "u_ni"),
            ("İ", "i"),
            ("x²", "x"),
            ("名前", "名前"),
            ("", "column_7"),
            ("$%&", "column_7"),
            ("_", "column_7"),
        ] {
            assert_eq!(identifier(column, 7), name, "{column}");
        }
        assert_eq!(raw("type"), "r#type");
        assert_eq!(raw("gen"), "r#gen");
        assert_eq!(raw("types"), "types");
    }

    #[test]
    fn names_of_types() {
        for (name, ty) in [
            ("album", "Album"),
            ("AlbumInfo", "AlbumInfo"),
            ("self", "SelfRow"),
            ("vec", "VecRow"),
            ("1st", "Row1st"),
            ("", "Row"),
            ("a b", "AB"),
        ] {
            assert_eq!(type_name(name), ty, "{name}");
        }
        for (many, one) in [
            ("Albums", "Album"),
            ("Address", "Address"),
            ("Status", "Status"),
            ("Analysis", "Analysis"),
            ("Ids", "Ids"),
            ("Data", "Data"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn the_rule_is_that_of_most_columns() {
        let of = |columns: &[&'static str]| {
            let names = columns
                .iter()
                .map(|column| identifier(column, 0))
                .collect::<Vec<_>>();
            let fields = names
                .iter()
                .map(String::as_str)
                .zip(columns.iter().copied());
            Rule::of_most(&fields.collect::<Vec<_>>())
        };
        assert_eq!(of(&["SingerId", "FirstName", "x"]), Rule::Pascal);
        assert_eq!(of(&["singerId", "firstName", "x"]), Rule::Camel);
        assert_eq!(of(&["singer_id", "FirstName", "x"]), Rule::AsWritten);
        assert_eq!(of(&["SINGER_ID", "X_Y"]), Rule::ScreamingSnake);
        assert_eq!(of(&["singer-id", "first-name"]), Rule::Kebab);
        assert_eq!(of(&["SINGER-ID", "FIRST-NAME"]), Rule::ScreamingKebab);
        assert_eq!(of(&["n", "Name"]), Rule::AsWritten);
        assert_eq!(of(&[]), Rule::AsWritten);
        assert!(!Rule::AsWritten.fits("ünï", "ünï"));
    }

    #[test]
    fn names_are_taken_once() {
        let mut taken = HashSet::new();
        let names = ["a", "a", "a_2", "a"].map(|name| unique(&mut taken, name.to_owned(), "_"));
        assert_eq!(names, ["a", "a_2", "a_2_2", "a_3"]);
        assert_eq!(unique(&mut taken, "self_".to_owned(), "_"), "self_");
        assert_eq!(unique(&mut taken, "self_".to_owned(), "_"), "self_2");
        assert_eq!(unique(&mut taken, "a".to_owned(), ""), "a2");
    }
}
