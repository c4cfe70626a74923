//! Writes the implementations for a struct that was found good.
//!
//! The type of a field stands in the output as it was written, with the struct's
//! own lifetime, and always as `<Type as ColumnType>::item` at the very place
//! where the user wrote it; so do the arguments whose types depend on it. A type
//! that is not a column type then gives one message, at the field: the compiler
//! drops messages that repeat another. What cannot stand at one field, the type
//! of the spare memory and the mode, depends on the constant `KEPT` and is left
//! alone when that is in error.
//!
//! Names of locals are made once, at mixed-site spans, so that no name of the
//! user's is taken for one of them, and are unusual because a constant of that
//! name would still be taken for a pattern.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use crate::attrs::Runtime;
use crate::conditions::{check_bound, conditions};
use crate::field::FieldCode;
use crate::model::last_span;
use crate::place::{PathTokens, path_span};
use crate::types::owns;
use crate::validate::{How, Role, Row, RowField};

/// Paths into the runtime. It is imported once under a name of ours: when it is not
/// there, the compiler says so once and is silent about what stands below that name.
pub(crate) struct Paths {
    /// `use ::spanner_rows as __spanner_rows;`
    import: TokenStream,
    pub(crate) root: PathTokens,
    pub(crate) private: PathTokens,
    pub(crate) core: PathTokens,
}

