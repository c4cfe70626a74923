//! The implementations of `FromColumn` and `ToColumn` for a struct that stands for
//! one column.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::expand::{Expansion, Locals, Paths};
use crate::model::last_span;
use crate::place::located;
use crate::validate::{How, Role};

impl Expansion<'_> {
    /// ```text
    /// impl<'a> FromColumn<'a> for Name<'a> {
    ///     fn read(column: Column<'_, 'a>, spare: &mut Self::Spare) -> Result<Self, DecodeError> {
    ///         Ok(Name(<Cow<'a, str> as ColumnType>::read_column(column, &mut spare.0)?))
    ///     }
    ///     …
    /// ```
    pub(crate) fn impl_from_column_transparent(&self) -> TokenStream {
        let Paths { root, core, .. } = &self.paths;
        let Locals {
            binder,
            column,
            spare,
            ty,
            ..
        } = &self.locals;
        let Self {
            own, conditions, ..
        } = self;
        let row = &self.row.generics.row;
        let name = &self.row.input.name;
        let parameters = self.row.generics.parameters_with_row();
        let mut one = TokenStream::new();
        let values: Vec<_> = self
            .each(|code| {
                let member = code.field.member;
                let value = match code.field.role {
                    Role::Skip(_) => code.read(),
                    _ => {
                        let read = code.of_own("read_column");
                        let spare = code.spare();
                        quote_spanned!(last_span(code.field.ty)=> #read(#column, #spare)?)
                    }
                };
                Some(quote_spanned!(last_span(code.field.ty)=> #member: #value))
            })
            .collect();
        let sets: Vec<_> = self
            .each(|code| {
                let member = code.field.member;
                Some(match code.field.role {
                    Role::Skip(_) => {
                        let value = code.read();
                        quote!(self.#member = #value;)
                    }
                    _ => {
                        let set = code.of_own("set_column");
                        let place = located(code.field.ty, &quote!(&mut self.#member), code.paths);
                        let spare = code.spare();
                        quote_spanned!(last_span(code.field.ty)=> #set(#place, #column, #spare)?;)
                    }
                })
            })
            .collect();
        let recycle: Vec<_> = self
            .each(|code| {
                let Role::Column(_) = code.field.role else {
                    return None;
                };
                let member = code.field.member;
                one = code.of_own("bind_column");
                let recycle = code.of_own("recycle_field");
                let value = located(code.field.ty, &quote!(self.#member), code.paths);
                let spare = code.spare();
                Some(quote_spanned!(last_span(code.field.ty)=> #recycle(#value, #spare);))
            })
            .collect();
        let bind = one;
        let spare_type = quote!(&mut <Self as #root::ColumnType>::Spare);
        quote! {
            #[automatically_derived]
            impl #parameters #root::FromColumn<#row> for #own #conditions {
                fn bind(#ty: &#root::Type, #binder: &mut #root::Binder<'_>) -> #root::Binding {
                    #bind(#ty, #binder)
                }

                #[inline]
                fn read(
                    #column: #root::Column<'_, #row>,
                    #spare: #spare_type,
                ) -> #core::result::Result<Self, #root::DecodeError> {
                    #core::result::Result::Ok(#name { #(#values),* })
                }

                #[inline]
                fn set(
                    &mut self,
                    #column: #root::Column<'_, #row>,
                    #spare: #spare_type,
                ) -> #core::result::Result<(), #root::DecodeError> {
                    #(#sets)*
                    #core::result::Result::Ok(())
                }

                #[inline]
                fn recycle(self, #spare: #spare_type) {
                    #(#recycle)*
                }
            }
        }
    }

    /// The struct is a parameter where its field is one. Whether it is, only the
    /// compiler knows: a condition that does not hold is an error, unless it has a
    /// lifetime of its own.
    ///
    /// ```text
    /// impl<'a> ToColumn for Name<'a> where for<'any> Cow<'a, str>: ToColumn {
    ///     fn write(&self, out: ValueWriter<'_>) {
    ///         <Cow<'a, str> as ToColumn>::write(&self.0, out)
    ///     }
    ///     …
    /// ```
    pub(crate) fn impl_to_column_transparent(&self) -> Option<TokenStream> {
        let root = &self.paths.root;
        let out = &self.locals.column;
        let Self {
            parameters, own, ..
        } = self;
        let generics = &self.row.generics;
        let field = self.row.fields.iter().find(
            |field| matches!(&field.role, Role::Column(column) if matches!(column.how, How::Type)),
        )?;
        let (ty, member) = (field.ty, field.member);
        let any = &generics.any;
        let conditions = generics.where_clause(quote!(for<#any> #ty: #root::ToColumn));
        Some(quote! {
            #[automatically_derived]
            impl #parameters #root::ToColumn for #own #conditions {
                fn column_type() -> #root::Type {
                    <#ty as #root::ToColumn>::column_type()
                }

                fn write(&self, #out: #root::ValueWriter<'_>) {
                    <#ty as #root::ToColumn>::write(&self.#member, #out)
                }
            }
        })
    }
}
