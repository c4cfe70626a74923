//! Matches a row with the columns of a result and collects what does not fit.

use std::any::type_name;
use std::fmt;

use super::binding::{Binding, Node};
use super::hint::{listing, missing, other_case};
use super::spec::{ColumnSpec, Source};
use crate::wire::{RowType, Type, TypeCode};

/// Matches the fields of a row with the columns of a result, once per result
/// set, and collects all problems, so that one error names them all.
///
/// Handed to [`FromColumn::bind`](crate::FromColumn::bind).
#[derive(Debug, Default)]
pub struct Binder<'a> {
    problems: Vec<Problem>,
    /// The way from the result to the value being bound.
    path: Vec<Step<'a>>,
    /// What flattened rows around this one put before its column names.
    prefix: String,
    /// The value being bound is an element of the column's ARRAY.
    in_array: bool,
    /// The columns that fields have found by name so far, each with its field.
    named: Vec<(usize, String)>,
    /// How many flattened rows there are around this one.
    flattened: usize,
    /// Columns whose name is nearly that of a field which need not have one: told
    /// unless another field reads them.
    near: Vec<(usize, Problem)>,
}

/// One step of the way to a value.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    column: Option<(usize, &'a str)>,
    owner: &'static str,
    field: &'static str,
}

/// How the derive binds one field.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum BindField {
    /// A column: `<FieldType as FromColumn>::bind`.
    Column(fn(&Type, &mut Binder<'_>) -> Binding),
    /// A flattened row: `<FieldType as SpannerRow>::bind`.
    Flatten(fn(&RowType, &mut Binder<'_>) -> Binding),
    /// A flattened row that the result need not have.
    FlattenOption(fn(&RowType, &mut Binder<'_>) -> Binding),
}

/// What became of the search for a column.
enum Found {
    At(usize),
    /// The result does not have it, and need not.
    Absent,
    /// It cannot be read, which is reported.
    Reported,
}

impl<'a> Binder<'a> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Binds a scalar that is read from columns of one of these types.
    ///
    /// A type that is not among them is reported.
    pub fn scalar<T: ?Sized>(&mut self, ty: &Type, accepted: &[TypeCode]) -> Binding {
        self.scalar_or::<T>(ty, accepted, |_, wanted| wanted)
    }

    /// As [`scalar`](Self::scalar), where `cure` may add to what is said of the
    /// types that are read.
    pub(crate) fn scalar_or<T: ?Sized>(
        &mut self,
        ty: &Type,
        accepted: &[TypeCode],
        cure: impl FnOnce(&Self, String) -> String,
    ) -> Binding {
        if !accepted.contains(&ty.code()) {
            let accepted = accepted
                .iter()
                .map(TypeCode::to_string)
                .collect::<Vec<_>>()
                .join(" or ");
            let cure = cure(self, format!("it reads {accepted}"));
            self.mismatch::<T>(ty, &cure);
        }
        Binding {
            rust_type: type_name::<T>(),
            ..Binding::default()
        }
    }

    /// Binds text: like [`scalar`](Self::scalar), and notes that the value is
    /// read with [`Column::text`](crate::Column::text).
    pub fn text<T: ?Sized>(&mut self, ty: &Type, accepted: &[TypeCode]) -> Binding {
        Binding {
            reads_text: true,
            ..self.scalar::<T>(ty, accepted)
        }
    }

    /// Binds bytes that are borrowed: like [`scalar`](Self::scalar), and sees to
    /// it that [`Column::bytes`](crate::Column::bytes) finds the base64 decoded.
    pub fn bytes<T: ?Sized>(&mut self, ty: &Type, accepted: &[TypeCode]) -> Binding {
        Binding {
            decodes_bytes: true,
            ..self.scalar::<T>(ty, accepted)
        }
    }

    /// Binds an ARRAY; `element` binds its element type.
    pub fn array<T: ?Sized>(
        &mut self,
        ty: &Type,
        element: impl FnOnce(&Type, &mut Self) -> Binding,
    ) -> Binding {
        let mut binding = Binding {
            rust_type: type_name::<T>(),
            ..Binding::default()
        };
        match (ty.code(), ty.element()) {
            (TypeCode::Array, Some(element_type)) => {
                let outer = std::mem::replace(&mut self.in_array, true);
                let element = element(element_type, self);
                self.in_array = outer;
                binding.decodes_bytes = element.decodes_bytes;
                binding.reads_text = element.reads_text;
                binding.children.push(element);
            }
            _ => self.mismatch::<T>(ty, "it reads ARRAY"),
        }
        binding
    }

    /// Binds a STRUCT; `fields` binds the row that its fields make.
    pub fn structure<T: ?Sized>(
        &mut self,
        ty: &Type,
        fields: impl FnOnce(&RowType, &mut Self) -> Binding,
    ) -> Binding {
        if ty.code() != TypeCode::Struct {
            self.mismatch::<T>(ty, "it reads STRUCT");
            return Binding::default();
        }
        let prefix = std::mem::take(&mut self.prefix);
        let named = std::mem::take(&mut self.named);
        let flattened = std::mem::take(&mut self.flattened);
        let mut binding = fields(ty.fields(), self);
        self.prefix = prefix;
        self.named = named;
        self.flattened = flattened;
        binding.settle();
        binding.width = u32::try_from(ty.fields().len()).unwrap_or(u32::MAX);
        binding
    }

    /// Reports that a value of this Spanner type cannot be read into `T`.
    pub fn mismatch<T: ?Sized>(&mut self, ty: &Type, cure: &str) {
        let text = format!(
            "{} {ty}, which {} cannot be read from: {cure}",
            if self.in_array {
                "has elements of"
            } else {
                "is"
            },
            type_name::<T>()
        );
        self.report(text);
    }

    /// Reports a problem with the value being bound; the column and the field
    /// are put before the text.
    pub fn report(&mut self, text: impl Into<String>) {
        let problem = self.problem(text.into());
        self.problems.push(problem);
    }

    fn problem(&self, text: String) -> Problem {
        let column = self.path.iter().find_map(|step| step.column);
        Problem {
            column: column.map(|(index, name)| (index, name.to_owned())),
            field: self.field(),
            text,
        }
    }

    /// Whether the value being bound is an element of an ARRAY.
    pub(crate) const fn in_array(&self) -> bool {
        self.in_array
    }

    /// The field being bound, with the way to it.
    fn field(&self) -> String {
        self.path
            .iter()
            .map(|step| format!("{}.{}", step.owner, step.field))
            .collect::<Vec<_>>()
            .join(" / ")
    }

    /// Binds the fields of a row called `owner`: finds the column of each and
    /// has it compared. `specs` and `fields` go in step.
    #[doc(hidden)]
    pub fn row(
        &mut self,
        owner: &'static str,
        specs: &'static [ColumnSpec],
        fields: &[BindField],
        row_type: &RowType,
    ) -> Binding {
        let mut row = Binding {
            rust_type: owner,
            ..Binding::default()
        };
        for (spec, bind) in specs.iter().zip(fields) {
            let step = Step {
                column: None,
                owner,
                field: spec.field,
            };
            self.path.push(step);
            let mut child = match bind {
                BindField::Column(bind) => self.column(spec, *bind, row_type),
                BindField::Flatten(bind) => self.flatten(spec, *bind, row_type),
                BindField::FlattenOption(_) if !has_any(spec, &self.prefix, row_type) => {
                    self.note_near(spec, row_type);
                    absent()
                }
                BindField::FlattenOption(bind) => self.flatten(spec, *bind, row_type),
            };
            self.path.pop();
            child.field = spec.field;
            row.decodes_bytes |= child.decodes_bytes;
            row.reads_text |= child.reads_text;
            row.children.push(child);
        }
        if self.flattened == 0 {
            self.tell_near(&row);
        }
        row
    }

    /// Notes a column that is called nearly as one of the columns that an absent
    /// field would read: nobody wants to miss a value for the case of a letter.
    fn note_near(&mut self, spec: &ColumnSpec, row_type: &RowType) {
        let mut names = Vec::new();
        push_names(spec, &self.prefix, &mut names);
        for (prefix, name) in names {
            if let Some(position) = other_case(&name, row_type) {
                let text = missing(&prefix, &[name], row_type);
                self.near.push((position, self.problem(text)));
                return;
            }
        }
    }

    fn tell_near(&mut self, row: &Binding) {
        let near = std::mem::take(&mut self.near);
        if near.is_empty() {
            return;
        }
        let read = row.columns_read();
        for (position, problem) in near {
            if !read.iter().any(|column| *column as usize == position) {
                self.problems.push(problem);
            }
        }
    }

    fn column(
        &mut self,
        spec: &ColumnSpec,
        bind: fn(&Type, &mut Binder<'_>) -> Binding,
        row_type: &RowType,
    ) -> Binding {
        let position = match self.find(spec, row_type) {
            Found::At(position) => position,
            Found::Absent => {
                self.note_near(spec, row_type);
                return absent();
            }
            Found::Reported => return Binding::default(),
        };
        let Some(field) = row_type.fields().get(position) else {
            return Binding::default();
        };
        let mut inner = Binder {
            problems: std::mem::take(&mut self.problems),
            path: self.path.clone(),
            ..Binder::default()
        };
        if let Some(step) = inner.path.last_mut() {
            step.column = Some((position, field.name()));
        }
        let mut binding = bind(field.ty(), &mut inner);
        self.problems = inner.problems;
        binding.column = u32::try_from(position).unwrap_or(u32::MAX);
        binding
    }

    fn flatten(
        &mut self,
        spec: &ColumnSpec,
        bind: fn(&RowType, &mut Binder<'_>) -> Binding,
        row_type: &RowType,
    ) -> Binding {
        let outer = self.prefix.len();
        if let Source::Flatten { prefix, .. } = spec.source {
            self.prefix.push_str(prefix);
        }
        self.flattened += 1;
        let mut binding = bind(row_type, self);
        self.flattened -= 1;
        self.prefix.truncate(outer);
        binding.node = Node::Flattened;
        binding
    }

    /// Reports the columns of the result that no field of `row` reads. The
    /// outermost of flattened rows decides.
    #[doc(hidden)]
    pub fn deny_unknown_columns(&mut self, owner: &str, row: &Binding, row_type: &RowType) {
        if self.flattened > 0 {
            return;
        }
        let read = row.columns_read();
        let unknown: Vec<_> = row_type
            .fields()
            .iter()
            .enumerate()
            .filter(|(i, _)| !read.iter().any(|column| *column as usize == *i))
            .map(|(i, field)| format!("{i} `{}`", field.name()))
            .collect();
        // Beside columns that were looked for in vain nothing is unknown for sure.
        if !unknown.is_empty() {
            self.report(format!(
                "no field of `{owner}` reads the column {}: leave it out of the SQL, add a field, \
                 or remove `deny_unknown_columns`",
                unknown.join(", ")
            ));
        }
    }

    /// The position of the column that a field reads; reports when there is
    /// none or more than one.
    fn find(&mut self, spec: &ColumnSpec, row_type: &RowType) -> Found {
        let (name, aliases) = match spec.source {
            Source::At(position) if position < row_type.len() => return Found::At(position),
            Source::At(_) if spec.optional => return Found::Absent,
            Source::At(position) => {
                self.report(format!(
                    "reads the column at position {position}, but the result has {} columns: {}",
                    row_type.len(),
                    listing(row_type)
                ));
                return Found::Reported;
            }
            Source::Named { name, aliases } => (name, aliases),
            Source::Flatten { .. } => return Found::Reported,
        };
        for name in std::iter::once(&name).chain(aliases) {
            let wanted = format!("{}{name}", self.prefix);
            let mut found = row_type.positions(&wanted);
            match (found.next(), found.next()) {
                (Some(position), None) => return self.found(&wanted, position),
                (Some(first), Some(second)) => {
                    self.report(format!(
                        "reads the column `{wanted}`, but two columns have that name ({first} and \
                         {second}): give one an alias in the SQL, or match by position"
                    ));
                    return Found::Reported;
                }
                (None, _) => {}
            }
        }
        if spec.optional {
            return Found::Absent;
        }
        let names: Vec<_> = std::iter::once(&name)
            .chain(aliases)
            .map(|name| format!("{}{name}", self.prefix))
            .collect();
        self.report(missing(&self.prefix, &names, row_type));
        Found::Reported
    }

    /// A column that was found by name; two fields must not mean the same.
    fn found(&mut self, name: &str, position: usize) -> Found {
        let before = self.named.iter().find(|(taken, _)| *taken == position);
        if let Some((_, field)) = before {
            let text = format!("reads the column `{name}`, which the field `{field}` reads too");
            self.report(text);
            return Found::Reported;
        }
        self.named.push((position, self.field()));
        Found::At(position)
    }

    pub(crate) fn finish(self) -> Result<(), BindError> {
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(BindError {
                problems: self.problems,
            })
        }
    }
}

/// Whether the result has any column of a row.
fn has_any(spec: &ColumnSpec, prefix: &str, row_type: &RowType) -> bool {
    if let Source::At(position) = spec.source {
        return position < row_type.len();
    }
    let mut names = Vec::new();
    push_names(spec, prefix, &mut names);
    let mut names = names.iter();
    names.any(|(_, name)| row_type.positions(name).next().is_some())
}

/// The names under which the columns of a field may be found, and the prefix in each.
fn push_names(spec: &ColumnSpec, prefix: &str, names: &mut Vec<(String, String)>) {
    match spec.source {
        Source::At(_) => {}
        Source::Named { name, aliases } => {
            let all = std::iter::once(&name).chain(aliases);
            names.extend(all.map(|name| (prefix.to_owned(), format!("{prefix}{name}"))));
        }
        Source::Flatten {
            prefix: inner,
            columns,
        } => {
            let prefix = format!("{prefix}{inner}");
            for column in columns {
                push_names(column, &prefix, names);
            }
        }
    }
}

fn absent() -> Binding {
    Binding {
        node: Node::Absent,
        ..Binding::default()
    }
}

/// A row that does not fit a result: everything that is wrong, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    problems: Vec<Problem>,
}

impl BindError {
    /// The problems, in the order of the fields.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the row does not fit the result")?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BindError {}

/// One field of a row that does not fit a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    column: Option<(usize, String)>,
    field: String,
    text: String,
}

impl Problem {
    /// The position of the column in the result, when there is one.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.column.as_ref().map(|(index, _)| *index)
    }

    /// The name of the column in the result, when there is one.
    #[must_use]
    pub fn column_name(&self) -> Option<&str> {
        self.column.as_ref().map(|(_, name)| name.as_str())
    }

    /// The field, as `Struct.field`; fields of nested rows behind ` / `.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "field `{}`: ", self.field)?;
        }
        match &self.column {
            Some((index, name)) => write!(f, "column {index} `{name}` {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}