impl Paths {
    pub(crate) fn new(runtime: &Runtime) -> Option<Self> {
        let name = Ident::new("__spanner_rows", Span::mixed_site());
        let (import, root) = match runtime {
            Runtime::SpannerRows => (quote!(use ::spanner_rows as #name;), quote!(#name)),
            // All at the place of the path, which is where it is said to be wrong.
            Runtime::At(path) => {
                let span = path_span(path);
                let name_there = Ident::new("__spanner_rows", span);
                let import = quote_spanned!(span=> use #path as #name_there;);
                (import, quote!(#name))
            }
            Runtime::Around(path) => (TokenStream::new(), path.clone()),
            Runtime::Unknown => return None,
        };
        let private = quote!(#root::__private);
        let core = quote!(#private::core);
        Some(Self {
            import,
            root: root.into(),
            private: private.into(),
            core: core.into(),
        })
    }
}

/// Names of locals in generated code.
pub(crate) struct Locals {
    pub(crate) binder: Ident,
    bound: Ident,
    pub(crate) column: Ident,
    pub(crate) cursor: Ident,
    home: Ident,
    pub(crate) row: Ident,
    row_type: Ident,
    pub(crate) spare: Ident,
    pub(crate) ty: Ident,
}

impl Locals {
    fn new() -> Self {
        let local = |name| Ident::new(name, Span::mixed_site());
        Self {
            binder: local("__binder"),
            bound: local("__bound"),
            column: local("__column"),
            cursor: local("__cursor"),
            home: local("__home"),
            row: local("__row"),
            row_type: local("__row_type"),
            spare: local("__spare"),
            ty: local("__ty"),
        }
    }
}

/// Everything that is emitted for a row.
pub(crate) fn row(row: &Row<'_>) -> TokenStream {
    let Some(paths) = Paths::new(&row.input.attrs.runtime) else {
        return TokenStream::new();
    };
    let generics = &row.generics;
    let expansion = Expansion {
        row,
        locals: Locals::new(),
        parameters: generics.parameters(),
        own: own_type(row, &generics.row),
        at_fresh: own_type(row, &generics.fresh),
        conditions: conditions(row, &paths),
        paths,
    };
    let spare = expansion.spare();
    let column_type = expansion.impl_column_type();
    let items = if row.input.attrs.transparent.is_some() {
        let from_column = expansion.impl_from_column_transparent();
        let to_column = expansion.impl_to_column_transparent();
        quote!(#spare #column_type #from_column #to_column)
    } else {
        let spanner_row = expansion.impl_spanner_row();
        let distinct = expansion.assert_distinct();
        let owned_row = expansion.impl_owned_row();
        let from_column = expansion.impl_from_column();
        quote!(#spare #spanner_row #distinct #owned_row #column_type #from_column)
    };
    let check = check_bound(row, &expansion.parameters, &expansion.paths);
    let items = quote!(#check #items);
    anonymous(&row.input.allowed, &expansion.paths, &items)
}

/// A place of its own for what is emitted, where the lints are allowed that the
/// user allowed for the struct.
pub(crate) fn anonymous(
    allowed: &[TokenStream],
    paths: &Paths,
    items: &TokenStream,
) -> TokenStream {
    let import = &paths.import;
    quote! {
        #(#[allow(#allowed)])*
        const _: () = { #import #items };
    }
}

/// The row with this lifetime.
fn own_type(row: &Row<'_>, lifetime: &Lifetime) -> TokenStream {
    let name = &row.input.name;
    let arguments = row.generics.arguments(lifetime);
    quote!(#name #arguments)
}

pub(crate) struct Expansion<'a> {
    pub(crate) row: &'a Row<'a>,
    pub(crate) paths: Paths,
    pub(crate) locals: Locals,
    /// `<'a, T>`
    pub(crate) parameters: TokenStream,
    /// `Singer<'a, T>`
    pub(crate) own: TokenStream,
    /// `Singer<'row, T>`, with a lifetime of methods and associated types.
    pub(crate) at_fresh: TokenStream,
    /// `where …`
    pub(crate) conditions: TokenStream,
}

impl Expansion<'_> {
    /// For `struct Singer<'a> { id: i64, name: Cow<'a, str> }`:
    ///
    /// ```text
    /// impl<'a> SpannerRow for Singer<'a> {
    ///     const COLUMNS: &'static [ColumnSpec] = &[
    ///         ColumnSpec::named("id", "Id"), ColumnSpec::named("name", "Name"),
    ///     ];
    ///     type Row<'row> = Singer<'row>;
    ///     …
    /// ```
    fn impl_spanner_row(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = &self.paths;
        let Self {
            parameters,
            own,
            conditions,
            ..
        } = self;
        let fresh = &self.row.generics.fresh;
        let row = own_type(self.row, fresh);
        let columns = self.each(|code| code.column_spec());
        let spare = self.spare_type();
        let lending = self.lending();
        let functions = [
            self.bind(),
            self.decode(),
            self.update(),
            self.recycle(),
            self.lend(),
        ];
        quote! {
            #[automatically_derived]
            impl #parameters #root::SpannerRow for #own #conditions {
                const COLUMNS: &'static [#private::ColumnSpec] = &[#(#columns),*];
                type Row<#fresh> = #row;
                type Spare = #spare;
                type Mode = <Self as #root::ColumnType>::Mode;
                const KEPT: #core::primitive::bool = <Self as #root::ColumnType>::KEPT;
                #lending
                #(#functions)*
            }
        }
    }

    /// What a stream lends and keeps: a struct without a lifetime stays in its
    /// home and a reference to it is lent; else the fields decide, see `Mode`.
    fn lending(&self) -> TokenStream {
        let Paths { root, private, .. } = &self.paths;
        let fresh = &self.row.generics.fresh;
        if self.row.generics.borrows() {
            quote! {
                type Lent<#fresh> =
                    <<Self as #root::ColumnType>::Mode as #root::Mode>::Lent<#fresh, Self>;
                type Home = <Self as #root::SpannerRow>::Spare;
            }
        } else {
            quote! {
                type Lent<#fresh> = &#fresh mut Self;
                type Home = #private::Home<Self, <Self as #root::SpannerRow>::Spare>;
            }
        }
    }

    /// ```text
    /// binder.row("Singer", COLUMNS, &[<i64 as ColumnType>::bind_field(), …], row_type)
    /// ```
    fn bind(&self) -> TokenStream {
        let root = &self.paths.root;
        let Locals {
            binder,
            bound,
            row_type,
            ..
        } = &self.locals;
        let name = self.row.input.name.to_string();
        let fields = self.each(|code| code.bind());
        let bind = quote! {
            #root::Binder::row(
                #binder,
                #name,
                <Self as #root::SpannerRow>::COLUMNS,
                &[#(#fields),*],
                #row_type,
            )
        };
        let body = if self.row.input.attrs.deny_unknown_columns.is_some() {
            quote! {
                let #bound = #bind;
                #root::Binder::deny_unknown_columns(#binder, #name, &#bound, #row_type);
                #bound
            }
        } else {
            bind
        };
        quote! {
            fn bind(#row_type: &#root::RowType, #binder: &mut #root::Binder<'_>) -> #root::Binding {
                #body
            }
        }
    }

    /// ```text
    /// Ok(Singer { id: <i64 as ColumnType>::read_field(cursor, &mut spare.0)?, … })
    /// ```
    fn decode(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = &self.paths;
        let Locals { cursor, spare, .. } = &self.locals;
        let fresh = &self.row.generics.fresh;
        let name = &self.row.input.name;
        let row = own_type(self.row, fresh);
        let fields = self.each(|code| {
            let member = code.field.member;
            let value = code.read();
            Some(quote_spanned!(last_span(code.field.ty)=> #member: #value))
        });
        quote! {
            #[inline(always)]
            fn decode<#fresh>(
                #cursor: &mut #private::RowCursor<'_, #fresh>,
                #spare: &mut <Self as #root::SpannerRow>::Spare,
            ) -> #core::result::Result<#row, #root::DecodeError> {
                #core::result::Result::Ok(#name { #(#fields),* })
            }
        }
    }

    /// ```text
    /// <i64 as ColumnType>::set_field(&mut row.id, cursor, &mut spare.0)?;
    /// …
    /// Ok(())
    /// ```
    fn update(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = &self.paths;
        let Locals {
            cursor, row, spare, ..
        } = &self.locals;
        let fresh = &self.row.generics.fresh;
        let row_type = own_type(self.row, fresh);
        let fields = self.each(|code| Some(code.set()));
        quote! {
            #[inline(always)]
            fn update<#fresh>(
                #row: &mut #row_type,
                #cursor: &mut #private::RowCursor<'_, #fresh>,
                #spare: &mut <Self as #root::SpannerRow>::Spare,
            ) -> #core::result::Result<(), #root::DecodeError> {
                #(#fields)*
                #core::result::Result::Ok(())
            }
        }
    }

    /// ```text
    /// <i64 as ColumnType>::recycle_field(identity(row.id), &mut spare.0);
    /// …
    /// ```
    fn recycle(&self) -> TokenStream {
        let root = &self.paths.root;
        let Locals { row, spare, .. } = &self.locals;
        let fresh = &self.row.generics.fresh;
        let row_type = own_type(self.row, fresh);
        let fields = self.each(|code| code.recycle());
        quote! {
            #[inline]
            fn recycle<#fresh>(
                #row: #row_type,
                #spare: &mut <Self as #root::SpannerRow>::Spare,
            ) {
                #(#fields)*
            }
        }
    }

    fn lend(&self) -> TokenStream {
        let Paths {
            root,
            private,
            core,
            ..
        } = &self.paths;
        let Locals { cursor, home, .. } = &self.locals;
        let fresh = &self.row.generics.fresh;
        let lent = if self.row.generics.borrows() {
            quote! {
                <<Self as #root::ColumnType>::Mode as #root::Mode>::lend::<Self>(#cursor, #home)
            }
        } else {
            quote!(#private::Home::lend(#home, #cursor))
        };
        quote! {
            #[inline(always)]
            fn lend<#fresh>(
                #cursor: &mut #private::RowCursor<'_, #fresh>,
                #home: &#fresh mut <Self as #root::SpannerRow>::Home,
            ) -> #core::result::Result<
                <Self as #root::SpannerRow>::Lent<#fresh>,
                #root::DecodeError,
            > {
                #lent
            }
        }
    }

    /// ```text
    /// impl OwnedRow for Count {}
    /// ```
    fn impl_owned_row(&self) -> Option<TokenStream> {
        if self.row.generics.borrows() {
            return None;
        }
        let root = &self.paths.root;
        let Self {
            parameters,
            own,
            conditions,
            ..
        } = self;
        Some(quote! {
            #[automatically_derived]
            impl #parameters #root::OwnedRow for #own #conditions {}
        })
    }

    /// ```text
    /// impl<'a> ColumnType for Singer<'a> {
    ///     type Spare = <Self as SpannerRow>::Spare;
    ///     type Mode = <If<{ <Singer<'static> as ColumnType>::KEPT }> as Choice>::Mode;
    ///     type Static = Singer<'static>;
    ///     type At<'row> = Singer<'row>;
    ///     const KEPT: bool =
    ///         <i64 as ColumnType>::KEPT || <Cow<'a, str> as ColumnType>::KEPT;
    /// }
    /// ```
    fn impl_column_type(&self) -> TokenStream {
        let Paths { root, core, .. } = &self.paths;
        let Self {
            parameters,
            own,
            conditions,
            ..
        } = self;
        let fresh = &self.row.generics.fresh;
        let mode = self.mode();
        let at_static = self.own_static();
        let at_fresh = &self.at_fresh;
        let spare = if self.row.input.attrs.transparent.is_some() {
            self.spare_type()
        } else {
            quote!(<Self as #root::SpannerRow>::Spare)
        };
        let kept: Vec<_> = self.each(|code| code.kept()).collect();
        let kept = if kept.is_empty() {
            quote!(false)
        } else {
            quote!(#(#kept)||*)
        };
        quote! {
            #[automatically_derived]
            impl #parameters #root::ColumnType for #own #conditions {
                type Spare = #spare;
                type Mode = #mode;
                type Static = #at_static;
                type At<#fresh> = #at_fresh;
                const KEPT: #core::primitive::bool = #kept;
            }
        }
    }

    /// ```text
    /// impl<'a> FromColumn<'a> for Singer<'a> {
    ///     fn read(column: Column<'_, 'a>, spare: &mut Self::Spare) -> Result<Self, DecodeError> {
    ///         column.structure(|cursor| <Self as SpannerRow>::decode(cursor, spare))
    ///     }
    ///     …
    /// ```
    fn impl_from_column(&self) -> TokenStream {
        let Paths { root, core, .. } = &self.paths;
        let Locals {
            binder,
            column,
            cursor,
            spare,
            ty,
            ..
        } = &self.locals;
        let Self {
            own, conditions, ..
        } = self;
        let row = &self.row.generics.row;
        let parameters = self.row.generics.parameters_with_row();
        let spare_type = quote!(&mut <Self as #root::SpannerRow>::Spare);
        quote! {
            #[automatically_derived]
            impl #parameters #root::FromColumn<#row> for #own #conditions {
                fn bind(#ty: &#root::Type, #binder: &mut #root::Binder<'_>) -> #root::Binding {
                    #root::Binder::structure::<Self>(
                        #binder,
                        #ty,
                        <Self as #root::SpannerRow>::bind,
                    )
                }

                fn read(
                    #column: #root::Column<'_, #row>,
                    #spare: #spare_type,
                ) -> #core::result::Result<Self, #root::DecodeError> {
                    #root::Column::structure(&#column, |#cursor| {
                        <Self as #root::SpannerRow>::decode(#cursor, #spare)
                    })
                }

                fn set(
                    &mut self,
                    #column: #root::Column<'_, #row>,
                    #spare: #spare_type,
                ) -> #core::result::Result<(), #root::DecodeError> {
                    #root::Column::structure(&#column, |#cursor| {
                        <Self as #root::SpannerRow>::update(self, #cursor, #spare)
                    })
                }

                fn recycle(self, #spare: #spare_type) {
                    <Self as #root::SpannerRow>::recycle(self, #spare);
                }
            }
        }
    }

