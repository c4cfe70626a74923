//! The struct with the memory that is left of a row.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};

use crate::expand::{Expansion, Paths, static_lifetime};
use crate::model::last_span;
use crate::place::{at_call_site, index_at};
use crate::validate::{How, Role, RowField};

impl Expansion<'_> {
    /// What is left of the fields. A struct, not a tuple, because its fields may
    /// have types that are private to a public row.
    ///
    /// ```text
    /// struct SingerSpare<'a>(<i64 as ColumnType>::Spare, <Cow<'a, str> as ColumnType>::Spare, ());
    /// ```
    pub(crate) fn spare(&self) -> TokenStream {
        let core = &self.paths.core;
        let Self {
            parameters,
            conditions,
            ..
        } = self;
        let visibility = at_call_site(self.row.input.ast.vis.to_token_stream());
        let name = self.spare_name();
        let arguments = self.row.generics.arguments(&self.row.generics.row);
        let types = self.each(|code| Some(code.spare_type()));
        let values = self.each(|code| {
            let value = code.spare_value();
            let end = last_span(code.place());
            let index = index_at(code.number, end);
            Some(quote_spanned!(end=> #index: #value))
        });
        let end = syn::Index::from(self.row.fields.len());
        let (end_type, end_value) = self.end_of_spare();
        quote! {
            #[doc(hidden)]
            #[allow(unnameable_types)]
            #visibility struct #name #parameters (#(#types,)* #end_type) #conditions;

            #[automatically_derived]
            impl #parameters #core::default::Default for #name #arguments #conditions {
                fn default() -> Self {
                    Self { #(#values,)* #end: #end_value }
                }
            }
        }
    }

    /// What makes the size of the spare memory known where a field is in error,
    /// and names the parameters that no other part may name.
    fn end_of_spare(&self) -> (TokenStream, TokenStream) {
        let core = &self.paths.core;
        let generics = &self.row.input.ast.generics;
        let by_types = |field: &RowField<'_>| match &field.role {
            Role::Flatten { .. } => true,
            Role::Column(column) => matches!(column.how, How::Type),
            Role::Skip(_) => false,
        };
        if generics.params.is_empty() || self.row.fields.iter().all(by_types) {
            return (quote!(()), quote!(()));
        }
        let lifetimes = generics.lifetimes().map(|param| &param.lifetime);
        let types = generics.type_params().map(|param| &param.ident);
        let names = quote!((#(&#lifetimes (),)* #(fn() -> #types,)*));
        (
            quote!(#core::marker::PhantomData<#names>),
            quote!(#core::marker::PhantomData),
        )
    }

    /// See [`mode`](Self::mode).
    pub(crate) fn spare_type(&self) -> TokenStream {
        let Paths { root, private, .. } = &self.paths;
        let name = self.spare_name();
        let arguments = self.row.generics.arguments(&static_lifetime());
        if self.row.generics.has_types() {
            let kept = self.kept_whatever_the_parameters();
            if kept.is_empty() {
                return quote!(#name #arguments);
            }
            // Either way it is this type; where a field is in error it is left alone.
            return quote! {
                <#private::If<{ #(#kept)||* }> as #private::Choice>
                    ::Spare<#name #arguments>
            };
        }
        let at_static = self.own_static();
        quote! {
            <#private::If<{ <#at_static as #root::ColumnType>::KEPT }> as #private::Choice>
                ::Spare<#name #arguments>
        }
    }

    pub(crate) fn spare_name(&self) -> Ident {
        format_ident!("__{}Spare", self.row.input.name.to_string())
    }
}
