//! The struct and its fields in types of our own.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, Meta, PathArguments, Type};

use crate::attr::{self, Level};
use crate::attrs::{FieldAttrs, Runtime, StructAttrs};
use crate::ctxt::Ctxt;
use crate::unraw::Name;

/// What the derive was put on.
pub(crate) struct Input<'a> {
    pub(crate) ast: &'a DeriveInput,
    pub(crate) name: Name,
    pub(crate) attrs: StructAttrs,
    pub(crate) shape: Shape<'a>,
    /// The lints that generated code has to allow.
    pub(crate) allowed: Vec<TokenStream>,
}

pub(crate) enum Shape<'a> {
    /// A struct with named fields, or a tuple struct.
    Struct(Vec<Field<'a>>),
    /// Something that no row can be read into; already reported.
    Other,
}

pub(crate) struct Field<'a> {
    /// How code names it: `name` or `0`.
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) attrs: FieldAttrs,
    /// Whether something is wrong with the attributes, so that nobody knows how
    /// the field is meant.
    pub(crate) unclear: bool,
}

pub(crate) enum Member {
    Named(Name),
    Position { index: usize, span: Span },
}

impl<'a> Input<'a> {
    /// `derive` is the name of the macro, for messages.
    pub(crate) fn parse(ctxt: &Ctxt, ast: &'a DeriveInput, derive: &str) -> Self {
        let attrs = StructAttrs::parse(ctxt, &attr::read(ctxt, Level::Struct, &ast.attrs));
        let shape = match &ast.data {
            Data::Struct(data) => Shape::of_struct(ctxt, &ast.ident, &data.fields, derive),
            Data::Enum(data) => Shape::refuse(ctxt, data.enum_token.span, "an enum", derive),
            Data::Union(data) => Shape::refuse(ctxt, data.union_token.span, "a union", derive),
        };
        let mut allowed = allowed(ast);
        // What stands in a string is not seen by who tidies up paths.
        if matches!(attrs.runtime, Runtime::At(_) | Runtime::Around(_)) || has_paths(&shape) {
            allowed.push(quote!(unused_qualifications));
        }
        Self {
            ast,
            name: Name::new(&ast.ident),
            attrs,
            shape,
            allowed,
        }
    }
}

/// Whether fields name functions, types or modules.
fn has_paths(shape: &Shape<'_>) -> bool {
    const NAMES: &[&str] = &[
        "skip",
        "default",
        "null_default",
        "from",
        "try_from",
        "with",
    ];
    let Shape::Struct(fields) = shape else {
        return false;
    };
    let mut names = fields.iter().flat_map(|field| &field.attrs.names);
    names.any(|(name, _)| NAMES.contains(name))
}

/// The lints that the user allowed, or expected, for the struct or a field:
/// generated code repeats types and names. What is deprecated is used by it.
pub(crate) fn allowed(ast: &DeriveInput) -> Vec<TokenStream> {
    let fields = match &ast.data {
        Data::Struct(data) => Some(data.fields.iter().flat_map(|field| &field.attrs)),
        Data::Enum(_) | Data::Union(_) => None,
    };
    let attributes = ast.attrs.iter().chain(fields.into_iter().flatten());
    let allowed = attributes.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            Some(list.tokens.clone())
        }
        meta if meta.path().is_ident("deprecated") => Some(quote!(deprecated)),
        _ => None,
    });
    allowed.collect()
}

impl<'a> Shape<'a> {
    fn of_struct(ctxt: &Ctxt, ident: &Ident, fields: &'a Fields, derive: &str) -> Self {
        if fields.is_empty() {
            return Self::refuse(ctxt, ident.span(), "a struct without fields", derive);
        }
        let fields = fields.iter().enumerate();
        Self::Struct(fields.map(|field| Field::parse(ctxt, field)).collect())
    }

    fn refuse(ctxt: &Ctxt, span: Span, found: &str, derive: &str) -> Self {
        let message =
            format!("`{derive}` can be derived only for a struct with fields; this is {found}");
        ctxt.error(span, message);
        Self::Other
    }
}

impl<'a> Field<'a> {
    fn parse(ctxt: &Ctxt, (index, field): (usize, &'a syn::Field)) -> Self {
        let problems = ctxt.problems();
        Self {
            member: match &field.ident {
                Some(ident) => Member::Named(Name::new(ident)),
                None => Member::Position {
                    index,
                    span: first_span(&field.ty),
                },
            },
            ty: &field.ty,
            attrs: FieldAttrs::parse(ctxt, &attr::read(ctxt, Level::Field, &field.attrs)),
            unclear: ctxt.problems() > problems,
        }
    }

    /// The place to point at when something is wrong with the field.
    pub(crate) fn span(&self) -> Span {
        match &self.member {
            Member::Named(name) => name.ident().span(),
            Member::Position { span, .. } => *span,
        }
    }
}

impl Member {
    /// The name for messages, without `r#`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Named(name) => name.to_string(),
            Self::Position { index, .. } => index.to_string(),
        }
    }
}

impl ToTokens for Member {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Named(name) => name.to_tokens(tokens),
            Self::Position { index, .. } => syn::Index::from(*index).to_tokens(tokens),
        }
    }
}

/// Where a type starts.
pub(crate) fn first_span(ty: &Type) -> Span {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let path = &path.path;
            let first = path.segments.first().map(|segment| segment.ident.span());
            let colons = path.leading_colon.as_ref().map(|colons| colons.spans[0]);
            colons.or(first).unwrap_or_else(Span::call_site)
        }
        Type::Reference(reference) => reference.and_token.span,
        ty => span_of(ty.to_token_stream().into_iter().next()),
    }
}

/// Where a type ends.
pub(crate) fn last_span(ty: &Type) -> Span {
    match ty {
        Type::Path(path) => {
            if let Some(last) = path.path.segments.last() {
                match &last.arguments {
                    PathArguments::None => return last.ident.span(),
                    PathArguments::AngleBracketed(arguments) => return arguments.gt_token.span,
                    PathArguments::Parenthesized(_) => {}
                }
            }
        }
        Type::Reference(reference) => return last_span(&reference.elem),
        _ => {}
    }
    match ty.to_token_stream().into_iter().last() {
        Some(TokenTree::Group(group)) => group.span_close(),
        last => span_of(last),
    }
}

fn span_of(token: Option<TokenTree>) -> Span {
    token.map_or_else(Span::call_site, |token| token.span())
}
