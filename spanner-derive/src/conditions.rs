//! The conditions on the type parameters of a row.

use proc_macro2::{Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Lifetime, Type};

use crate::attrs::DefaultValue;
use crate::expand::Paths;
use crate::model::{first_span, last_span};
use crate::place::{PathTokens, at_call_site};
use crate::types::option_inner;
use crate::validate::{How, Role, Row};

/// `where …`: the struct's own conditions, and those of `bound` or what the
/// fields need. A type that a column is read into has to be one for every
/// lifetime of the buffer, so it owns its data.
pub(crate) fn conditions(row: &Row<'_>, paths: &Paths) -> TokenStream {
    let mut conditions = Conditions {
        row,
        paths,
        all: TokenStream::new(),
    };
    conditions.of_other_types();
    if let Some(bound) = &row.input.attrs.bound {
        for bound in &bound.value {
            conditions.all.extend(quote!(#bound,));
        }
        for (param, role) in whole_fields(row) {
            conditions.of_whole(param, role);
        }
        return row.generics.where_clause(conditions.all);
    }
    for param in row.input.ast.generics.type_params() {
        conditions.of_parameter(&param.ident);
    }
    if row.generics.has_types() {
        conditions.of_fields();
    }
    row.generics.where_clause(conditions.all)
}

/// A `bound` that says too little of a parameter that is the whole type of a
/// field gets one message, at that field. The implementations take the condition
/// for granted (see [`conditions`]), or each of them would say it again.
pub(crate) fn check_bound(row: &Row<'_>, parameters: &TokenStream, paths: &Paths) -> TokenStream {
    let Some(bound) = &row.input.attrs.bound else {
        return TokenStream::new();
    };
    let private = &paths.private;
    let checks: Vec<_> = whole_fields(row)
        .map(|(param, role)| {
            let needed = match role {
                Role::Flatten { .. } => quote!(#private::owned_row),
                _ => quote!(#private::owned_column),
            };
            let span = param.span();
            let needed = PathTokens::from(needed).starting_at(span);
            quote_spanned!(span=> #needed::<#param>();)
        })
        .collect();
    if checks.is_empty() {
        return TokenStream::new();
    }
    let bound = &bound.value;
    // The compiler would have these amended in the middle of a literal.
    let parameters = at_call_site(parameters.clone());
    let conditions = at_call_site(row.generics.where_clause(quote!(#(#bound),*)));
    quote! {
        #[allow(dead_code)]
        fn __bound #parameters () #conditions {
            #(#checks)*
        }
    }
}

/// The fields whose whole type is a type parameter, as it stands there.
fn whole_fields<'a>(row: &'a Row<'_>) -> impl Iterator<Item = (&'a Ident, &'a Role<'a>)> {
    row.fields.iter().filter_map(|field| {
        match &field.role {
            Role::Flatten { .. } => {}
            Role::Column(column) if matches!(column.how, How::Type) => {}
            _ => return None,
        }
        let name = whole(field.ty)?;
        let mut params = row.input.ast.generics.type_params();
        params
            .any(|param| param.ident == *name)
            .then_some((name, &field.role))
    })
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
        let column = column.then(|| self.owned_column(param));
        let row = row.then(|| quote!(#root::OwnedRow));
        let bounds = match (column, row) {
            (None, None) => quote!(#core::marker::Send + 'static),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(other)) => quote!(#one + #other),
        };
        self.all.extend(quote!(#param: #bounds,));
    }

    /// A type parameter that is the whole type of a field.
    fn of_whole(&mut self, param: &Ident, role: &Role<'_>) {
        let bounds = match role {
            Role::Flatten { .. } => {
                let root = &self.paths.root;
                quote!(#root::OwnedRow)
            }
            _ => self.owned_column(param),
        };
        self.all.extend(quote!(#param: #bounds,));
    }

    fn owned_column(&self, param: &Ident) -> TokenStream {
        let root = &self.paths.root;
        let any = &self.row.generics.any;
        quote! {
            for<#any> #root::FromColumn<#any>
                + for<#any> #root::ColumnType<At<#any> = #param>
                + 'static
        }
    }

    /// Rows move between threads, so what is no column type, for which its traits
    /// say that, has to be `Send`. The implementations take it for granted, or each
    /// would say where it is not; the use of `KEPT` says it, and shows the field.
    fn of_other_types(&mut self) {
        let core = &self.paths.core;
        for field in &self.row.fields {
            let other = match &field.role {
                Role::Skip(_) => true,
                Role::Flatten { .. } => false,
                Role::Column(column) => !matches!(column.how, How::Type) || stays(field.ty),
            };
            let mut params = self.row.input.ast.generics.type_params();
            if other && !params.any(|param| mentions(field.ty, &param.ident)) {
                let send = core.starting_at(first_span(field.ty));
                let send = quote_spanned!(last_span(field.ty)=> #send::marker::Send);
                self.of_type(field.ty, &send);
            }
        }
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
        if concerned {
            self.of_type(ty, bound);
        }
    }

    fn of_type(&mut self, ty: &Type, bound: &TokenStream) {
        let condition = quote!(#ty: #bound,);
        let generics = &self.row.generics;
        self.all
            .extend(if generics.borrows() || !generics.has_types() {
                // The buffer may live shorter than what the struct was named with. And a
                // condition for all lifetimes is not examined where it stands, which
                // would be said beside the use.
                let (own, any) = (&self.row.generics.row, &self.row.generics.any);
                let condition = with_lifetime(condition, own, any);
                quote!(for<#any> #condition)
            } else {
                condition
            });
    }
}

/// Whether a type looks as if it could not be sent to another thread. It is no column
/// type then, which is all that is to be said of it.
fn stays(ty: &Type) -> bool {
    fn in_tokens(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "Rc" || ident == "dyn",
            TokenTree::Punct(punct) => punct.as_char() == '*',
            TokenTree::Group(group) => in_tokens(group.stream()),
            TokenTree::Literal(_) => false,
        })
    }
    in_tokens(ty.to_token_stream())
}

/// Whether `ty` is `name` and nothing else.
fn is(ty: &Type, name: &Ident) -> bool {
    whole(ty).is_some_and(|whole| whole == name)
}

/// The name that is the whole of a type.
fn whole(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        Type::Group(group) => whole(&group.elem),
        Type::Paren(paren) => whole(&paren.elem),
        _ => None,
    }
}

/// Whether `name` stands anywhere in `ty`.
pub(crate) fn mentions(ty: &Type, name: &Ident) -> bool {
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
