//! Judges the struct and its attributes as a whole.

use proc_macro2::{Ident, Span};
use syn::{Lifetime, Type};

use crate::attrs::{DefaultValue, MatchBy, With};
use crate::conflicts;
use crate::ctxt::Ctxt;
use crate::generics::RowGenerics;
use crate::model::{Field, Input, Member, Shape};
use crate::types::{for_each_reference, holds, not_in_the_buffer, option_inner};

/// A struct from which rows can be made.
pub(crate) struct Row<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) generics: RowGenerics<'a>,
    pub(crate) fields: Vec<RowField<'a>>,
}

pub(crate) struct RowField<'a> {
    pub(crate) member: &'a Member,
    pub(crate) ty: &'a Type,
    pub(crate) role: Role<'a>,
}

/// What a field has to do with the columns.
pub(crate) enum Role<'a> {
    /// It reads one.
    Column(Box<Column<'a>>),
    /// It is a row whose columns stand among those of this row.
    Flatten { prefix: String },
    /// It reads none.
    Skip(DefaultValue),
}

pub(crate) struct Column<'a> {
    pub(crate) source: Source,
    pub(crate) how: How<'a>,
    /// The value when the result does not have the column.
    pub(crate) default: Option<DefaultValue>,
    /// The value when the column is NULL.
    pub(crate) null_default: Option<DefaultValue>,
}

/// Where a field's column is found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// By the first of these names that the result has.
    Named(Vec<String>),
    At(usize),
}

/// How a column becomes the value of a field.
pub(crate) enum How<'a> {
    /// By the field's type.
    Type,
    /// By another type, from which it is converted.
    Convert {
        from: &'a Type,
        fallible: bool,
        /// The field is an `Option` of this, whose `None` stands for NULL.
        option: Option<&'a Type>,
    },
    With(With),
    Json,
}

/// The struct, if code can be made for it. Problems are reported, except those
/// that the compiler finds in the struct itself.
pub(crate) fn check<'a>(ctxt: &Ctxt, input: &'a Input<'a>) -> Option<Row<'a>> {
    let Shape::Struct(fields) = &input.shape else {
        return None;
    };
    conflicts::check(ctxt, input, fields);
    if input.attrs.transparent.is_some() {
        check_one_field(ctxt, input, fields);
    } else {
        check_any_column(ctxt, input, fields);
        check_names(ctxt, input, fields);
        check_columns(ctxt, input, fields);
    }
    check_itself(ctxt, input, fields);
    let lifetime = one_lifetime(ctxt, input);
    let complete = check_references(ctxt, input, fields, lifetime);
    let sources = sources(input, fields);
    let fields = fields.iter().zip(sources);
    let fields = fields.map(|(field, source)| RowField {
        member: &field.member,
        ty: field.ty,
        role: role(input, field, source),
    });
    complete.then(|| Row {
        input,
        generics: RowGenerics::new(input.ast),
        fields: fields.collect(),
    })
}

/// As [`check`], for a row that is sent. It borrows from anything, and its columns
/// have the names of the fields wherever these have some.
pub(crate) fn check_encode<'a>(ctxt: &Ctxt, input: &'a Input<'a>) -> Option<Row<'a>> {
    let Shape::Struct(fields) = &input.shape else {
        return None;
    };
    conflicts::check(ctxt, input, fields);
    if let Some(transparent) = &input.attrs.transparent {
        ctxt.error(
            transparent.name,
            "a `transparent` struct is one column, which `SpannerRow` lets you send already: leave \
             `SpannerEncode` out",
        );
    }
    if !is_tuple(fields) {
        check_columns(ctxt, input, fields);
    }
    let mut complete = true;
    let columns = fields.iter().map(|field| {
        if let Some(given) = &field.attrs.with
            && let With::Function(_) = given.value
        {
            ctxt.error(
                given.literal,
                "this function only reads: for `SpannerEncode` write `with(module = \"…\")`, whose \
                 `encode` writes",
            );
        }
        if let Some(itself) = sends_itself(input, field) {
            ctxt.error(
                itself.span(),
                format!(
                    "`{itself}` cannot be sent in itself, because its type would have no end: \
                     leave the field out with `skip` or `read_only`, or write it with `json` or `with`"
                ),
            );
        }
        for_each_reference(field.ty, &mut |lifetime| complete &= lifetime.is_some());
        let source = has_column(field).then(|| match &field.member {
            Member::Named(_) => Source::Named(names(input, field)),
            Member::Position { index, .. } => Source::At(*index),
        });
        let role = match &field.attrs.read_only {
            Some(_) => Role::Skip(DefaultValue::OfType),
            None => role(input, field, source),
        };
        RowField {
            member: &field.member,
            ty: field.ty,
            role,
        }
    });
    let columns: Vec<_> = columns.collect();
    if columns
        .iter()
        .all(|field| matches!(field.role, Role::Skip(_)))
    {
        ctxt.error(
            input.name.ident().span(),
            "a row needs a field that is written: all fields have `skip` or `read_only`",
        );
    }
    complete.then(|| Row {
        input,
        generics: RowGenerics::new(input.ast),
        fields: columns,
    })
}

