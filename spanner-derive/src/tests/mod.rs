//! The derive as a function: what it makes of a struct (`expansions`, compared
//! with `snapshots/`) and what it says about one (`messages`).

mod expansions;
mod messages;

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The output for a struct given as text.
fn derive(input: &str) -> TokenStream {
    crate::derive(syn::parse_str::<DeriveInput>(input).expect("the test gives a struct"))
}

/// The output of `SpannerEncode` for a struct given as text.
fn derive_encode(input: &str) -> TokenStream {
    crate::derive_encode(syn::parse_str::<DeriveInput>(input).expect("the test gives a struct"))
}

/// The output for an enum given as text.
fn derive_enum(input: &str) -> TokenStream {
    crate::derive_enum(&syn::parse_str::<DeriveInput>(input).expect("the test gives an enum"))
}

/// Formats tokens the way rustfmt would.
fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the output is Rust"))
}
