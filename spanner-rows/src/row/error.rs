//! A value that cannot be read, told with everything that helps to find it.

use std::fmt;

use crate::wire::WireError;

/// One value of a row that could not be read into its field.
///
/// One word wide; the details are on the heap, made only when something fails.
/// Rows and columns are counted from zero, also in the text.
pub struct DecodeError(Box<Details>);

#[derive(Debug)]
struct Details {
    cause: DecodeErrorKind,
    row: Option<u64>,
    column: Option<usize>,
    column_name: String,
    field: String,
    rust_type: &'static str,
}

/// Why a value could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The value is NULL and the field cannot hold NULL. The cure is `Option`.
    Null,
    /// The value has another kind on the wire than its type says.
    Kind {
        /// The kind that the type calls for.
        expected: &'static str,
        /// The kind that came.
        found: &'static str,
    },
    /// The value has the right kind but not a content that the type allows.
    Invalid {
        /// What is wrong.
        reason: String,
        /// The start of the value.
        excerpt: String,
    },
    /// The value's bytes are malformed.
    Wire(WireError),
    /// The row or STRUCT ends before this field.
    Missing,
}

impl DecodeError {
    #[cold]
    pub(crate) fn new(cause: DecodeErrorKind) -> Self {
        Self(Box::new(Details {
            cause,
            row: None,
            column: None,
            column_name: String::new(),
            field: String::new(),
            rust_type: "",
        }))
    }

    /// A value that is well formed but that your type does not take.
    #[cold]
    pub fn invalid(reason: impl fmt::Display) -> Self {
        Self::with_excerpt(reason, "")
    }

    /// As [`invalid`](Self::invalid), with the value; its start is kept for the message.
    #[cold]
    pub fn with_excerpt(reason: impl fmt::Display, value: &str) -> Self {
        Self::new(DecodeErrorKind::Invalid {
            reason: reason.to_string(),
            excerpt: start_of(value),
        })
    }

    /// The error with the value, where that is to be told and is not yet.
    pub(crate) fn or_excerpt(mut self, value: impl FnOnce() -> String) -> Self {
        if let DecodeErrorKind::Invalid { excerpt, .. } = &mut self.0.cause
            && excerpt.is_empty()
        {
            *excerpt = start_of(&value());
        }
        self
    }

    #[cold]
    pub(crate) fn kind_of(expected: &'static str, found: &'static str) -> Self {
        Self::new(DecodeErrorKind::Kind { expected, found })
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.0.cause
    }

    /// The number of the row in the result, counted from zero.
    #[must_use]
    pub fn row(&self) -> Option<u64> {
        self.0.row
    }

    /// The position of the column in the result, counted from zero.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.0.column
    }

    /// The name of the column in the result; may be empty.
    #[must_use]
    pub fn column_name(&self) -> &str {
        &self.0.column_name
    }

    /// The field, as `Struct.field`; of nested rows the whole way.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// Adds the field on the way out; the outermost comes first.
    #[cold]
    pub(crate) fn in_field(
        mut self,
        owner: &'static str,
        field: &'static str,
        rust_type: &'static str,
        column: u32,
    ) -> Self {
        let details = &mut *self.0;
        let step = if owner.is_empty() || field.is_empty() {
            format!("{owner}{field}")
        } else {
            format!("{owner}.{field}")
        };
        if details.field.is_empty() {
            details.field = step;
        } else if !step.is_empty() {
            details.field = format!("{step} / {}", details.field);
        }
        if details.rust_type.is_empty() {
            details.rust_type = rust_type;
        }
        details.column = usize::try_from(column).ok();
        self
    }

    /// Says what an element was to become.
    #[cold]
    pub(crate) fn in_element(mut self, rust_type: &'static str) -> Self {
        if self.0.rust_type.is_empty() {
            self.0.rust_type = rust_type;
        }
        self
    }

    /// Adds the field that holds the list in which an element was read.
    #[cold]
    pub(crate) fn in_list(mut self, owner: &'static str, field: &'static str) -> Self {
        self.step(owner, field);
        self
    }

    /// Names the column of the result in which the value lies.
    #[cold]
    pub(crate) fn at_column(mut self, column: u32) -> Self {
        self.0.column = usize::try_from(column).ok();
        self
    }

    /// Adds a step to the way to the field; the outermost comes first.
    fn step(&mut self, owner: &'static str, field: &'static str) {
        let step = match (owner, field) {
            (_, "") => return,
            ("", field) => field.to_owned(),
            (owner, field) => format!("{owner}.{field}"),
        };
        let way = &mut self.0.field;
        *way = if way.is_empty() {
            step
        } else {
            format!("{step} / {way}")
        };
    }

    /// Adds a flattened row on the way out; the column stays that of the result.
    #[cold]
    pub(crate) fn in_flattened(mut self, owner: &'static str, field: &'static str) -> Self {
        self.0.field = format!("{owner}.{field} / {}", self.0.field);
        self
    }

    /// Names the type that the value was to become.
    #[cold]
    pub(crate) fn into_type(mut self, rust_type: &'static str) -> Self {
        self.0.rust_type = rust_type;
        self
    }

    #[cold]
    pub(crate) fn in_column(mut self, name: &str) -> Self {
        name.clone_into(&mut self.0.column_name);
        self
    }

    #[cold]
    pub(crate) fn in_row(mut self, row: u64) -> Self {
        self.0.row = Some(row);
        self
    }
}

/// As much of a value as messages show.
fn start_of(value: &str) -> String {
    const MOST: usize = 40;
    let mut start = value.chars().take(MOST).collect::<String>();
    if start.len() < value.len() {
        start.push('…');
    }
    start
}

impl From<WireError> for DecodeError {
    #[cold]
    fn from(error: WireError) -> Self {
        Self::new(DecodeErrorKind::Wire(error))
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.0;
        if let Some(row) = details.row {
            write!(f, "row {row}, ")?;
        }
        if let Some(column) = details.column {
            write!(f, "column {column} `{}`, ", details.column_name)?;
        }
        if !details.field.is_empty() {
            write!(f, "field `{}`, ", details.field)?;
        }
        let into = match details.rust_type {
            "" => String::new(),
            rust_type => format!(" into {rust_type}"),
        };
        match &details.cause {
            DecodeErrorKind::Null => write!(
                f,
                "cannot read NULL{into}: make the field an `Option`, or exclude NULL in the SQL"
            ),
            DecodeErrorKind::Kind { expected, found } => {
                write!(
                    f,
                    "cannot read{into}: the type calls for {expected}, {found} came"
                )
            }
            DecodeErrorKind::Invalid { reason, excerpt } if excerpt.is_empty() => {
                write!(f, "cannot read{into}: {reason}")
            }
            DecodeErrorKind::Invalid { reason, excerpt } => {
                write!(f, "cannot read {excerpt:?}{into}: {reason}")
            }
            DecodeErrorKind::Wire(error) => write!(f, "cannot read{into}: {error}"),
            DecodeErrorKind::Missing => {
                write!(f, "cannot read{into}: the values end before this one")
            }
        }
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            DecodeErrorKind::Wire(error) => Some(error),
            _ => None,
        }
    }
}