fn role<'a>(input: &Input<'_>, field: &'a Field<'_>, source: Option<Source>) -> Role<'a> {
    let attrs = &field.attrs;
    if let Some(skip) = &attrs.skip {
        return Role::Skip(skip.value.clone());
    }
    let source = match (&attrs.flatten, source) {
        (None, Some(source)) => source,
        (flatten, _) => {
            let prefix = flatten.as_ref().map(|given| given.value.clone());
            return Role::Flatten {
                prefix: prefix.unwrap_or_default(),
            };
        }
    };
    let converted = |from: &'a Type, fallible| How::Convert {
        from,
        fallible,
        option: match option_inner(from) {
            Some(_) => None,
            None => option_inner(field.ty),
        },
    };
    let how = match (&attrs.from, &attrs.try_from, &attrs.with) {
        (Some(from), ..) => converted(&from.value, false),
        (None, Some(from), _) => converted(&from.value, true),
        (None, None, Some(with)) => How::With(with.value.clone()),
        (None, None, None) if attrs.json.is_some() => How::Json,
        (None, None, None) => How::Type,
    };
    let of_struct = input.attrs.default.as_ref();
    let of_struct = of_struct.map(|given| DefaultValue::OfStruct(given.name));
    let own = attrs.default.as_ref().map(|given| given.value.clone());
    Role::Column(Box::new(Column {
        source,
        how,
        default: own.or(of_struct),
        null_default: attrs.null_default.as_ref().map(|given| given.value.clone()),
    }))
}

/// Where each field finds its column; `None` for those that have no column of
/// their own, which do not count where the position decides.
fn sources(input: &Input<'_>, fields: &[Field<'_>]) -> Vec<Option<Source>> {
    let by_index = matched_by_index(input, fields);
    let mut position = 0;
    let mut source = |field: &Field<'_>| {
        if !has_column(field) {
            return None;
        }
        let own = position;
        position += 1;
        Some(match &field.attrs.index {
            Some(index) => Source::At(index.value),
            None if by_index => Source::At(own),
            None => Source::Named(names(input, field)),
        })
    };
    fields.iter().map(&mut source).collect()
}

fn has_column(field: &Field<'_>) -> bool {
    field.attrs.place("skip").is_none() && field.attrs.place("flatten").is_none()
}

fn is_tuple(fields: &[Field<'_>]) -> bool {
    fields
        .iter()
        .any(|field| matches!(field.member, Member::Position { .. }))
}

fn matched_by_index(input: &Input<'_>, fields: &[Field<'_>]) -> bool {
    let asked = input.attrs.match_by.as_ref();
    is_tuple(fields) || asked.is_some_and(|given| given.value == MatchBy::Index)
}

/// The names of the column that a field reads when names decide.
fn names(input: &Input<'_>, field: &Field<'_>) -> Vec<String> {
    let own = field.member.name();
    let name = match (&field.attrs.rename, &input.attrs.rename_all) {
        (Some(rename), _) => rename.value.clone(),
        (None, Some(case)) => case.value.apply(&own),
        (None, None) => own,
    };
    let aliases = field.attrs.aliases.iter().map(|given| given.value.clone());
    std::iter::once(name).chain(aliases).collect()
}

/// A transparent struct is one column, and that is one field.
fn check_one_field(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let mut read = fields
        .iter()
        .filter(|field| field.attrs.place("skip").is_none());
    if read.next().is_none() {
        ctxt.error(
            input.name.ident().span(),
            "a `transparent` struct stands for one column: leave one field without `skip`",
        );
    }
    for second in read {
        let message = format!(
            "a `transparent` struct stands for one column: put `skip` on `{}`, or leave \
             `transparent` out",
            second.member.name()
        );
        ctxt.error(second.span(), message);
    }
}

