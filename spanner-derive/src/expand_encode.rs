//! Writes the implementations of `SpannerEncode`, and those of `ToColumn` that make
//! the struct a STRUCT; or ones that do nothing.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;

use crate::attrs::With;
use crate::conditions::mentions;
use crate::expand::{Paths, anonymous};
use crate::generics::RowGenerics;
use crate::model::{Input, last_span};
use crate::place::{of_trait, path_span};
use crate::validate::{Column, How, Role, Row, RowField, Source};

/// Everything that is emitted for a row that is sent.
pub(crate) fn row(row: &Row<'_>) -> TokenStream {
    let Some(paths) = Paths::new(&row.input.attrs.runtime) else {
        return TokenStream::new();
    };
    let expansion = Expansion::new(row, &paths);
    let mut code = Code {
        width: quote!(0),
        ..Code::default()
    };
    for field in &row.fields {
        expansion.add(field, &mut code);
    }
    let items = expansion.implementations(&expansion.conditions(), &code);
    anonymous(&row.input.allowed, &paths, &items)
}

/// `errors`, and implementations that do nothing.
pub(crate) fn fallback(input: &Input<'_>, errors: TokenStream) -> TokenStream {
    let Some(paths) = Paths::new(&input.attrs.runtime) else {
        return errors;
    };
    let row = Row {
        input,
        generics: RowGenerics::new(input.ast),
        fields: Vec::new(),
    };
    let expansion = Expansion::new(&row, &paths);
    let (prefix, columns, out) = (&expansion.prefix, &expansion.columns, &expansion.out);
    let code = Code {
        width: quote!(0),
        push: quote!(let _ = (#prefix, #columns);),
        write: quote!(let _ = #out;),
    };
    let conditions = row.generics.where_clause(TokenStream::new());
    let items = expansion.implementations(&conditions, &code);
    let items = anonymous(&input.allowed, &paths, &items);
    quote!(#errors #items)
}

struct Expansion<'a> {
    row: &'a Row<'a>,
    paths: &'a Paths,
    prefix: Ident,
    columns: Ident,
    out: Ident,
    value: Ident,
}

/// What stands in the items of the trait.
#[derive(Default)]
struct Code {
    width: TokenStream,
    push: TokenStream,
    write: TokenStream,
}

impl<'a> Expansion<'a> {
    fn new(row: &'a Row<'a>, paths: &'a Paths) -> Self {
        let local = |name| Ident::new(name, Span::mixed_site());
        Self {
            row,
            paths,
            prefix: local("__prefix"),
            columns: local("__columns"),
            out: local("__out"),
            value: local("__value"),
        }
    }

    /// For `struct Singer { id: i64, #[spanner(flatten)] home: Address }`:
    ///
    /// ```text
    /// impl SpannerEncode for Singer {
    ///     const WIDTH: usize = 1 + <Address as EncodeFlattened>::WIDTH;
    ///     fn push_columns(prefix: &str, columns: &mut Vec<Field>) {
    ///         push_column(prefix, "id", <i64 as ToColumn>::column_type(), columns);
    ///         …
    /// ```
    fn implementations(&self, conditions: &TokenStream, code: &Code) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = self.paths;
        let Code { width, push, write } = code;
        let Self {
            prefix,
            columns,
            out,
            value,
            ..
        } = self;
        let name = &self.row.input.name;
        let parameters = self.row.generics.parameters();
        let arguments = self.row.generics.own_arguments();
        // A transparent struct has it of `SpannerRow`.
        let to_column = self.row.input.attrs.transparent.is_none().then(|| {
            quote! {
                #[automatically_derived]
                impl #parameters #root::ToColumn for #name #arguments #conditions {
                    fn column_type() -> #root::Type {
                        #private::struct_type::<Self>()
                    }

                    fn write(&self, #value: #root::ValueWriter<'_>) {
                        #private::write_struct(self, #value)
                    }
                }
            }
        });
        quote! {
            #[automatically_derived]
            impl #parameters #root::SpannerEncode for #name #arguments #conditions {
                const WIDTH: #core::primitive::usize = #width;

                fn push_columns(
                    #prefix: &#core::primitive::str,
                    #columns: &mut #private::Columns,
                ) {
                    #push
                }

                fn write_columns(&self, #out: &mut #root::ListWriter<'_>) {
                    #write
                }
            }

            #to_column
        }
    }

    /// What a field adds.
    fn add(&self, field: &RowField<'_>, code: &mut Code) {
        let (private, out) = (&self.paths.private, &self.out);
        let (prefix, columns) = (&self.prefix, &self.columns);
        let member = field.member;
        let end = last_span(field.ty);
        match &field.role {
            Role::Skip(_) => {}
            Role::Flatten { prefix: more } => {
                let item = |item| of_trait(field.ty, private, "EncodeFlattened", item);
                let (width, push) = (item("WIDTH"), item("push_columns"));
                let write = item("write_columns");
                let inner = if more.is_empty() {
                    quote!(#prefix)
                } else {
                    quote!(&#private::prefixed(#prefix, #more))
                };
                code.width.extend(quote!(+ #width));
                code.push
                    .extend(quote_spanned!(end=> #push(#inner, #columns);));
                code.write
                    .extend(quote_spanned!(end=> #write(&self.#member, #out);));
            }
            Role::Column(column) => {
                let name = match &column.source {
                    Source::Named(names) => names.first().map_or("", String::as_str),
                    Source::At(_) => "",
                };
                let ty = self.column_type(field, column);
                code.width.extend(quote!(+ 1));
                code.push
                    .extend(quote!(#private::push_column(#prefix, #name, #ty, #columns);));
                code.write.extend(self.write(field, column));
            }
        }
    }

    /// The type of a field's column.
    fn column_type(&self, field: &RowField<'_>, column: &Column<'_>) -> TokenStream {
        let Paths { root, private, .. } = self.paths;
        let end = last_span(field.ty);
        match &column.how {
            How::Type => {
                let ty = of_trait(field.ty, root, "ToColumn", "column_type");
                quote_spanned!(end=> #ty())
            }
            How::Convert { from, .. } => {
                let ty = of_trait(from, root, "ToColumn", "column_type");
                quote_spanned!(last_span(from)=> #ty())
            }
            How::With(With::Module(path) | With::Function(path)) => {
                let (ty, span) = (field.ty, path_span(path));
                let private = private.starting_at(span);
                quote_spanned!(span=> #private::encoded_type::<#ty, _>(#path::encode))
            }
            How::Json => {
                let ty = of_trait(field.ty, private, "JsonEncode", "column_type");
                quote_spanned!(end=> #ty())
            }
        }
    }

    /// Writes a field's column.
    fn write(&self, field: &RowField<'_>, column: &Column<'_>) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = self.paths;
        let (out, value, member) = (&self.out, &self.value, field.member);
        let end = last_span(field.ty);
        match &column.how {
            How::Type => {
                let write = of_trait(field.ty, root, "ToColumn", "write");
                quote_spanned! {end=>
                    #root::ListWriter::element(#out, |#value| #write(&self.#member, #value));
                }
            }
            How::Convert { from, option, .. } => {
                let span = last_span(from);
                let at = core.starting_at(span);
                let clone = quote_spanned!(span=> #at::clone::Clone::clone(&self.#member));
                let made = quote_spanned!(span=> <#from as #core::convert::From<_>>::from);
                let made = match option {
                    Some(_) => quote_spanned!(span=> #core::option::Option::map(#clone, #made)),
                    None => quote_spanned!(span=> #made(#clone)),
                };
                quote_spanned!(span=> #private::write_column(&#made, #out);)
            }
            How::With(With::Module(path) | With::Function(path)) => {
                let span = path_span(path);
                let private = private.starting_at(span);
                quote_spanned!(span=> #private::write_column(&#path::encode(&self.#member), #out);)
            }
            How::Json => {
                let write = of_trait(field.ty, private, "JsonEncode", "write");
                quote_spanned! {end=>
                    #root::ListWriter::element(#out, |#value| #write(&self.#member, #value));
                }
            }
        }
    }

    /// What is asked of types in which type parameters stand.
    fn conditions(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = self.paths;
        let generics = &self.row.generics;
        let mut all = TokenStream::new();
        for field in &self.row.fields {
            let ty = field.ty;
            let of_parameters = |ty: &Type| {
                let mut params = self.row.input.ast.generics.type_params();
                params.any(|param| mentions(ty, &param.ident))
            };
            match &field.role {
                Role::Skip(_) => {}
                Role::Flatten { .. } if of_parameters(ty) => {
                    all.extend(quote!(#ty: #private::EncodeFlattened,));
                }
                Role::Flatten { .. } => {}
                Role::Column(column) => match &column.how {
                    How::Type if of_parameters(ty) => all.extend(quote!(#ty: #root::ToColumn,)),
                    How::Json if of_parameters(ty) => {
                        all.extend(quote!(#ty: #private::JsonEncode,));
                    }
                    How::Convert { from, option, .. }
                        if of_parameters(ty) || of_parameters(from) =>
                    {
                        let into = option.unwrap_or(ty);
                        all.extend(quote! {
                            #into: #core::clone::Clone,
                            #from: #root::ToColumn + #core::convert::From<#into>,
                        });
                    }
                    _ => {}
                },
            }
        }
        generics.where_clause(all)
    }
}
