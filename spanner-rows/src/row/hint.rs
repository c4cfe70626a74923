//! What is said about a column that a result does not have.

use crate::wire::RowType;

/// A column that is there under none of `names`, of which the first counts. They begin
/// with `prefix`, which comes from `flatten` and not from the field.
pub(super) fn missing(prefix: &str, names: &[String], row_type: &RowType) -> String {
    let wanted = names.first().map(String::as_str).unwrap_or_default();
    let also = match names.get(1..) {
        Some(aliases) if !aliases.is_empty() => {
            let aliases: Vec<_> = aliases.iter().map(|name| format!("`{name}`")).collect();
            format!(" (or {})", aliases.join(", "))
        }
        _ => String::new(),
    };
    let columns = || {
        let names = row_type.fields().iter().map(crate::wire::Field::name);
        names.filter(|name| !name.is_empty())
    };
    let near = other_case(wanted, row_type);
    let near = near.and_then(|position| row_type.fields().get(position));
    let hint = match near.map(crate::wire::Field::name) {
        Some(near) => format!("there is `{near}`: {}", cure(prefix, wanted, near)),
        None => match columns().find(|name| one_letter_off(&plain(name), &plain(wanted))) {
            Some(near) => format!(
                "did you mean `{near}`? The result has {}",
                listing(row_type)
            ),
            None => format!("the result has {}", listing(row_type)),
        },
    };
    format!("reads the column `{wanted}`{also}, which the result does not have; {hint}")
}

/// What makes a field that reads the column `wanted` read `near`.
fn cure(prefix: &str, wanted: &str, near: &str) -> String {
    let field = wanted.strip_prefix(prefix).unwrap_or(wanted);
    match near.strip_prefix(prefix) {
        Some(name) if !name.is_empty() => match rule(field, name) {
            Some(rule) => format!("use `rename = \"{name}\"` or `rename_all = \"{rule}\"`"),
            None => format!("use `rename = \"{name}\"`"),
        },
        _ => format!(
            "it does not begin with the prefix `{prefix}` of `flatten`; change the prefix, or name \
             the column `{wanted}` in the SQL"
        ),
    }
}

/// The column whose name differs from `wanted` in what case rules change.
pub(super) fn other_case(wanted: &str, row_type: &RowType) -> Option<usize> {
    let wanted = plain(wanted);
    let mut names = row_type.fields().iter().map(crate::wire::Field::name);
    names.position(|name| !name.is_empty() && plain(name) == wanted)
}

/// A name without what case rules change.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '_' && *c != '-')
        .flat_map(char::to_lowercase)
        .collect()
}

/// The rule of `rename_all` that makes `column` of a field called `field`.
fn rule(field: &str, column: &str) -> Option<&'static str> {
    let has = |c: char| column.contains(c);
    let upper = column.chars().any(char::is_uppercase);
    let lower = column.chars().any(char::is_lowercase);
    let rule = match (upper, lower) {
        (true, true) if has('_') || has('-') => return None,
        (true, true) if column.starts_with(char::is_uppercase) => "PascalCase",
        (true, true) => "camelCase",
        (true, false) if has('-') => "SCREAMING-KEBAB-CASE",
        (true, false) if field.len() == column.len() => "SCREAMING_SNAKE_CASE",
        (false, true) if has('-') => "kebab-case",
        _ => return None,
    };
    Some(rule)
}

/// Whether one letter was added, left out, replaced or swapped with its
/// neighbour; names of less than four letters are too near to anything.
fn one_letter_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    if a.len().min(b.len()) < 4 {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let behind = |rest: &[char], n: usize| rest.get(n..).map(<[char]>::to_vec);
    behind(a, 1) == behind(b, 1)
        || behind(a, 1).is_some_and(|rest| rest == b)
        || behind(b, 1).is_some_and(|rest| rest == a)
        || matches!((a, b), ([x, y, a @ ..], [v, w, b @ ..]) if x == w && y == v && a == b)
}

/// The columns of a result, for a message; long lists are cut.
pub(super) fn listing(row_type: &RowType) -> String {
    const MOST: usize = 20;
    if row_type.is_empty() {
        return "no columns".to_owned();
    }
    let mut text = row_type
        .fields()
        .iter()
        .take(MOST)
        .map(|field| format!("`{}`", field.name()))
        .collect::<Vec<_>>()
        .join(", ");
    if row_type.len() > MOST {
        text.push_str(&format!(" and {} more", row_type.len() - MOST));
    }
    text
}
