//! The conditions on the type parameters of a row.

use proc_macro2::{Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Lifetime, Type};

use crate::attrs::DefaultValue;
use crate::expand::Paths;
use crate::types::option_inner;
use crate::validate::{How, Role, Row};

/// `where …`: the struct's own conditions, and those of `bound` or what the
/// fields need. A type that a column is read into has to be one for every
/// lifetime of the buffer, so it owns its data.
pub(crate) fn conditions(row: &Row<'_>, paths: &Paths) -> TokenStream {
    if let Some(bound) = &row.input.attrs.bound {
        let bound = &bound.value;
        return row.generics.where_clause(quote!(#(#bound),*));
    }
    let mut conditions = Conditions {
        row,
        paths,
        all: TokenStream::new(),
    };
    for param in row.input.ast.generics.type_params() {
        conditions.of_parameter(&param.ident);
    }
    if row.generics.has_types() {
        conditions.of_fields();
    }
    row.generics.where_clause(conditions.all)
}

struct Conditions<'a> {
    row: &'a Row<'a>,
    paths: &'a Paths,
    all: TokenStream,
}

impl Conditions<'_> {
    /// What the fields that a column, or a flattened row, is read into ask of a
    /// type parameter.
    fn of_parameter(&mut self, param: &Ident) {
        let Paths { root, core, .. } = self.paths;
        let any = &self.row.generics.any;
        let mut column = false;
        let mut row = false;
        for field in &self.row.fields {
            match &field.role {
                Role::Skip(_) => {}
                Role::Flatten { .. } => {
                    let inner = option_inner(field.ty).unwrap_or(field.ty);
                    let whole = is(inner, param);
                    row |= whole;
                    column |= !whole && mentions(inner, param);
                }
                Role::Column(read) => match &read.how {
                    How::Type => column |= mentions(field.ty, param),
                    How::Convert { from, .. } => column |= mentions(from, param),
                    How::With(_) | How::Json => {}
                },
            }
        }
        let column = column.then(|| {
            quote! {
                for<#any> #root::FromColumn<#any>
                    + for<#any> #root::ColumnType<At<#any> = #param>
                    + 'static
            }
        });
        let row = row.then(|| quote!(#root::OwnedRow));
        let bounds = match (column, row) {
            (None, None) => quote!(#core::marker::Send + 'static),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(other)) => quote!(#one + #other),
        };
        self.all.extend(quote!(#param: #bounds,));
    }

    /// What defaults and conversions ask of the types of their fields.
    fn of_fields(&mut self) {
        let core = &self.paths.core;
        if self.row.input.attrs.default.is_some() {
            let name = &self.row.input.name;
            let generics = &self.row.generics;
            let arguments = generics.arguments(&generics.any);
            let any = generics.borrows().then_some(&generics.any);
            let any = any.map(|any| quote!(for<#any>));
            let condition = quote!(#any #name #arguments: #core::default::Default,);
            self.all.extend(condition);
        }
        for field in &self.row.fields {
            let Role::Column(column) = &field.role else {
                if let Role::Skip(DefaultValue::OfType) = field.role {
                    let default = quote!(#core::default::Default);
                    self.of_field(field.ty, &default, &[]);
                }
                continue;
            };
            let defaults = [&column.default, &column.null_default];
            if defaults
                .iter()
                .any(|value| matches!(value, Some(DefaultValue::OfType)))
            {
                self.of_field(field.ty, &quote!(#core::default::Default), &[]);
            }
            match &column.how {
                How::Convert {
                    from,
                    fallible,
                    option,
                } => {
                    let bound = if *fallible {
                        quote!(#core::convert::TryFrom<#from, Error: #core::fmt::Display>)
                    } else {
                        quote!(#core::convert::From<#from>)
                    };
                    let into = option.unwrap_or(field.ty);
                    self.of_field(into, &bound, &[from]);
                }
                How::Json => {
                    let private = &self.paths.private;
                    self.of_field(field.ty, &quote!(#private::JsonField), &[]);
                }
                How::Type | How::With(_) => {}
            }
        }
    }

    /// `ty: bound`, when a type parameter stands in it or in `others`.
    fn of_field(&mut self, ty: &Type, bound: &TokenStream, others: &[&Type]) {
        let mut params = self.row.input.ast.generics.type_params();
        let concerned = params.any(|param| {
            mentions(ty, &param.ident) || others.iter().any(|ty| mentions(ty, &param.ident))
        });
        if !concerned {
            return;
        }
        let condition = quote!(#ty: #bound,);
        self.all.extend(if self.row.generics.borrows() {
            // The buffer may live shorter than what the struct was named with.
            let (own, any) = (&self.row.generics.row, &self.row.generics.any);
            let condition = with_lifetime(condition, own, any);
            quote!(for<#any> #condition)
        } else {
            condition
        });
    }
}

/// Whether `ty` is `name` and nothing else.
fn is(ty: &Type, name: &Ident) -> bool {
    match ty {
        Type::Path(path) => path.path.is_ident(name),
        Type::Group(group) => is(&group.elem, name),
        Type::Paren(paren) => is(&paren.elem, name),
        _ => false,
    }
}

/// Whether `name` stands anywhere in `ty`.
fn mentions(ty: &Type, name: &Ident) -> bool {
    fn stands_in(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => stands_in(group.stream(), name),
            _ => false,
        })
    }
    stands_in(ty.to_token_stream(), name)
}

/// The same tokens with `new` in place of the lifetime `old`.
fn with_lifetime(tokens: TokenStream, old: &Lifetime, new: &Lifetime) -> TokenStream {
    let mut quote = None::<Punct>;
    let mut replaced = TokenStream::new();
    for token in tokens {
        if let Some(quote) = quote.take() {
            match &token {
                TokenTree::Ident(ident) if *ident == old.ident => new.to_tokens(&mut replaced),
                _ => replaced.extend([TokenTree::from(quote), token]),
            }
            continue;
        }
        match token {
            TokenTree::Punct(punct)
                if punct.as_char() == '\'' && punct.spacing() == Spacing::Joint =>
            {
                quote = Some(punct);
            }
            TokenTree::Group(group) => {
                let inner = with_lifetime(group.stream(), old, new);
                let mut whole = Group::new(group.delimiter(), inner);
                whole.set_span(group.span());
                replaced.extend([TokenTree::from(whole)]);
            }
            token => replaced.extend([token]),
        }
    }
    replaced
}
