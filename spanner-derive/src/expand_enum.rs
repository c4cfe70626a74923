//! Writes the implementations for an enum that was found good, or ones that do
//! nothing.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Lifetime, Token, Type};

use crate::expand::{Paths, anonymous};
use crate::generics::RowGenerics;
use crate::model::{first_span, last_span};
use crate::variants::{Enum, Known, Other, Repr};

/// Everything that is emitted for an enum.
pub(crate) fn implementations(parsed: &Enum<'_>, errors: Option<TokenStream>) -> TokenStream {
    let Some(paths) = Paths::new(&parsed.runtime) else {
        return errors.unwrap_or_default();
    };
    let generics = RowGenerics::new(parsed.ast);
    let local = |name| Ident::new(name, Span::mixed_site());
    let expansion = Expansion {
        parsed,
        parameters: generics.parameters(),
        own: named(parsed, &generics, &generics.row),
        conditions: generics.fallback_conditions(&paths.core),
        generics,
        good: errors.is_none(),
        binder: local("__binder"),
        value: local("__value"),
        column: local("__column"),
        out: local("__out"),
        paths,
    };
    let numbers = expansion.numbers();
    let column_type = expansion.impl_column_type();
    let from_column = expansion.impl_from_column();
    let to_column = expansion.impl_to_column();
    let items = quote!(#numbers #column_type #from_column #to_column);
    let items = anonymous(&parsed.allowed, &expansion.paths, &items);
    quote!(#errors #items)
}

fn named(parsed: &Enum<'_>, generics: &RowGenerics<'_>, lifetime: &Lifetime) -> TokenStream {
    let name = &parsed.name;
    let arguments = generics.arguments(lifetime);
    quote!(#name #arguments)
}

struct Expansion<'a> {
    parsed: &'a Enum<'a>,
    paths: Paths,
    generics: RowGenerics<'a>,
    /// `<'a>`
    parameters: TokenStream,
    /// `Genre<'a>`
    own: TokenStream,
    /// `where …`
    conditions: TokenStream,
    /// Nothing is wrong with the enum.
    good: bool,
    binder: Ident,
    value: Ident,
    column: Ident,
    out: Ident,
}

impl Expansion<'_> {
    /// ```text
    /// const __SOLO: i64 = (1) as i64;
    /// ```
    fn numbers(&self) -> TokenStream {
        if self.parsed.repr == Repr::Text || !self.good {
            return TokenStream::new();
        }
        let core = &self.paths.core;
        let numbers = self.parsed.variants.iter().map(|variant| {
            let (name, number) = (number_name(variant), &variant.number);
            quote! {
                #[allow(
                    non_upper_case_globals,
                    trivial_numeric_casts,
                    unused_parens,
                    clippy::all,
                    clippy::pedantic
                )]
                const #name: #core::primitive::i64 = (#number) as #core::primitive::i64;
            }
        });
        quote!(#(#numbers)*)
    }

    fn impl_column_type(&self) -> TokenStream {
        let root = &self.paths.root;
        let Self {
            parameters,
            own,
            conditions,
            ..
        } = self;
        let fresh = &self.generics.fresh;
        let at_fresh = named(self.parsed, &self.generics, fresh);
        let at_static = Lifetime::new("'static", Span::mixed_site());
        let at_static = named(self.parsed, &self.generics, &at_static);
        quote! {
            #[automatically_derived]
            impl #parameters #root::ColumnType for #own #conditions {
                type Spare = ();
                type Mode = #root::Plain;
                type Static = #at_static;
                type At<#fresh> = #at_fresh;
            }
        }
    }

    /// ```text
    /// match column.text()? {
    ///     "Solo" => Ok(Self::Solo),
    ///     …
    ///     _ => Ok(Self::Other(<&str as ColumnType>::read_column(column, &mut ())?)),
    /// }
    /// ```
    fn impl_from_column(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = &self.paths;
        let Self {
            own,
            conditions,
            binder,
            column,
            value,
            ..
        } = self;
        let row = &self.generics.row;
        let parameters = self.generics.parameters_with_row();
        let (bind, read) = if self.good {
            let ok = quote!(#core::result::Result::Ok);
            let other = match &self.parsed.other {
                Some(other) => {
                    let other = self.read_other(other);
                    quote!(_ => #ok(#other))
                }
                None => {
                    let known = self.listing();
                    quote! {
                        _ => #core::result::Result::Err(#private::unknown_variant(#column, #known))
                    }
                }
            };
            let arms = self.parsed.variants.iter().map(|variant| {
                let name = &variant.name;
                match self.parsed.repr {
                    Repr::Text => {
                        let texts = &variant.texts;
                        quote!(#(#texts)|* => #ok(Self::#name))
                    }
                    Repr::Number => {
                        let number = number_name(variant);
                        quote!(#number => #ok(Self::#name))
                    }
                }
            });
            match self.parsed.repr {
                Repr::Text => (
                    quote! {
                        #root::Binder::text::<Self>(#binder, #value, &[#root::TypeCode::String])
                    },
                    quote!(match #root::Column::text(&#column)? { #(#arms,)* #other }),
                ),
                Repr::Number => (
                    quote! {
                        #root::Binder::scalar::<Self>(
                            #binder,
                            #value,
                            &[#root::TypeCode::Int64, #root::TypeCode::Enum],
                        )
                    },
                    quote! {
                        match <#core::primitive::i64 as #root::FromColumn<'_>>::read(
                            #column,
                            &mut (),
                        )? {
                            #(#arms,)*
                            #other
                        }
                    },
                ),
            }
        } else {
            let nothing = quote!(#core::unreachable!());
            (nothing.clone(), nothing)
        };
        quote! {
            #[automatically_derived]
            impl #parameters #root::FromColumn<#row> for #own #conditions {
                fn bind(#value: &#root::Type, #binder: &mut #root::Binder<'_>) -> #root::Binding {
                    #bind
                }

                #[inline]
                fn read(
                    #column: #root::Column<'_, #row>,
                    _: &mut (),
                ) -> #core::result::Result<Self, #root::DecodeError> {
                    #read
                }
            }
        }
    }

    /// The `other` variant with the value that came.
    fn read_other(&self, other: &Other<'_>) -> TokenStream {
        let (name, column) = (&other.name, &self.column);
        match &other.holds {
            None => quote!(Self::#name),
            Some((ty, field)) => {
                let read = self.of(ty, "ColumnType", "read_fresh");
                let value = quote_spanned!(last_span(ty)=> #read(#column)?);
                quote!(Self::#name { #field: #value })
            }
        }
    }

    /// What was there to choose from, for messages.
    fn listing(&self) -> String {
        let variants = self.parsed.variants.iter();
        let all: Vec<_> = variants
            .map(|variant| match (self.parsed.repr, variant.texts.first()) {
                (Repr::Text, Some(text)) => format!("{text:?}"),
                _ => variant.name.to_string(),
            })
            .collect();
        all.join(", ")
    }

    /// Not for an enum whose `other` variant forgets what came: writing it back
    /// would write something else.
    fn impl_to_column(&self) -> Option<TokenStream> {
        let forgets = self.parsed.other.as_ref();
        if forgets.is_some_and(|other| other.holds.is_none()) {
            return None;
        }
        let Paths { root, core, .. } = &self.paths;
        let Self {
            parameters,
            own,
            conditions,
            out,
            value,
            ..
        } = self;
        let code = match self.parsed.repr {
            Repr::Text => quote!(String),
            Repr::Number => quote!(Int64),
        };
        let arms = self.parsed.variants.iter().map(|variant| {
            let name = &variant.name;
            match (self.parsed.repr, variant.texts.first()) {
                (Repr::Text, Some(text)) => {
                    quote!(Self::#name => #root::ValueWriter::string(#out, #text))
                }
                _ => {
                    let number = number_name(variant);
                    quote!(Self::#name => #root::ToColumn::write(&#number, #out))
                }
            }
        });
        let other = self.parsed.other.iter().filter_map(|other| {
            let (ty, field) = other.holds.as_ref()?;
            let name = &other.name;
            let write = self.of(ty, "ToColumn", "write");
            Some(quote!(Self::#name { #field: #value } => #write(#value, #out)))
        });
        let write = if self.good {
            quote!(match self { #(#arms,)* #(#other,)* })
        } else {
            quote!(#core::unreachable!())
        };
        Some(quote! {
            #[automatically_derived]
            impl #parameters #root::ToColumn for #own #conditions {
                fn column_type() -> #root::Type {
                    #root::Type::new(#root::TypeCode::#code)
                }

                fn write(&self, #out: #root::ValueWriter<'_>) {
                    #write
                }
            }
        })
    }

    /// `<Type as Trait>::item`, at the place of the type.
    fn of(&self, ty: &Type, of: &str, item: &str) -> TokenStream {
        let root = &self.paths.root;
        let (start, end) = (first_span(ty), last_span(ty));
        let open = Token![<](start);
        let of = Ident::new(of, end);
        let item = Ident::new(item, end);
        quote_spanned!(end=> #open #ty as #root::#of>::#item)
    }
}

fn number_name(variant: &Known) -> Ident {
    format_ident!("__{}", variant.name.to_string(), span = Span::mixed_site())
}