fn check_any_column(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let skipped = |field: &Field<'_>| field.attrs.place("skip").is_some();
    if fields.iter().all(skipped) {
        ctxt.error(
            input.name.ident().span(),
            "a row needs a field that reads a column: all fields have `skip`",
        );
    }
}

/// Names mean nothing where the position decides.
fn check_names(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let of_struct = input.attrs.names.iter();
    let of_struct = of_struct.filter(|(name, _)| *name == "rename_all");
    let of_fields = fields.iter().flat_map(|field| {
        let names = ["rename", "alias", "flatten"];
        let given = field.attrs.names.iter();
        given.filter(move |(name, _)| names.contains(name))
    });
    let names = of_struct.chain(of_fields);
    let asked = input.attrs.match_by.as_ref();
    if is_tuple(fields) {
        for (name, span) in names {
            let message =
                format!("the fields of a tuple struct are matched by position: leave `{name}` out");
            ctxt.error(*span, message);
        }
        if let Some(by_name) = asked.filter(|given| given.value == MatchBy::Name) {
            ctxt.error(
                by_name.literal,
                "the fields of a tuple struct have no names to match columns by: name them, or \
                 leave `match_by` out",
            );
        }
        return;
    }
    let Some(by_index) = asked.filter(|given| given.value == MatchBy::Index) else {
        return;
    };
    let mut conflicts = false;
    for (name, span) in names {
        conflicts = true;
        let message = format!(
            "`{name}` has no effect when columns are matched by index: leave it or `match_by` out"
        );
        ctxt.error(*span, message);
    }
    if conflicts {
        ctxt.error(
            by_index.name,
            "columns are matched by index because of this",
        );
    }
}

/// A row has as many columns as its struct says, so it cannot be one of them.
fn check_itself(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        let Some(itself) = reads_itself(input, field) else {
            continue;
        };
        let message = if field.attrs.flatten.is_some() {
            format!(
                "the columns of `{itself}` cannot stand among themselves: leave the field out with \
                 `skip`"
            )
        } else {
            format!(
                "`{itself}` cannot be a column of itself, because its type would have no end: use \
                 a `Vec` with `#[spanner(default)]`, which is read as deep as the column goes, or \
                 leave the field out with `skip`"
            )
        };
        ctxt.error(itself.span(), message);
    }
}

/// Where a field that is read by its type has the struct in it.
pub(crate) fn reads_itself<'a>(input: &Input<'_>, field: &Field<'a>) -> Option<&'a Ident> {
    by_type(field)
        .then(|| holds(field.ty, &input.ast.ident, false))
        .flatten()
}

/// As [`reads_itself`], for a row that is sent.
fn sends_itself<'a>(input: &Input<'_>, field: &Field<'a>) -> Option<&'a Ident> {
    let sent = by_type(field) && field.attrs.place("read_only").is_none();
    sent.then(|| holds(field.ty, &input.ast.ident, true))
        .flatten()
}

/// Whether nothing but the type of a field decides how it is read.
pub(crate) fn by_type(field: &Field<'_>) -> bool {
    const OTHER: [&str; 5] = ["skip", "from", "try_from", "with", "json"];
    let mut other = OTHER.iter();
    !other.any(|name| field.attrs.place(name).is_some())
}

/// The lifetime of the struct, which is that of the buffer it borrows from.
fn one_lifetime<'a>(ctxt: &Ctxt, input: &'a Input<'_>) -> Option<&'a Lifetime> {
    let mut lifetimes = input.ast.generics.lifetimes();
    let first = &lifetimes.next()?.lifetime;
    for second in lifetimes {
        let message = format!(
            "a row borrows from one buffer and has one lifetime: use `{first}` in place of `{}`",
            second.lifetime
        );
        ctxt.error(second.lifetime.span(), message);
    }
    Some(first)
}

