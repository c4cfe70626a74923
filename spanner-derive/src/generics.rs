//! The generics of the struct in the forms that implementations need.

use std::collections::HashSet;

use crate::place::PathTokens;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{DeriveInput, GenericParam, Generics, Lifetime};

/// The generics of a row.
pub(crate) struct RowGenerics<'a> {
    generics: &'a Generics,
    /// The struct's own lifetime, or a new one where it has none.
    pub(crate) row: Lifetime,
    /// A lifetime that stands nowhere in the struct: those of methods and of
    /// associated types.
    pub(crate) fresh: Lifetime,
    /// Another one, for bounds.
    pub(crate) any: Lifetime,
}

impl<'a> RowGenerics<'a> {
    pub(crate) fn new(ast: &'a DeriveInput) -> Self {
        // Lifetimes are not hygienic: one that stands anywhere in the struct
        // cannot be declared again around a copy of it.
        let mut taken = HashSet::new();
        collect_lifetimes(ast.to_token_stream(), &mut taken);
        let fresh = fresh_lifetime("row", &mut taken);
        let any = fresh_lifetime("any", &mut taken);
        let row = match ast.generics.lifetimes().next() {
            Some(own) => own.lifetime.clone(),
            None => fresh.clone(),
        };
        Self {
            generics: &ast.generics,
            row,
            fresh,
            any,
        }
    }

    /// Whether the struct has a lifetime.
    pub(crate) fn borrows(&self) -> bool {
        self.generics.lifetimes().next().is_some()
    }

    /// Whether the struct has type or constant parameters.
    pub(crate) fn has_types(&self) -> bool {
        self.generics.lifetimes().count() < self.generics.params.len()
    }

    /// The lifetime parameters and the others, with their bounds: `<'a, T: Ord>`.
    pub(crate) fn parameters(&self) -> TokenStream {
        let (parameters, ..) = self.generics.split_for_impl();
        parameters.into_token_stream()
    }

    /// As [`parameters`](Self::parameters), with [`row`](Self::row) also where
    /// the struct has no lifetime.
    pub(crate) fn parameters_with_row(&self) -> TokenStream {
        if self.borrows() {
            return self.parameters();
        }
        let row = &self.row;
        let others = self.generics.params.iter().map(without_default);
        quote!(<#row, #(#others),*>)
    }

    /// The arguments of the struct, `lifetime` in place of its own: `<'row, T>`.
    pub(crate) fn arguments(&self, lifetime: &Lifetime) -> TokenStream {
        if self.generics.params.is_empty() {
            return TokenStream::new();
        }
        let arguments = self.generics.params.iter().map(|param| match param {
            GenericParam::Lifetime(_) => lifetime.to_token_stream(),
            GenericParam::Type(param) => param.ident.to_token_stream(),
            GenericParam::Const(param) => param.ident.to_token_stream(),
        });
        quote!(<#(#arguments),*>)
    }

    /// The arguments of the struct as it was declared: `<'a, 'b, T>`.
    pub(crate) fn own_arguments(&self) -> TokenStream {
        let (_, arguments, _) = self.generics.split_for_impl();
        arguments.into_token_stream()
    }

    /// As the conditions of a row, but no more than what implementations that do
    /// nothing need.
    pub(crate) fn fallback_conditions(&self, core: &PathTokens) -> TokenStream {
        let types = self.generics.type_params().map(|param| &param.ident);
        let threads = quote!(#core::marker::Send + #core::marker::Sync);
        self.where_clause(quote!(#(#types: #threads + 'static),*))
    }

    /// The struct's own conditions and these.
    pub(crate) fn where_clause(&self, more: TokenStream) -> TokenStream {
        let own = self.generics.where_clause.iter();
        let own = own.flat_map(|clause| clause.predicates.iter());
        quote!(where #(#own,)* #more)
    }
}

fn without_default(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => {
            let (name, colon, bounds) = (&param.ident, &param.colon_token, &param.bounds);
            quote!(#name #colon #bounds)
        }
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
        GenericParam::Lifetime(param) => param.to_token_stream(),
    }
}

fn fresh_lifetime(name: &str, taken: &mut HashSet<String>) -> Lifetime {
    let mut name = name.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    Lifetime::new(&format!("'{name}"), Span::mixed_site())
}

/// The names of all lifetimes in `tokens`.
fn collect_lifetimes(tokens: TokenStream, found: &mut HashSet<String>) {
    let mut quote = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ref name) if quote => {
                found.insert(name.to_string());
            }
            TokenTree::Group(ref group) => collect_lifetimes(group.stream(), found),
            // Types and bounds in attributes.
            TokenTree::Literal(ref text) => {
                for behind in text.to_string().split('\'').skip(1) {
                    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
                    let name = behind.split(is_end).next().unwrap_or_default();
                    found.insert(name.to_owned());
                }
            }
            _ => {}
        }
        quote = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
}
