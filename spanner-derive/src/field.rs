//! What is emitted for one field: how its column is bound, read, set and its
//! memory kept.
//!
//! Everything starts with `<Type as Trait>::item` at the place of the type, see
//! [`expand`](crate::expand).

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Token, Type};

use crate::attrs::{DefaultValue, With};
use crate::expand::{Locals, Paths};
use crate::model::{first_span, last_span};
use crate::place::{call, located, of_trait, path_span, spare_place};
use crate::validate::{Column, How, Role, RowField, Source};

/// One field and what its code stands in.
pub(crate) struct FieldCode<'a> {
    pub(crate) field: &'a RowField<'a>,
    /// Its number among the fields.
    pub(crate) number: usize,
    pub(crate) paths: &'a Paths,
    pub(crate) locals: &'a Locals,
    /// `Singer<'row>`, the row that is read.
    pub(crate) row: &'a TokenStream,
}

/// The type whose trait reads the column.
enum Reader<'a> {
    /// `ColumnType`
    Column(&'a Type),
    /// `ColumnType` of a type that is converted.
    Converted(&'a Type),
    /// `Flatten`
    Row(&'a Type),
}

impl FieldCode<'_> {
    /// The type of what is left of a value.
    pub(crate) fn spare_type(&self) -> TokenStream {
        match (self.reader(), self.holds_defaults()) {
            (None, _) => quote!(()),
            (Some(reader), false) => self.of(&reader, "Spare"),
            (Some(reader), true) => {
                let private = &self.paths.private;
                let spare = self.of(&reader, "Spare");
                quote!(#private::Defaulted<#spare>)
            }
        }
    }

    /// The first of these: nothing is left.
    pub(crate) fn spare_value(&self) -> TokenStream {
        let item = if self.holds_defaults() {
            "spare_default"
        } else {
            "spare_field"
        };
        match self.reader() {
            None => quote!(()),
            Some(reader) => self.call(&reader, item, &[]),
        }
    }

    /// Whether that is worth keeping, if it can be.
    pub(crate) fn kept(&self) -> Option<TokenStream> {
        let reader = self.reader()?;
        let item = match reader {
            Reader::Converted(_) => "CONVERTED",
            _ => "KEPT",
        };
        Some(self.of(&reader, item))
    }

    /// The same as a type.
    pub(crate) fn mode(&self) -> Option<TokenStream> {
        self.own_reader().map(|reader| self.of(&reader, "Mode"))
    }

    /// ```text
    /// ColumnSpec::named("first_name", "FirstName")
    /// ```
    pub(crate) fn column_spec(&self) -> Option<TokenStream> {
        let private = &self.paths.private;
        let spec = quote!(#private::ColumnSpec);
        let field_name = self.field.member.name();
        match &self.field.role {
            Role::Skip(_) => None,
            Role::Flatten { prefix } => {
                let columns = self.of(&Reader::Row(self.field.ty), "COLUMNS");
                Some(quote!(#spec::flatten(#field_name, #prefix, #columns)))
            }
            Role::Column(column) => {
                let found = match &column.source {
                    Source::At(position) => quote!(#spec::at(#field_name, #position)),
                    Source::Named(names) => match names.split_first() {
                        Some((name, [])) => quote!(#spec::named(#field_name, #name)),
                        Some((name, aliases)) => quote! {
                            #spec::or_named(#spec::named(#field_name, #name), &[#(#aliases),*])
                        },
                        None => return None,
                    },
                };
                Some(if column.default.is_some() {
                    quote!(#spec::or_absent(#found))
                } else {
                    found
                })
            }
        }
    }

    /// How the column is bound, as a `BindField`.
    pub(crate) fn bind(&self) -> Option<TokenStream> {
        let private = &self.paths.private;
        if let Some(reader) = self.reader() {
            return Some(self.call(&reader, "bind_field", &[]));
        }
        let Role::Column(column) = &self.field.role else {
            return None;
        };
        let bind = match &column.how {
            How::With(With::Module(path)) => {
                // What the module calls `bind` goes before what is around it.
                quote! {{
                    #[allow(unused_imports)]
                    use #private::bind;
                    {
                        #[allow(unused_imports, clippy::wildcard_imports)]
                        use #path::*;
                        bind
                    }
                }}
            }
            How::Json => {
                let ty = self.field.ty;
                return Some(of_trait(ty, private, "JsonField", "bind_field"))
                    .map(|bind| quote_spanned!(last_span(ty)=> #bind()));
            }
            _ => quote!(#private::bind),
        };
        Some(quote!(#private::BindField::Column(#bind)))
    }

    /// The value of the field, read from the cursor.
    pub(crate) fn read(&self) -> TokenStream {
        let Paths { private, .. } = self.paths;
        let Locals { cursor, .. } = self.locals;
        let column = match &self.field.role {
            Role::Skip(value) => return self.default_value(value),
            Role::Flatten { .. } => {
                let spare = self.spare();
                let cursor = cursor.to_token_stream();
                return self.try_call(&Reader::Row(self.field.ty), "read_field", &[cursor, spare]);
            }
            Role::Column(column) => column,
        };
        let mut value = self.read_column(column);
        let fresh = |value: TokenStream| {
            if self.holds_defaults() {
                let spare = self.spare();
                quote!(#private::Defaulted::fresh_default(#spare, #value))
            } else {
                value
            }
        };
        if let Some(null) = &column.null_default {
            let null = fresh(self.default_value(null));
            value = quote! {
                if #private::RowCursor::null(#cursor)? { #null } else { #value }
            };
        }
        if let Some(absent) = &column.default {
            let absent = fresh(self.default_value(absent));
            value = quote! {
                if #private::RowCursor::absent(#cursor) { #absent } else { #value }
            };
        }
        value
    }

    /// The value of a column that is there.
    fn read_column(&self, column: &Column<'_>) -> TokenStream {
        let Paths { private, core, .. } = self.paths;
        let Locals { cursor, .. } = self.locals;
        let cursor_tokens = cursor.to_token_stream();
        match &column.how {
            How::Type => {
                let item = if self.holds_defaults() {
                    "read_default"
                } else {
                    "read_field"
                };
                self.try_call(
                    &Reader::Column(self.field.ty),
                    item,
                    &[cursor_tokens, self.spare()],
                )
            }
            How::Convert {
                from,
                fallible,
                option,
            } => {
                let item = if *fallible {
                    "try_from_field"
                } else {
                    "from_field"
                };
                let reader = Reader::Converted(from);
                let value = self.try_call(&reader, item, &[cursor_tokens, self.spare()]);
                match option {
                    None => value,
                    Some(_) => quote! {
                        if #private::RowCursor::null(#cursor)? {
                            #core::option::Option::None
                        } else {
                            #core::option::Option::Some(#value)
                        }
                    },
                }
            }
            How::With(with) => {
                let (path, span) = match with {
                    With::Function(path) => (path.clone(), path_span(path)),
                    With::Module(path) => {
                        let span = path_span(path);
                        (quote_spanned!(span=> #path::decode), span)
                    }
                };
                let private = private.starting_at(span);
                let core = core.starting_at(span);
                quote_spanned! {span=>
                    #core::convert::identity(#private::RowCursor::with(#cursor, #path)?)
                }
            }
            How::Json => {
                let ty = self.field.ty;
                let read = of_trait(ty, private, "JsonField", "read_field");
                quote_spanned!(last_span(ty)=> #read(#cursor)?)
            }
        }
    }

    /// Statements that read the field of an earlier row anew.
    pub(crate) fn set(&self) -> TokenStream {
        let Paths { private, .. } = self.paths;
        let Locals { cursor, row, .. } = self.locals;
        let member = self.field.member;
        let Some(reader) = self.own_reader() else {
            let value = self.read();
            return quote!(#row.#member = #value;);
        };
        let place = located(self.field.ty, &quote!(&mut #row.#member), self.paths);
        let cursor_tokens = cursor.to_token_stream();
        let defaults = self.holds_defaults();
        let item = if defaults { "set_default" } else { "set_field" };
        let set = self.try_call(&reader, item, &[place.clone(), cursor_tokens, self.spare()]);
        let mut set = quote_spanned!(last_span(self.field.ty)=> #set;);
        let Role::Column(column) = &self.field.role else {
            return set;
        };
        let put = |value: &DefaultValue| {
            let value = self.default_value(value);
            if defaults {
                let put = self.call(
                    &reader,
                    "put_default",
                    &[place.clone(), value, self.spare()],
                );
                quote!(#put;)
            } else {
                quote!(#row.#member = #value;)
            }
        };
        if let Some(null) = &column.null_default {
            let null = put(null);
            set = quote! {
                if #private::RowCursor::null(#cursor)? { #null } else { #set }
            };
        }
        if let Some(absent) = &column.default {
            let absent = put(absent);
            set = quote! {
                if #private::RowCursor::absent(#cursor) { #absent } else { #set }
            };
        }
        set
    }

    /// Keeps the memory of the field of a row that is no longer needed.
    pub(crate) fn recycle(&self) -> Option<TokenStream> {
        let Locals { row, .. } = self.locals;
        let member = self.field.member;
        let reader = self.own_reader()?;
        let value = located(self.field.ty, &quote!(#row.#member), self.paths);
        let item = if self.holds_defaults() {
            "recycle_default"
        } else {
            "recycle_field"
        };
        let recycle = self.call(&reader, item, &[value, self.spare()]);
        Some(quote_spanned!(last_span(self.field.ty)=> #recycle;))
    }

    /// The value that no column gives.
    fn default_value(&self, value: &DefaultValue) -> TokenStream {
        let core = &self.paths.core;
        let ty = self.field.ty;
        match value {
            DefaultValue::OfType => {
                let core = core.starting_at(first_span(ty));
                quote_spanned!(last_span(ty)=> #core::default::Default::default())
            }
            DefaultValue::Call(path) => call(path, self.paths),
            DefaultValue::OfStruct(span) => {
                let (row, member) = (self.row, self.field.member);
                let open = Token![<](*span);
                let default = quote_spanned! {*span=>
                    #open #row as #core::default::Default>::default()
                };
                quote!(#default.#member)
            }
        }
    }

    /// Whether the field may hold a default that owns no memory, in place of a
    /// value that does.
    fn holds_defaults(&self) -> bool {
        match &self.field.role {
            Role::Column(column) => {
                column.null_default.is_some() && matches!(column.how, How::Type)
            }
            _ => false,
        }
    }

    fn reader(&self) -> Option<Reader<'_>> {
        match &self.field.role {
            Role::Skip(_) => None,
            Role::Flatten { .. } => Some(Reader::Row(self.field.ty)),
            Role::Column(column) => match &column.how {
                How::Type => Some(Reader::Column(self.field.ty)),
                How::Convert { from, .. } => Some(Reader::Converted(from)),
                How::With(_) | How::Json => None,
            },
        }
    }

    /// The reader when it reads the type of the field.
    fn own_reader(&self) -> Option<Reader<'_>> {
        self.reader()
            .filter(|reader| !matches!(reader, Reader::Converted(_)))
    }

    /// The type whose place the code of the field stands at: that which reads it.
    pub(crate) fn place(&self) -> &Type {
        match &self.field.role {
            Role::Column(column) => match column.how {
                How::Convert { from, .. } => from,
                _ => self.field.ty,
            },
            _ => self.field.ty,
        }
    }

    /// `&mut spare.0`
    pub(crate) fn spare(&self) -> TokenStream {
        let ty = self.place();
        spare_place(ty, &self.locals.spare, self.number, self.paths)
    }

    // Each of these in one piece: what is made of pieces is copied by the compiler.

    fn try_call(&self, reader: &Reader<'_>, item: &str, arguments: &[TokenStream]) -> TokenStream {
        let mut call = self.call(reader, item, arguments);
        Token![?](last_span(reader.ty())).to_tokens(&mut call);
        call
    }

    fn call(&self, reader: &Reader<'_>, item: &str, arguments: &[TokenStream]) -> TokenStream {
        let mut call = self.of(reader, item);
        let end = last_span(reader.ty());
        let arguments = quote_spanned!(end=> (#(#arguments),*));
        call.extend(arguments);
        call
    }

    /// `<Type as ColumnType>::item`
    fn of(&self, reader: &Reader<'_>, item: &str) -> TokenStream {
        let Paths { root, private, .. } = self.paths;
        match reader {
            Reader::Column(_) | Reader::Converted(_) => {
                of_trait(reader.ty(), root, "ColumnType", item)
            }
            Reader::Row(_) => of_trait(reader.ty(), private, "Flatten", item),
        }
    }

    /// `<Type as ColumnType>::item` of the one field of a transparent struct.
    pub(crate) fn of_own(&self, item: &str) -> TokenStream {
        self.of(&Reader::Column(self.field.ty), item)
    }

    /// Stops the compilation when the columns of the flattened row number `spec`
    /// among the columns are read by another field too.
    pub(crate) fn assert_distinct(
        &self,
        columns: &TokenStream,
        spec: usize,
    ) -> Option<TokenStream> {
        let Role::Flatten { .. } = self.field.role else {
            return None;
        };
        let private = self.paths.private.starting_at(first_span(self.field.ty));
        let end = last_span(self.field.ty);
        let check = quote_spanned!(end=> #private::ColumnSpec::assert_distinct(#columns, #spec));
        Some(quote! {
            #[allow(long_running_const_eval)]
            const _: () = #check;
        })
    }
}

impl Reader<'_> {
    const fn ty(&self) -> &Type {
        match self {
            Self::Column(ty) | Self::Converted(ty) | Self::Row(ty) => ty,
        }
    }
}
