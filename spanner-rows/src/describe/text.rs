//! Text of a server or a user in Rust source: in comments and in literals.

/// One line of a comment: what would end it, or show it other than it is, is escaped.
pub(super) fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() {
            line.push(c);
        } else {
            line.extend(c.escape_debug());
        }
    }
    line
}

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    // What `Debug` escapes, it escapes as a literal of Rust does.
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::{line, literal};

    #[test]
    fn nothing_leaves_its_line() {
        assert_eq!(line("a `b` \"ü\""), "a `b` \"ü\"");
        assert_eq!(
            line("a\nb\r\t\u{202e}\u{2028}"),
            "a\\nb\\r\\t\\u{202e}\\u{2028}"
        );
        assert_eq!(literal("a\"\\\n\u{202e}ü"), "\"a\\\"\\\\\\n\\u{202e}ü\"");
    }
}
