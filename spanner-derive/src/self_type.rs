//! `Self` in a struct, written out.
//!
//! The types of the fields stand in implementations for other types too, of which
//! `Self` would be another one.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::{Data, DeriveInput, GenericParam};

/// The struct with its own name and parameters in place of `Self`.
pub(crate) fn write_out(input: DeriveInput) -> DeriveInput {
    let Data::Struct(data) = &input.data else {
        return input;
    };
    let mut types = data.fields.iter().map(|field| field.ty.to_token_stream());
    if !types.any(has_self) && !has_self(input.generics.where_clause.to_token_stream()) {
        return input;
    }
    let tokens = replace(&Own::new(&input), input.to_token_stream());
    // What was a struct is one still.
    syn::parse2(tokens).unwrap_or(input)
}

fn has_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => has_self(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn replace(own: &Own<'_>, tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut replaced = TokenStream::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                let further = tokens.peek();
                let is_path =
                    matches!(further, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                own.put(ident.span(), is_path, &mut replaced);
            }
            TokenTree::Group(group) => {
                let inside = replace(own, group.stream());
                let mut with_name = Group::new(group.delimiter(), inside);
                with_name.set_span(group.span());
                replaced.extend([TokenTree::Group(with_name)]);
            }
            token => replaced.extend([token]),
        }
    }
    replaced
}

/// The name and the parameters of the struct.
struct Own<'a> {
    name: &'a Ident,
    parameters: Vec<&'a GenericParam>,
}

impl<'a> Own<'a> {
    fn new(input: &'a DeriveInput) -> Self {
        Self {
            name: &input.ident,
            parameters: input.generics.params.iter().collect(),
        }
    }

    /// `Singer<'a, T>`, or `<Singer<'a, T>>` where a path goes on from it.
    fn put(&self, span: Span, is_path: bool, tokens: &mut TokenStream) {
        let mut name = self.name.clone();
        name.set_span(span);
        let arguments = self.parameters.iter().map(|parameter| match parameter {
            GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_token_stream(),
            GenericParam::Type(ty) => ty.ident.to_token_stream(),
            GenericParam::Const(constant) => constant.ident.to_token_stream(),
        });
        let own = if self.parameters.is_empty() {
            name.into_token_stream()
        } else {
            quote_spanned!(span=> #name<#(#arguments),*>)
        };
        tokens.extend(if is_path {
            quote_spanned!(span=> <#own>)
        } else {
            own
        });
    }
}
