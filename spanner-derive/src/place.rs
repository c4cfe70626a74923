//! Where generated code seems to stand, for the compiler to point there.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use crate::expand::Paths;
use crate::model::{first_span, last_span};
use syn::{Token, Type};

/// `<Type as path::Trait>::item`, at the place of the type.
pub(crate) fn of_trait(ty: &Type, path: &PathTokens, of: &str, item: &str) -> TokenStream {
    let (start, end) = (first_span(ty), last_span(ty));
    let open = Token![<](start);
    let of = Ident::new(of, Span::call_site());
    let item = Ident::new(item, end);
    let colons = Token![::](Span::call_site());
    quote_spanned!(end=> #open #ty as #path #colons #of>::#item)
}

/// `identity(&mut spare.0)`, at the place of a type: the names of
/// locals are from elsewhere, and what starts or ends with one would be too.
pub(crate) fn spare_place(ty: &Type, spare: &Ident, i: usize, paths: &Paths) -> TokenStream {
    let index = syn::Index::from(i);
    located(ty, &quote!(&mut #spare.#index), paths)
}

/// `identity(value)`, at the place of a type.
pub(crate) fn located(ty: &Type, value: &TokenStream, paths: &Paths) -> TokenStream {
    let core = paths.core.starting_at(first_span(ty));
    quote_spanned!(last_span(ty)=> #core::convert::identity(#value))
}

/// A call of the user's function, at the place of its path. Whatever stands
/// around it, the compiler says the same about the type of the value.
pub(crate) fn call(path: &TokenStream, paths: &Paths) -> TokenStream {
    let span = path_span(path);
    let core = paths.core.starting_at(span);
    quote_spanned!(span=> #core::convert::identity(#path()))
}

/// Where a path stands, all of which is in one literal.
pub(crate) fn path_span(path: &TokenStream) -> Span {
    let last = path.clone().into_iter().last();
    last.map_or_else(Span::call_site, |token| token.span())
}

/// A path that stands in many places. Streams of tokens belong to the compiler,
/// which has to be asked for every copy; these are ours.
#[derive(Clone)]
pub(crate) struct PathTokens(Vec<TokenTree>);

impl From<TokenStream> for PathTokens {
    fn from(path: TokenStream) -> Self {
        Self(path.into_iter().collect())
    }
}

impl ToTokens for PathTokens {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().cloned());
    }
}

impl PathTokens {
    /// The same path, its start at `span`.
    pub(crate) fn starting_at(&self, span: Span) -> Self {
        let mut path = self.clone();
        for token in &mut path.0 {
            token.set_span(span);
            // The two colons are two tokens.
            if !matches!(token, TokenTree::Punct(_)) {
                break;
            }
        }
        path
    }
}

/// The position of a field, at `span`.
pub(crate) fn index_at(index: usize, span: Span) -> syn::Index {
    let mut index = syn::Index::from(index);
    index.span = span;
    index
}

/// The same tokens, as if they were written by the derive.
pub(crate) fn at_call_site(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), at_call_site(group.stream())).into();
        }
        token.set_span(Span::call_site());
        token
    });
    tokens.collect()
}
