//! Attributes that exclude each other.

use crate::attrs::{FieldAttrs, StructAttrs};
use crate::ctxt::Ctxt;
use crate::model::{Field, Input};
use crate::types::option_inner;

/// Pairs of attributes of a field; the sentence is about the first, and both
/// names can stand in it. The first pair that is found counts.
const OF_FIELD: &[(&str, &[&str], &str)] = &[
    (
        "skip",
        &[
            "rename",
            "alias",
            "index",
            "flatten",
            "default",
            "null_default",
            "from",
            "try_from",
            "with",
            "json",
            "read_only",
        ],
        "a field with `skip` reads no column, so `{}` has no effect: leave one of them out",
    ),
    (
        "flatten",
        &["rename", "alias", "index"],
        "a row with `flatten` has columns of its own, so `{}` has no effect: put it on the fields \
         of that row, or use `flatten(prefix = \"…\")`",
    ),
    (
        "flatten",
        &["default", "null_default"],
        "a row with `flatten` has columns of its own, so `{}` has no effect: put it on the fields \
         of that row, or make this field an `Option`",
    ),
    (
        "flatten",
        &["from", "try_from", "with", "json"],
        "`{}` converts one column and `flatten` reads several: leave one of them out",
    ),
    (
        "index",
        &["rename", "alias"],
        "`index` finds the column by its position, so `{}` has no effect: leave one of them out",
    ),
    (
        "with",
        &["from", "try_from", "json"],
        "`with` decides alone how the column is read, so `{}` has no effect: leave one of them out",
    ),
    (
        "json",
        &["from", "try_from"],
        "`json` decides alone how the column is read, so `{}` has no effect: leave one of them out",
    ),
    (
        "try_from",
        &["from"],
        "a value is converted by `try_from` or by `{}`, not by both: leave one of them out",
    ),
];

const OF_TRANSPARENT: &[&str] = &["rename_all", "match_by", "deny_unknown_columns", "default"];

pub(crate) fn check(ctxt: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        check_field(ctxt, &field.attrs);
        check_null_default(ctxt, field);
    }
    if input.attrs.transparent.is_some() {
        check_transparent(ctxt, &input.attrs, fields);
    }
}

fn check_field(ctxt: &Ctxt, attrs: &FieldAttrs) {
    for (one, others, sentence) in OF_FIELD {
        if attrs.place(one).is_none() {
            continue;
        }
        let mut excluded = attrs.names.iter().filter(|(name, _)| others.contains(name));
        if let Some((name, span)) = excluded.next() {
            ctxt.error(*span, sentence.replace("{}", name));
            return;
        }
    }
}

fn check_null_default(ctxt: &Ctxt, field: &Field<'_>) {
    let Some(given) = &field.attrs.null_default else {
        return;
    };
    if option_inner(field.ty).is_some() {
        ctxt.error(
            given.name,
            "an `Option` reads NULL as `None`, so `null_default` has no effect: leave it or the \
             `Option` out",
        );
    }
}

fn check_transparent(ctxt: &Ctxt, attrs: &StructAttrs, fields: &[Field<'_>]) {
    for (name, span) in &attrs.names {
        if OF_TRANSPARENT.contains(name) {
            ctxt.error(
                *span,
                format!(
                    "a `transparent` struct stands for one column and has none of its own, so \
                     `{name}` has no effect: leave one of them out"
                ),
            );
        }
    }
    for field in fields {
        for (name, span) in &field.attrs.names {
            if *name != "skip" {
                ctxt.error(
                    *span,
                    format!(
                        "a `transparent` struct is read as its one field is, so `{name}` has no \
                         effect: put it on the fields of this type"
                    ),
                );
            }
        }
    }
}
