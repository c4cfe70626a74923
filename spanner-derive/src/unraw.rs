//! Identifiers that may be raw (`r#type`).

use std::fmt;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;

/// An identifier that stands in code as it was written and in names and
/// messages without `r#`.
///
/// It cannot be compared with text, which would be right for one spelling only.
#[derive(Clone, Debug)]
pub(crate) struct Name(Ident);

impl Name {
    pub(crate) fn new(ident: &Ident) -> Self {
        Self(ident.clone())
    }

    pub(crate) const fn ident(&self) -> &Ident {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.unraw(), f)
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