    /// Fields that read one column across flattened rows are found when the
    /// program is compiled; with type parameters, when the row is bound.
    fn assert_distinct(&self) -> TokenStream {
        let root = &self.paths.root;
        if self.row.generics.has_types() {
            return TokenStream::new();
        }
        let at_static = self.own_static();
        let columns = quote!(<#at_static as #root::SpannerRow>::COLUMNS);
        let mut spec = 0;
        let mut asserts = Vec::new();
        for code in self.codes() {
            if code.column_spec().is_some() {
                asserts.extend(code.assert_distinct(&columns, spec));
                spec += 1;
            }
        }
        quote!(#(#asserts)*)
    }

    /// The mode of the row, from those of the fields. A constant cannot depend on
    /// type parameters; then it is the types of the fields that decide.
    fn mode(&self) -> TokenStream {
        let Paths { root, private, .. } = &self.paths;
        if self.row.generics.has_types() {
            let kept = self.kept_whatever_the_parameters();
            let modes = self.each(|code| code.mode().filter(|_| !self.is_free(code.field)));
            let mut modes: Vec<_> = modes.collect();
            if !kept.is_empty() {
                modes.push(quote!(<#private::If<{ #(#kept)||* }> as #private::Choice>::Mode));
            }
            if modes.is_empty() {
                return quote!(#root::Plain);
            }
            return fold(&modes, &|a, b| quote!(#private::Or<#a, #b>));
        }
        let at_static = self.own_static();
        quote! {
            <#private::If<{ <#at_static as #root::ColumnType>::KEPT }> as #private::Choice>::Mode
        }
    }

    /// Of a struct with type parameters, whether the fields in which none stands are kept.
    pub(crate) fn kept_whatever_the_parameters(&self) -> Vec<TokenStream> {
        self.each(|code| code.kept().filter(|_| self.is_free(code.field)))
            .collect()
    }

    /// Whether a field is read by a type in which no parameter stands.
    fn is_free(&self, field: &RowField<'_>) -> bool {
        let generics = &self.row.input.ast.generics;
        let by_type = match &field.role {
            Role::Flatten { .. } => true,
            Role::Column(column) => matches!(column.how, How::Type),
            Role::Skip(_) => false,
        };
        by_type && owns(field.ty, generics)
    }

    pub(crate) fn own_static(&self) -> TokenStream {
        own_type(self.row, &static_lifetime())
    }

    fn codes(&self) -> impl Iterator<Item = FieldCode<'_>> {
        let fields = self.row.fields.iter().enumerate();
        fields.map(|(number, field)| FieldCode {
            field,
            number,
            paths: &self.paths,
            locals: &self.locals,
            row: &self.at_fresh,
        })
    }

    pub(crate) fn each<'s>(
        &'s self,
        make: impl FnMut(FieldCode<'s>) -> Option<TokenStream> + 's,
    ) -> impl Iterator<Item = TokenStream> + 's {
        self.codes().filter_map(make)
    }
}

pub(crate) fn static_lifetime() -> Lifetime {
    Lifetime::new("'static", Span::mixed_site())
}

/// Combines neighbours until one is left, at the least depth.
fn fold(
    leaves: &[TokenStream],
    pair: &dyn Fn(TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    match leaves {
        [single] => single.clone(),
        leaves => {
            let (left, right) = leaves.split_at(leaves.len().div_ceil(2));
            pair(fold(left, pair), fold(right, pair))
        }
    }
}
