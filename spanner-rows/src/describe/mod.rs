//! The struct that reads a result, as Rust source to paste.
//!
//! * `names`: identifiers of column names, and the rules of `rename_all`
//! * `nulls`: which columns get an `Option`
//! * `types`: the Rust type of a Spanner type
//! * `structs`: row types as structs, the nested ones included
//! * `text`: what comes from a server, put where it can do no harm in source

mod names;
mod nulls;
mod structs;
mod text;
mod types;

use std::fmt;

use crate::wire::{ResultMetadata, RowType};
use nulls::Nulls;
use structs::{Struct, Structs};
use types::Choices;

/// A crate whose types stand for those of Spanner, for [`Description::using`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Library {
    /// `jiff::Timestamp` and `jiff::civil::Date` (feature `jiff`, a default one).
    Jiff,
    /// `chrono::DateTime<chrono::Utc>` and `chrono::NaiveDate` (feature `chrono`).
    Chrono,
    /// `time::OffsetDateTime` and `time::Date` (feature `time`).
    Time,
    /// `uuid::Uuid` (feature `uuid`).
    Uuid,
}

/// The struct that reads a result: its [`Display`](fmt::Display) is Rust source to
/// paste into a program.
///
/// Prefer [`Query::describe`](crate::Query::describe) and
/// [`Client::describe_table`](crate::Client::describe_table) (feature `client`), which ask
/// a database; this type alone needs the columns only.
///
/// * Fields have the names of their columns in snake case; `rename_all` is the rule that
///   most columns follow, `rename` is for the others. Columns without a name of their own
///   are read by position.
/// * STRUCTs become further structs, named after their columns.
/// * A result does not tell which columns can be NULL, so every field is an `Option`
///   unless [`not_null`](Self::not_null) or the schema of a table says otherwise. The
///   elements of an ARRAY can be NULL in any schema; those that are STRUCTs are taken as
///   not NULL.
/// * The struct borrows, which costs least; [`owned`](Self::owned) makes one that can be
///   kept and collected.
/// * TIMESTAMP, DATE and UUID are types of the crates that the features of this crate
///   name; [`using`](Self::using) says others. What has no type of its own is a
///   [`Value`](crate::Value).
///
/// ```
/// use spanner_rows::{Description, Field, RowType, TypeCode};
///
/// let columns = [("SingerId", TypeCode::Int64), ("FirstName", TypeCode::String)];
/// let columns = columns.map(|(name, code)| Field::new(name, code.into()));
/// let description = Description::new(RowType::new(columns)).name("Singer").not_null(["SingerId"]);
/// assert_eq!(
///     description.to_string(),
///     "\
/// // A result does not tell which columns can be NULL: take `Option` off those that cannot.
/// #[derive(Debug, spanner_rows::SpannerRow)]
/// #[spanner(rename_all = \"PascalCase\")]
/// struct Singer<'row> {
///     singer_id: i64,
///     first_name: Option<&'row str>,
/// }
/// "
/// );
/// ```
#[derive(Clone, Debug)]
#[must_use = "a description is to be printed"]
pub struct Description {
    name: String,
    columns: RowType,
    parameters: RowType,
    /// The table and its key; a statement has none.
    table: Option<String>,
    nulls: Nulls,
    choices: Choices,
}

impl Description {
    /// Of a result with these columns.
    pub fn new(columns: RowType) -> Self {
        Self {
            name: "ResultRow".to_owned(),
            columns,
            parameters: RowType::default(),
            table: None,
            nulls: Nulls::default(),
            choices: Choices::of_features(),
        }
    }

    /// The name of the struct; a name that Rust does not take is changed to one that it
    /// does. `ResultRow` unless said, for a table its own name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Structs without a lifetime: text and bytes are copied into `String` and `Vec<u8>`.
    /// The rows can be kept, and collected.
    pub const fn owned(mut self) -> Self {
        self.choices.owned = true;
        self
    }

    /// Structs whose text and bytes lie in the buffer of the result: the default, and the
    /// opposite of [`owned`](Self::owned).
    pub const fn borrowed(mut self) -> Self {
        self.choices.owned = false;
        self
    }

    /// Columns that are never NULL; those of earlier calls remain.
    ///
    /// `Tags[]` stands for the elements of the array `Tags`, `Albums[].Title` for a column
    /// of the structs in the array `Albums`. The text names those that there are not.
    pub fn not_null<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.nulls.not_null(columns.into_iter().map(Into::into));
        self
    }

    /// Types of this crate for TIMESTAMP and DATE, or UUID, whatever the features say.
    pub const fn using(mut self, library: Library) -> Self {
        match library {
            Library::Jiff | Library::Chrono | Library::Time => self.choices.time = Some(library),
            Library::Uuid => self.choices.uuid = true,
        }
        self
    }

    /// Of a table, whose columns are not NULL where `not_null` says so.
    #[cfg(any(feature = "client", test))]
    pub(crate) fn of_table(
        table: &str,
        about: String,
        columns: RowType,
        not_null: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut description = Self::new(columns).name(names::singular(table));
        description.table = Some(about);
        description.nulls = Nulls::of_table(not_null);
        description
    }
}

impl From<&ResultMetadata> for Description {
    /// Of a result, with the parameters that the statement names and the request did not
    /// have.
    fn from(metadata: &ResultMetadata) -> Self {
        let mut description = Self::new(metadata.row_type().clone());
        description.parameters = metadata.undeclared_parameters().clone();
        description
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_parameters(f)?;
        if self.columns.is_empty() {
            return writeln!(
                f,
                "// There are no columns, and so there is nothing to read."
            );
        }
        let structs = Structs::of(&self.columns, &self.name, &self.nulls, self.choices);
        self.write_notes(f, &structs)?;
        if let Some(about) = &self.table {
            writeln!(f, "/// {}", text::line(about))?;
        }
        for (i, written) in structs.all.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{written}")?;
        }
        Ok(())
    }
}

impl Description {
    fn write_parameters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parameters.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "// Parameters that the statement names, with types that fit:"
        )?;
        for (i, parameter) in self.parameters.fields().iter().enumerate() {
            let name = text::literal(parameter.name());
            let variable = names::raw(&names::identifier(parameter.name(), i));
            let fits = types::parameter(parameter.ty(), self.choices);
            let ty = text::line(&parameter.ty().to_string());
            writeln!(f, "//     .param({name}, {variable}) // {ty}: {fits}")?;
        }
        Ok(())
    }

    fn write_notes(&self, f: &mut fmt::Formatter<'_>, structs: &Structs<'_>) -> fmt::Result {
        for library in &structs.libraries {
            writeln!(
                f,
                "// Needs the crate `{library}`, and the feature of that name."
            )?;
        }
        let options = |of: fn(&Struct) -> bool| structs.all.iter().any(of);
        if self.table.is_none() && options(|written| written.has_option) {
            writeln!(
                f,
                "// A result does not tell which columns can be NULL: take `Option` off those that cannot."
            )?;
        }
        if options(|written| written.has_optional_element) {
            writeln!(
                f,
                "// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not."
            )?;
        }
        for unknown in structs.unused_not_null() {
            writeln!(
                f,
                "// `{}` was said to be not NULL, but is not there.",
                text::line(unknown)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
