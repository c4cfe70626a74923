//! Implementations that do nothing, beside the messages about a struct that
//! cannot be a row: without them every use of it would be reported too.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Lifetime;

use crate::expand::{Paths, anonymous};
use crate::generics::RowGenerics;
use crate::model::{Input, Member, Shape};
use crate::place::of_trait;
use crate::types::owns;
use crate::validate::{by_type, reads_itself};

/// `errors` and the implementations.
pub(crate) fn row(input: &Input<'_>, errors: TokenStream) -> TokenStream {
    let Some(paths) = Paths::new(&input.attrs.runtime) else {
        return errors;
    };
    let checks = type_checks(input, &paths);
    let implementations = implementations(input, &paths);
    let implementations = quote!(#checks #implementations);
    let implementations = anonymous(&input.allowed, &paths, &implementations);
    quote!(#errors #implementations)
}

/// What the compiler finds wrong with types is to be said in the same compile as
/// what is wrong with attributes. Left out are types about which the compiler, or
/// the derive, may have more to say: those with references and parameters.
fn type_checks(input: &Input<'_>, paths: &Paths) -> Option<TokenStream> {
    let Shape::Struct(fields) = &input.shape else {
        return None;
    };
    let plain = fields.iter().filter(|field| {
        !field.unclear
            && reads_itself(input, field).is_none()
            && by_type(field)
            && owns(field.ty, &input.ast.generics)
    });
    let checks = plain.filter_map(|field| {
        let constant = match (&field.attrs.flatten, &field.member) {
            (None, _) => of_trait(field.ty, &paths.root, "ColumnType", "KEPT"),
            (Some(_), Member::Named(_)) => of_trait(field.ty, &paths.private, "Flatten", "COLUMNS"),
            // There it is wrong already, and may be meant as a column.
            (Some(_), Member::Position { .. }) => return None,
        };
        Some(quote!(let _ = #constant;))
    });
    let checks: Vec<_> = checks.collect();
    (!checks.is_empty()).then(|| {
        quote! {
            #[allow(dead_code)]
            fn __types() {
                #(#checks)*
            }
        }
    })
}

fn implementations(input: &Input<'_>, paths: &Paths) -> TokenStream {
    let Paths {
        root,
        private,
        core,
        ..
    } = paths;
    let name = &input.name;
    let generics = RowGenerics::new(input.ast);
    let (row, fresh) = (&generics.row, &generics.fresh);
    let parameters = generics.parameters();
    let parameters_with_row = generics.parameters_with_row();
    let at_row = generics.arguments(row);
    let at_own = generics.own_arguments();
    let at_fresh = generics.arguments(fresh);
    let at_static = generics.arguments(&Lifetime::new("'static", Span::mixed_site()));
    let conditions = generics.fallback_conditions(core);
    let nothing = quote!(#core::unreachable!());
    let result = quote!(#core::result::Result);
    let lent = if generics.borrows() {
        quote!(#name #at_fresh)
    } else {
        quote!(&#fresh mut Self)
    };
    let owned_row = (!generics.borrows()).then(|| {
        quote! {
            #[automatically_derived]
            impl #parameters #root::OwnedRow for #name #at_own #conditions {}
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #root::SpannerRow for #name #at_own #conditions {
            // Nothing that could be twice; not empty, because then it could not be flattened.
            const COLUMNS: &'static [#private::ColumnSpec] =
                &[#private::ColumnSpec::flatten("", "", &[])];
            type Row<#fresh> = #name #at_fresh;
            type Lent<#fresh> = #lent;
            type Spare = ();
            type Home = ();
            type Mode = #root::Plain;

            fn bind(_: &#root::RowType, _: &mut #root::Binder<'_>) -> #root::Binding {
                #nothing
            }
            fn decode<#fresh>(
                _: &mut #private::RowCursor<'_, #fresh>,
                _: &mut (),
            ) -> #result<#name #at_fresh, #root::DecodeError> {
                #nothing
            }
            fn recycle<#fresh>(_: #name #at_fresh, _: &mut ()) {}
            fn lend<#fresh>(
                _: &mut #private::RowCursor<'_, #fresh>,
                _: &#fresh mut (),
            ) -> #result<#lent, #root::DecodeError> {
                #nothing
            }
        }
        #owned_row
        #[automatically_derived]
        impl #parameters #root::ColumnType for #name #at_own #conditions {
            type Spare = ();
            type Mode = #root::Plain;
            type Static = #name #at_static;
            type At<#fresh> = #name #at_fresh;
        }
        #[automatically_derived]
        impl #parameters_with_row #root::FromColumn<#row> for #name #at_row #conditions {
            fn bind(_: &#root::Type, _: &mut #root::Binder<'_>) -> #root::Binding {
                #nothing
            }
            fn read(
                _: #root::Column<'_, #row>,
                _: &mut (),
            ) -> #result<Self, #root::DecodeError> {
                #nothing
            }
        }
    }
}