/// References need the lifetime of the row. Returns whether all have one: the
/// compiler reports those that do not, and would do so again for every place
/// where generated code repeats the type.
fn check_references(
    ctxt: &Ctxt,
    input: &Input<'_>,
    fields: &[Field<'_>],
    lifetime: Option<&Lifetime>,
) -> bool {
    let generics = &input.ast.generics;
    let mut complete = true;
    for field in fields {
        let attrs = &field.attrs;
        let read = attrs.place("skip").is_none();
        if by_type(field)
            && let Some((span, message)) = not_in_the_buffer(field.ty, generics)
        {
            ctxt.error(span, message);
        }
        let converted = attrs.from.iter().chain(&attrs.try_from);
        let converted = converted.map(|given| (&given.value, Some(given.literal)));
        for (ty, literal) in std::iter::once((field.ty, None)).chain(converted) {
            for_each_reference(ty, &mut |found| match found {
                None => {
                    complete = false;
                    // The types of fields are the compiler's, which it sees in the struct; those
                    // in attributes nobody sees but the derive.
                    if let Some(literal) = literal {
                        ctxt.error(literal, without_lifetime(lifetime));
                    }
                }
                Some(found) if found.ident == "static" && read => {
                    let instead = match lifetime {
                        Some(lifetime) => format!("`{lifetime}`"),
                        None => {
                            "a lifetime of the struct (`struct Row<'row>`, `&'row str`)".to_owned()
                        }
                    };
                    ctxt.error(
                        found.span(),
                        format!(
                            "a `'static` reference would outlive the row and the buffer behind \
                             it: use {instead}, or an owned type such as `String`"
                        ),
                    );
                }
                Some(_) => {}
            });
        }
    }
    complete
}

/// What to say about a reference in an attribute that has no lifetime.
fn without_lifetime(lifetime: Option<&Lifetime>) -> String {
    match lifetime {
        Some(lifetime) => format!(
            "a reference needs the lifetime of the row: write `&{lifetime}` in place of `&`"
        ),
        None => {
            "a reference needs the lifetime of the row, and this struct has none: use an owned \
             type such as `String`, or `with = \"function\"`, whose column lends its text"
                .to_owned()
        }
    }
}

/// Two fields must not read one column: in reordered results it would be
/// impossible to say which was meant.
fn check_columns(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let sources = sources(input, fields);
    let read: Vec<_> = fields
        .iter()
        .zip(&sources)
        .filter_map(|(field, source)| Some((field, source.as_ref()?)))
        .collect();
    for (i, (field, source)) in read.iter().enumerate() {
        match source {
            Source::At(position) => {
                let before = read[..i].iter().find(|(_, before)| before == source);
                if let Some((before, _)) = before {
                    let column = format!("the column at position {position}");
                    both_read(ctxt, (before, at(before)), (field, at(field)), &column);
                }
            }
            Source::Named(names) => {
                if names.iter().any(String::is_empty) {
                    let message = format!(
                        "`rename_all` leaves nothing of the name `{}`: use `rename`",
                        field.member.name()
                    );
                    ctxt.error(field.span(), message);
                    continue;
                }
                check_own_names(ctxt, field, names);
                check_names_before(ctxt, &read[..i], (field, names));
            }
        }
    }
}

/// An alias must say something new.
fn check_own_names(ctxt: &Ctxt, field: &Field<'_>, names: &[String]) {
    for (i, name) in names.iter().enumerate().skip(1) {
        if names[..i].contains(name) {
            let message = format!("`{}` is read as `{name}` anyway", field.member.name());
            ctxt.error(naming(field, i), message);
        }
    }
}

fn check_names_before(
    ctxt: &Ctxt,
    before: &[(&Field<'_>, &Source)],
    (field, names): (&Field<'_>, &[String]),
) {
    for (i, name) in names.iter().enumerate() {
        for (earlier, source) in before {
            let Source::Named(taken) = source else {
                continue;
            };
            if let Some(j) = taken.iter().position(|taken| taken == name) {
                let (first, second) = (naming(earlier, j), naming(field, i));
                let column = format!("the column `{name}`");
                both_read(ctxt, (earlier, first), (field, second), &column);
                return;
            }
        }
    }
}

fn both_read(
    ctxt: &Ctxt,
    (first, first_place): (&Field<'_>, Span),
    (second, second_place): (&Field<'_>, Span),
    column: &str,
) {
    let (first, second) = (first.member.name(), second.member.name());
    let message = format!("the fields `{first}` and `{second}` both read {column}");
    ctxt.error(second_place, message);
    ctxt.error(first_place, format!("{column} is read here first"));
}

/// The place that says a field's position.
fn at(field: &Field<'_>) -> Span {
    match &field.attrs.index {
        Some(index) => index.literal,
        None => field.span(),
    }
}

/// The place of the name of a field's column, or of its alias number `i`.
fn naming(field: &Field<'_>, i: usize) -> Span {
    let given = match i {
        0 => field.attrs.rename.as_ref(),
        i => field.attrs.aliases.get(i - 1),
    };
    given.map_or_else(|| field.span(), |given| given.literal)
}
