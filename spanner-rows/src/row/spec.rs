//! What a row says about its columns, before any result is known.

/// One column that a row reads, or a group of them; made by the derive.
///
/// A constant tree, so that two fields that read the same column are found when
/// the program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    pub(crate) field: &'static str,
    pub(crate) source: Source,
    /// The result may lack it.
    pub(crate) optional: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// The column with this name, or one of the aliases.
    Named {
        name: &'static str,
        aliases: &'static [&'static str],
    },
    /// The column at this position.
    At(usize),
    /// The columns of a nested row, their names behind a prefix.
    Flatten {
        prefix: &'static str,
        columns: &'static [ColumnSpec],
    },
}

impl ColumnSpec {
    /// The field `field` reads the column called `name`.
    #[must_use]
    pub const fn named(field: &'static str, name: &'static str) -> Self {
        Self {
            field,
            source: Source::Named { name, aliases: &[] },
            optional: false,
        }
    }

    /// The field `field` reads the column at `position`, counted from zero.
    #[must_use]
    pub const fn at(field: &'static str, position: usize) -> Self {
        Self {
            field,
            source: Source::At(position),
            optional: false,
        }
    }

    /// The field `field` is a row whose columns stand among those of this row.
    #[must_use]
    pub const fn flatten(
        field: &'static str,
        prefix: &'static str,
        columns: &'static [Self],
    ) -> Self {
        Self {
            field,
            source: Source::Flatten { prefix, columns },
            optional: false,
        }
    }

    /// The same column, also found under these names.
    #[must_use]
    pub const fn or_named(mut self, aliases: &'static [&'static str]) -> Self {
        if let Source::Named { name, .. } = self.source {
            self.source = Source::Named { name, aliases };
        }
        self
    }

    /// The same column, which a result may lack.
    #[must_use]
    pub const fn or_absent(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The name of the field, as the struct spells it.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }
}

/// The column names that a read asks for, or the field that has none.
#[cfg(feature = "client")]
pub(crate) fn column_names(columns: &[ColumnSpec]) -> Result<Vec<String>, &'static str> {
    let mut names = Vec::with_capacity(columns.len());
    push_names(columns, "", &mut names)?;
    Ok(names)
}

#[cfg(feature = "client")]
fn push_names(
    columns: &[ColumnSpec],
    prefix: &str,
    names: &mut Vec<String>,
) -> Result<(), &'static str> {
    for column in columns {
        match column.source {
            Source::Named { name, .. } => names.push(format!("{prefix}{name}")),
            Source::At(_) => return Err(column.field),
            Source::Flatten {
                prefix: inner,
                columns,
            } => push_names(columns, &format!("{prefix}{inner}"), names)?,
        }
    }
    Ok(())
}
