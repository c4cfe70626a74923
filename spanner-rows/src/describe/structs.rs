//! Row types as structs.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use super::names::{self, Rule};
use super::nulls::Nulls;
use super::text;
use super::types::{Choices, RustType, scalar};
use crate::wire::{RowType, Type, TypeCode};

/// A row type, and those of the STRUCTs in it.
pub(super) struct Structs<'a> {
    /// The outermost comes first, then each before those in it.
    pub(super) all: Vec<Struct>,
    pub(super) libraries: BTreeSet<&'static str>,
    nulls: &'a Nulls,
    /// What was said to be not NULL, and is there.
    seen: BTreeSet<&'a str>,
    taken: HashSet<String>,
    choices: Choices,
}

#[derive(Default)]
pub(super) struct Struct {
    name: String,
    borrows: bool,
    rename_all: Option<&'static str>,
    by_position: bool,
    fields: Vec<Member>,
    /// Whether a column, and whether an element of an array, may be NULL.
    pub(super) has_option: bool,
    pub(super) has_optional_element: bool,
}

struct Member {
    attribute: Option<String>,
    name: String,
    ty: RustType,
}

impl<'a> Structs<'a> {
    pub(super) fn of(columns: &RowType, name: &str, nulls: &'a Nulls, choices: Choices) -> Self {
        let mut structs = Self {
            all: Vec::new(),
            libraries: BTreeSet::new(),
            nulls,
            seen: BTreeSet::new(),
            taken: HashSet::new(),
            choices,
        };
        structs.add(columns, name, "");
        structs
    }

    pub(super) fn unused_not_null(&self) -> impl Iterator<Item = &str> {
        self.nulls.unused(&self.seen)
    }

    /// Adds a struct whose columns stand at the path; answers its place.
    fn add(&mut self, columns: &RowType, name: &str, path: &str) -> usize {
        let place = self.all.len();
        let name = names::unique(&mut self.taken, names::type_name(name), "");
        self.all.push(Struct {
            name,
            ..Struct::default()
        });

        let mut taken = HashSet::new();
        let fields = columns.fields();
        let names = fields
            .iter()
            .enumerate()
            .map(|(i, field)| names::unique(&mut taken, names::identifier(field.name(), i), "_"));
        let names = names.collect::<Vec<_>>();
        // A name that is empty, or that of two columns, names none.
        let named = fields.iter().enumerate().map(|(i, field)| {
            !field.name().is_empty() && columns.position(field.name()) == Some(i)
        });
        let named = named.collect::<Vec<_>>();
        let by_position = !named.contains(&true) && fields.len() > 1;
        let by_name = names
            .iter()
            .zip(fields)
            .zip(&named)
            .filter(|(_, named)| **named);
        let by_name = by_name.map(|((name, field), _)| (name.as_str(), field.name()));
        let rule = Rule::of_most(&by_name.collect::<Vec<_>>());

        for (i, (name, field)) in names.iter().zip(fields).enumerate() {
            let attribute = if by_position {
                None
            } else if !named[i] {
                Some(format!("index = {i}"))
            } else if rule.fits(name, field.name()) {
                None
            } else {
                Some(format!("rename = {}", text::literal(field.name())))
            };
            let path = format!("{path}{}", field.name());
            let mut ty = self.column(place, field.ty(), field.name(), &path);
            if self.nulls.is_nullable(&path, &mut self.seen) {
                ty.text = format!("Option<{}>", ty.text);
                self.all[place].has_option = true;
            }
            self.libraries.extend(ty.library);
            self.all[place].borrows |= ty.borrows;
            self.all[place].fields.push(Member {
                attribute,
                name: names::raw(name),
                ty,
            });
        }
        self.all[place].rename_all = rule.attribute();
        self.all[place].by_position = by_position;
        place
    }

    /// The type of a column of the struct at `place`, without regard to NULL.
    fn column(&mut self, place: usize, ty: &Type, name: &str, path: &str) -> RustType {
        match (ty.code(), ty.element()) {
            (TypeCode::Array, Some(element)) => {
                let path = format!("{path}[]");
                let mut inner = self.column(place, element, names::singular(name), &path);
                let nullable = self.nulls.is_nullable(&path, &mut self.seen);
                if nullable && element.code() != TypeCode::Struct {
                    inner.text = format!("Option<{}>", inner.text);
                    self.all[place].has_optional_element = true;
                }
                inner.text = format!("Vec<{}>", inner.text);
                inner
            }
            // A struct without fields reads nothing, and cannot be derived.
            (TypeCode::Struct, _) if !ty.fields().is_empty() => {
                let inner = self.add(ty.fields(), name, &format!("{path}."));
                let inner = &self.all[inner];
                RustType {
                    text: inner.as_type(),
                    borrows: inner.borrows,
                    ..RustType::default()
                }
            }
            _ => scalar(ty, self.choices),
        }
    }
}

impl Struct {
    /// The name, with the lifetime.
    fn as_type(&self) -> String {
        let lifetime = if self.borrows { "<'row>" } else { "" };
        format!("{}{lifetime}", self.name)
    }
}

impl fmt::Display for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "#[derive(Debug, spanner_rows::SpannerRow)]")?;
        if self.by_position {
            writeln!(f, "#[spanner(match_by = \"index\")]")?;
        } else if let Some(rule) = self.rename_all {
            writeln!(f, "#[spanner(rename_all = \"{rule}\")]")?;
        }
        writeln!(f, "struct {} {{", self.as_type())?;
        for field in &self.fields {
            if let Some(note) = &field.ty.note {
                writeln!(f, "    // {}", text::line(note))?;
            }
            if let Some(attribute) = &field.attribute {
                writeln!(f, "    #[spanner({attribute})]")?;
            }
            writeln!(f, "    {}: {},", field.name, field.ty.text)?;
        }
        writeln!(f, "}}")
    }
}
