//! Rust values as SQL literals, so that DML can write them.

use jiff::civil::Date;
use spanner_rows::Timestamp;

pub(crate) trait Literal {
    /// The type, as in `ARRAY<…>[]`.
    const TYPE: &str;

    /// An expression with exactly this value.
    fn sql(&self) -> String;
}

impl Literal for bool {
    const TYPE: &str = "BOOL";

    fn sql(&self) -> String {
        self.to_string()
    }
}

impl Literal for i64 {
    const TYPE: &str = "INT64";

    fn sql(&self) -> String {
        format!("CAST('{self}' AS INT64)")
    }
}

impl Literal for f64 {
    const TYPE: &str = "FLOAT64";

    fn sql(&self) -> String {
        format!("CAST('{self:?}' AS FLOAT64)")
    }
}

impl Literal for f32 {
    const TYPE: &str = "FLOAT32";

    fn sql(&self) -> String {
        format!("CAST('{self:?}' AS FLOAT32)")
    }
}

impl Literal for String {
    const TYPE: &str = "STRING";

    fn sql(&self) -> String {
        let quoted = self.chars().map(|c| match c {
            ' '..='~' if c != '\'' && c != '\\' => c.to_string(),
            _ => format!("\\U{:08x}", u32::from(c)),
        });
        format!("'{}'", quoted.collect::<Self>())
    }
}

impl Literal for Vec<u8> {
    const TYPE: &str = "BYTES";

    fn sql(&self) -> String {
        let quoted = self.iter().map(|byte| format!("\\x{byte:02x}"));
        format!("b'{}'", quoted.collect::<String>())
    }
}

impl Literal for Timestamp {
    const TYPE: &str = "TIMESTAMP";

    fn sql(&self) -> String {
        format!("TIMESTAMP '{self}'")
    }
}

impl Literal for Date {
    const TYPE: &str = "DATE";

    fn sql(&self) -> String {
        format!("DATE '{self}'")
    }
}

impl<T: Literal> Literal for Option<T> {
    const TYPE: &str = T::TYPE;

    fn sql(&self) -> String {
        match self {
            Some(value) => value.sql(),
            None => "NULL".to_owned(),
        }
    }
}

/// An array: its elements may be NULL, and so may it be.
pub(crate) fn array<T: Literal>(elements: &Option<Vec<Option<T>>>) -> String {
    match elements {
        Some(elements) => {
            let elements: Vec<_> = elements.iter().map(Literal::sql).collect();
            format!("ARRAY<{}>[{}]", T::TYPE, elements.join(", "))
        }
        None => "NULL".to_owned(),
    }
}
