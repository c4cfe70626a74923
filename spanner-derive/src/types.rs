//! What can be seen of a field's type without knowing what its names mean.
//!
//! Only messages depend on it. How a field is read is decided by its type's
//! implementation of `FromColumn`, so aliases and macros work like what they
//! stand for.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{GenericArgument, Generics, Lifetime, PathArguments, Type, TypePath};

use crate::model::first_span;

/// Calls `found` for every reference in `ty` that a column could be read into,
/// with its lifetime if it has one.
pub(crate) fn for_each_reference<'a>(ty: &'a Type, found: &mut dyn FnMut(Option<&'a Lifetime>)) {
    match ty {
        Type::Reference(reference) => {
            found(reference.lifetime.as_ref());
            for_each_reference(&reference.elem, found);
        }
        Type::Array(array) => for_each_reference(&array.elem, found),
        Type::Slice(slice) => for_each_reference(&slice.elem, found),
        Type::Group(group) => for_each_reference(&group.elem, found),
        Type::Paren(paren) => for_each_reference(&paren.elem, found),
        Type::Tuple(tuple) => {
            for elem in &tuple.elems {
                for_each_reference(elem, found);
            }
        }
        Type::Path(path) => {
            for segment in &path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                    continue;
                };
                for argument in &arguments.args {
                    if let GenericArgument::Type(ty) = argument {
                        for_each_reference(ty, found);
                    }
                }
            }
        }
        // Function pointers and trait objects have lifetimes of their own.
        _ => {}
    }
}

/// Whether neither references nor parameters stand in a type.
pub(crate) fn owns(ty: &Type, generics: &Generics) -> bool {
    fn stand_in(tokens: TokenStream, generics: &Generics) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Punct(punct) => matches!(punct.as_char(), '&' | '\''),
            TokenTree::Group(group) => stand_in(group.stream(), generics),
            TokenTree::Ident(ident) => {
                let mut types = generics.type_params().map(|param| &param.ident);
                let mut constants = generics.const_params().map(|param| &param.ident);
                ident == "Self"
                    || types.any(|name| ident == *name)
                    || constants.any(|name| ident == *name)
            }
            TokenTree::Literal(_) => false,
        })
    }
    !stand_in(ty.to_token_stream(), generics)
}

/// `T` of a type that is written as `Option<T>`.
pub(crate) fn option_inner(ty: &Type) -> Option<&Type> {
    const WAYS: &[&[&str]] = &[
        &["Option"],
        &["std", "option", "Option"],
        &["core", "option", "Option"],
    ];
    let path = match ty {
        Type::Group(group) => return option_inner(&group.elem),
        Type::Paren(paren) => return option_inner(&paren.elem),
        Type::Path(TypePath {
            qself: None, path, ..
        }) => path,
        _ => return None,
    };
    let is = |way: &&&[&str]| {
        path.segments
            .iter()
            .map(|segment| &segment.ident)
            .eq(way.iter())
    };
    WAYS.iter().find(is)?;
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}

/// Where `name` stands in a type that is it, or holds it as it is: in an `Option` or
/// behind a pointer, and, when `lists` count, any number of times.
pub(crate) fn holds<'a>(ty: &'a Type, name: &Ident, lists: bool) -> Option<&'a Ident> {
    const ONE: &[&str] = &["Option", "Box", "Rc", "Arc"];
    const MANY: &[&str] = &["Vec", "List"];
    let inside = |ty: &'a Type| holds(ty, name, lists);
    match ty {
        Type::Group(group) => inside(&group.elem),
        Type::Paren(paren) => inside(&paren.elem),
        Type::Reference(reference) => inside(&reference.elem),
        Type::Slice(slice) if lists => inside(&slice.elem),
        Type::Array(array) if lists => inside(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(inside),
        Type::Path(TypePath {
            qself: None, path, ..
        }) => {
            let last = path.segments.last()?;
            let alone = path.segments.len() == 1 && path.leading_colon.is_none();
            if alone && (last.ident == *name || last.ident == "Self") {
                return Some(&last.ident);
            }
            let is = |names: &[&str]| names.iter().any(|name| last.ident == name);
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            let mut types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            (is(ONE) || lists && is(MANY)).then(|| types.find_map(inside))?
        }
        _ => None,
    }
}

/// What to say, and where, about a reference to something that no buffer of a
/// result holds; also inside `Option`.
pub(crate) fn not_in_the_buffer(ty: &Type, generics: &Generics) -> Option<(Span, String)> {
    let Type::Reference(reference) = option_inner(ty).unwrap_or(ty) else {
        return None;
    };
    let text = |ty: &Type| {
        let text = ty.to_token_stream().to_string();
        text.replace(" < ", "<")
            .replace(" >", ">")
            .replace("& ", "&")
    };
    let is = |ty: &Type, names: &[&str]| match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| names.iter().any(|name| last.ident == name)),
        _ => false,
    };
    let message = match &*reference.elem {
        Type::Slice(slice) if !is(&slice.elem, &["u8"]) => format!(
            "the elements of an ARRAY do not lie in the buffer as a slice, so there is nothing to \
             borrow: use `Vec<{}>`",
            text(&slice.elem)
        ),
        elem @ Type::Path(_) if is(elem, &["String", "Vec", "bool", "i64", "f64", "f32"]) => {
            let instead = if is(elem, &["String"]) {
                "`&str` or `String`".to_owned()
            } else {
                format!("`{}`", text(elem))
            };
            format!(
                "a value does not lie in the buffer as `{}`, so there is nothing to borrow: use \
                 {instead}",
                text(elem)
            )
        }
        Type::Path(path)
            if generics
                .type_params()
                .any(|param| path.path.is_ident(&param.ident)) =>
        {
            format!(
                "only text and bytes lie in the buffer as they are, and `{0}` may be anything: use \
                 `{0}` without a reference",
                text(&reference.elem)
            )
        }
        _ => return None,
    };
    Some((first_span(ty), message))
}
