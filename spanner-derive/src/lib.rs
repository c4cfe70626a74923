//! The derive macro of `spanner-rows`; use it through that crate, where its
//! attributes are documented too.
//!
//! A struct, with its name in place of `Self` (`self_type`), goes through three
//! stages: `model` reads it with its attributes (`attr` their form, `attrs` their
//! values), `validate` judges the whole
//! (`conflicts` which attributes go together) and `expand` writes the
//! implementations, which cannot fail any more (`field` what stands in them for
//! one field, `spare` what is kept between rows, `transparent` the other form,
//! `conditions` what is asked of type parameters). Problems gather
//! in a `ctxt::Ctxt`; when there are any, `fallback` takes the place of expand.
//!
//! A row that is sent goes the same way, to `expand_encode`.
//!
//! An enum is read and judged in `variants` and written in `expand_enum`.
#![forbid(unsafe_code)]

mod attr;
mod attrs;
mod case;
mod conditions;
mod conflicts;
mod ctxt;
mod expand;
mod expand_encode;
mod expand_enum;
mod fallback;
mod field;
mod generics;
mod model;
mod place;
mod self_type;
mod spare;
mod suggest;
mod transparent;
mod types;
mod unraw;
mod validate;
mod variants;

#[cfg(test)]
mod tests;

use ctxt::Ctxt;
use proc_macro2::TokenStream;
use syn::DeriveInput;

/// Reads rows of a Spanner result into a struct; documented at
/// `spanner_rows::SpannerRow`.
#[proc_macro_derive(SpannerRow, attributes(spanner))]
pub fn derive_spanner_row(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive(input).into()
}

/// Writes a struct as a row; documented at `spanner_rows::SpannerEncode`.
#[proc_macro_derive(SpannerEncode, attributes(spanner))]
pub fn derive_spanner_encode(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive_encode(input).into()
}

/// Reads a column into an enum without data; documented at
/// `spanner_rows::SpannerEnum`.
#[proc_macro_derive(SpannerEnum, attributes(spanner))]
pub fn derive_spanner_enum(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive_enum(&input).into()
}

/// As [`derive`], for a row that is sent.
fn derive_encode(input: DeriveInput) -> TokenStream {
    let input = self_type::write_out(input);
    let ctxt = Ctxt::new();
    let parsed = model::Input::parse(&ctxt, &input, "SpannerEncode");
    let row = validate::check_encode(&ctxt, &parsed);
    match (ctxt.check(), row) {
        (Ok(()), Some(row)) => expand_encode::row(&row),
        (Ok(()), None) => expand_encode::fallback(&parsed, TokenStream::new()),
        (Err(errors), _) => expand_encode::fallback(&parsed, errors.into_compile_error()),
    }
}

/// As [`derive`], for an enum.
fn derive_enum(input: &DeriveInput) -> TokenStream {
    let ctxt = Ctxt::new();
    let parsed = variants::Enum::parse(&ctxt, input);
    let errors = ctxt.check().err();
    expand_enum::implementations(&parsed, errors.map(syn::Error::into_compile_error))
}

/// The implementations for `input`, or everything that is wrong with it beside
/// implementations that keep the compiler from complaining where it is used.
fn derive(input: DeriveInput) -> TokenStream {
    let input = self_type::write_out(input);
    let ctxt = Ctxt::new();
    let parsed = model::Input::parse(&ctxt, &input, "SpannerRow");
    let row = validate::check(&ctxt, &parsed);
    match (ctxt.check(), row) {
        (Ok(()), Some(row)) => expand::row(&row),
        (Ok(()), None) => fallback::row(&parsed, TokenStream::new()),
        (Err(errors), _) => fallback::row(&parsed, errors.into_compile_error()),
    }
}
