//! Finds two fields that read one column across flattened rows, when the
//! program is compiled.

use super::spec::{ColumnSpec, Source};

impl ColumnSpec {
    /// Stops the compilation when the flattened row at `field` reads a column
    /// that another field reads too. Flattened rows behind it are left to their
    /// own check, so that each pair is reported once.
    ///
    /// # Panics
    ///
    /// That is how it stops the compilation.
    #[track_caller]
    pub const fn assert_distinct(columns: &'static [Self], field: usize) {
        let flattened = Leaf {
            around: None,
            spec: &columns[field],
        };
        let Source::Flatten { columns: inner, .. } = flattened.spec.source else {
            return;
        };
        if inner.is_empty() {
            panic!("a row that names no columns cannot be flattened");
        }
        let mut i = 0;
        while i < columns.len() {
            let other = Leaf {
                around: None,
                spec: &columns[i],
            };
            if i < field || !matches!(other.spec.source, Source::Flatten { .. }) {
                compare(&other, &flattened);
            }
            i += 1;
        }
    }
}

/// A column, or a group of them, with the flattened rows around it.
struct Leaf<'a> {
    around: Option<&'a Self>,
    spec: &'a ColumnSpec,
}

/// Goes down to single columns and panics at the first two that are one.
#[track_caller]
const fn compare(a: &Leaf<'_>, b: &Leaf<'_>) {
    match (&a.spec.source, &b.spec.source) {
        (Source::Flatten { columns, .. }, _) => {
            let mut i = 0;
            while i < columns.len() {
                let inner = Leaf {
                    around: Some(a),
                    spec: &columns[i],
                };
                compare(&inner, b);
                i += 1;
            }
        }
        (_, Source::Flatten { columns, .. }) => {
            let mut i = 0;
            while i < columns.len() {
                let inner = Leaf {
                    around: Some(b),
                    spec: &columns[i],
                };
                compare(a, &inner);
                i += 1;
            }
        }
        (Source::At(a_position), Source::At(b_position)) if *a_position == *b_position => {
            let mut message = both(a, b);
            message.push("` both read the column at one position");
            panic!("{}", message.text());
        }
        (Source::Named { .. }, Source::Named { .. }) => {
            let mut i = 0;
            while let Some(a_name) = name(a.spec, i) {
                let mut j = 0;
                while let Some(b_name) = name(b.spec, j) {
                    if Backwards::new(a, a_name).same(Backwards::new(b, b_name)) {
                        let mut message = both(a, b);
                        message.push("` both read the column `");
                        message.push_prefix(a.around);
                        message.push(a_name);
                        message.push("`");
                        panic!("{}", message.text());
                    }
                    j += 1;
                }
                i += 1;
            }
        }
        _ => {}
    }
}

/// The name of a column and then its aliases.
const fn name(column: &ColumnSpec, i: usize) -> Option<&'static str> {
    let Source::Named { name, aliases } = column.source else {
        return None;
    };
    if i == 0 {
        Some(name)
    } else if i <= aliases.len() {
        Some(aliases[i - 1])
    } else {
        None
    }
}

/// The bytes of a name and of the prefixes before it, from the end, where names
/// differ soonest.
struct Backwards<'a> {
    text: &'a [u8],
    left: usize,
    around: Option<&'a Leaf<'a>>,
}

impl<'a> Backwards<'a> {
    const fn new(leaf: &Leaf<'a>, name: &'a str) -> Self {
        Self {
            text: name.as_bytes(),
            left: name.len(),
            around: leaf.around,
        }
    }

    const fn same(mut self, mut other: Self) -> bool {
        loop {
            match (self.next(), other.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if a == b => {}
                _ => return false,
            }
        }
    }

    const fn next(&mut self) -> Option<u8> {
        while self.left == 0 {
            let Some(around) = self.around else {
                return None;
            };
            if let Source::Flatten { prefix, .. } = around.spec.source {
                self.text = prefix.as_bytes();
                self.left = self.text.len();
            }
            self.around = around.around;
        }
        self.left -= 1;
        Some(self.text[self.left])
    }
}

/// "the fields `a` and `b.c"
const fn both(a: &Leaf<'_>, b: &Leaf<'_>) -> Message {
    let mut message = Message {
        bytes: [0; MOST],
        len: 0,
    };
    message.push("the fields `");
    message.push_fields(a);
    message.push("` and `");
    message.push_fields(b);
    message
}

const MOST: usize = 400;

/// A text made while the program is compiled; what has no room is left out.
struct Message {
    bytes: [u8; MOST],
    len: usize,
}

impl Message {
    const fn push(&mut self, text: &str) {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < MOST {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
    }

    /// The way to a field: `inner.address.id`.
    const fn push_fields(&mut self, leaf: &Leaf<'_>) {
        if let Some(around) = leaf.around {
            self.push_fields(around);
            self.push(".");
        }
        self.push(leaf.spec.field);
    }

    const fn push_prefix(&mut self, around: Option<&Leaf<'_>>) {
        if let Some(around) = around {
            self.push_prefix(around.around);
            if let Source::Flatten { prefix, .. } = around.spec.source {
                self.push(prefix);
            }
        }
    }

    const fn text(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => "two fields read one column",
        }
    }
}
