//! What the attributes of a struct and of a field say.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::punctuated::Punctuated;
use syn::{LitStr, Path, PathSegment, Token, Type, WherePredicate};

use crate::attr::Item;
use crate::case::Case;
use crate::ctxt::Ctxt;
use crate::suggest::nearest;

/// What an attribute says.
#[derive(Debug)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    /// The name of the attribute.
    pub(crate) name: Span,
    /// The literal with the value; the name when there is none.
    pub(crate) literal: Span,
}

#[derive(Default)]
pub(crate) struct StructAttrs {
    pub(crate) rename_all: Option<Given<Case>>,
    pub(crate) match_by: Option<Given<MatchBy>>,
    pub(crate) deny_unknown_columns: Option<Given<()>>,
    pub(crate) default: Option<Given<()>>,
    pub(crate) transparent: Option<Given<()>>,
    pub(crate) bound: Option<Given<Vec<WherePredicate>>>,
    pub(crate) runtime: Runtime,
    /// All that were given, in order, also those with a wrong value.
    pub(crate) names: Vec<(&'static str, Span)>,
}

#[derive(Default)]
pub(crate) struct FieldAttrs {
    pub(crate) rename: Option<Given<String>>,
    pub(crate) aliases: Vec<Given<String>>,
    pub(crate) index: Option<Given<usize>>,
    /// With the prefix of its columns.
    pub(crate) flatten: Option<Given<String>>,
    pub(crate) skip: Option<Given<DefaultValue>>,
    pub(crate) default: Option<Given<DefaultValue>>,
    pub(crate) null_default: Option<Given<DefaultValue>>,
    pub(crate) from: Option<Given<Type>>,
    pub(crate) try_from: Option<Given<Type>>,
    pub(crate) with: Option<Given<With>>,
    pub(crate) json: Option<Given<()>>,
    /// Left out by `SpannerEncode`.
    pub(crate) read_only: Option<Given<()>>,
    /// All that were given, in order, also those with a wrong value.
    pub(crate) names: Vec<(&'static str, Span)>,
}

/// How the columns of a result are matched with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchBy {
    Name,
    Index,
}

/// Where a value comes from that no column gives.
#[derive(Clone)]
pub(crate) enum DefaultValue {
    /// `Default::default()`
    OfType,
    /// A call of this function.
    Call(TokenStream),
    /// The same field of the struct's `Default::default()`; where that was asked for.
    OfStruct(Span),
}

/// What reads a column in place of the field's type.
#[derive(Clone)]
pub(crate) enum With {
    Function(TokenStream),
    /// It has `decode` and may have `bind`.
    Module(TokenStream),
}

/// Where generated code finds the runtime.
#[derive(Debug, Default)]
pub(crate) enum Runtime {
    #[default]
    SpannerRows,
    /// At this path.
    At(TokenStream),
    /// In a module around the struct, `self` or `super`, which cannot be imported.
    Around(TokenStream),
    /// It was given wrongly, which is reported.
    Unknown,
}

impl StructAttrs {
    pub(crate) fn parse(ctxt: &Ctxt, items: &[Item]) -> Self {
        let mut attrs = Self::default();
        for item in items {
            attrs.names.push((item.known.name, item.span));
            match item.known.name {
                "rename_all" => attrs.rename_all = given(ctxt, item, rename_all),
                "match_by" => attrs.match_by = given(ctxt, item, match_by),
                "deny_unknown_columns" => attrs.deny_unknown_columns = flag(ctxt, item),
                "default" => attrs.default = flag(ctxt, item),
                "transparent" => attrs.transparent = flag(ctxt, item),
                "bound" => attrs.bound = given(ctxt, item, predicates),
                "crate" => attrs.runtime = runtime(ctxt, item),
                other => unreachable!("`{other}` is in the table but is not read"),
            }
        }
        attrs
    }
}

impl FieldAttrs {
    pub(crate) fn parse(ctxt: &Ctxt, items: &[Item]) -> Self {
        let mut attrs = Self::default();
        for item in items {
            attrs.names.push((item.known.name, item.span));
            match item.known.name {
                "rename" => attrs.rename = given(ctxt, item, column_name),
                "alias" => attrs.aliases.extend(given(ctxt, item, column_name)),
                "index" => attrs.index = position(ctxt, item),
                "flatten" => attrs.flatten = flatten(ctxt, item),
                "skip" => attrs.skip = default_value(ctxt, item),
                "default" => attrs.default = default_value(ctxt, item),
                "null_default" => attrs.null_default = default_value(ctxt, item),
                "from" => attrs.from = given(ctxt, item, column_type),
                "try_from" => attrs.try_from = given(ctxt, item, column_type),
                "with" => attrs.with = with(ctxt, item),
                "json" => attrs.json = flag(ctxt, item),
                "read_only" => attrs.read_only = flag(ctxt, item),
                other => unreachable!("`{other}` is in the table but is not read"),
            }
        }
        attrs
    }

    /// Where the attribute `name` stands.
    pub(crate) fn place(&self, name: &str) -> Option<Span> {
        let mut names = self.names.iter();
        names.find(|given| given.0 == name).map(|given| given.1)
    }
}

/// Reads the string of an attribute with `read`.
pub(crate) fn given<T>(
    ctxt: &Ctxt,
    item: &Item,
    read: impl FnOnce(&Ctxt, &LitStr) -> Option<T>,
) -> Option<Given<T>> {
    let text = item.text(ctxt)?;
    read(ctxt, &text).map(|value| Given {
        value,
        name: item.span,
        literal: text.span(),
    })
}

pub(crate) fn flag(ctxt: &Ctxt, item: &Item) -> Option<Given<()>> {
    item.flag(ctxt).then_some(Given {
        value: (),
        name: item.span,
        literal: item.span,
    })
}

pub(crate) fn rename_all(ctxt: &Ctxt, text: &LitStr) -> Option<Case> {
    let value = text.value();
    let case = Case::named(&value);
    if case.is_none() {
        let names = Case::ALL.map(|(name, _)| name);
        let meant = match nearest(&value, names) {
            Some(near) => format!("did you mean \"{near}\"? The rules are"),
            None => "the rules are".to_owned(),
        };
        let all = names.map(|name| format!("\"{name}\"")).join(", ");
        ctxt.error(
            text.span(),
            format!("unknown rule \"{value}\" in `rename_all`; {meant} {all}"),
        );
    }
    case
}

fn match_by(ctxt: &Ctxt, text: &LitStr) -> Option<MatchBy> {
    match text.value().as_str() {
        "name" => Some(MatchBy::Name),
        "index" => Some(MatchBy::Index),
        other => {
            ctxt.error(
                text.span(),
                format!("columns are matched by \"name\" or by \"index\", not by \"{other}\""),
            );
            None
        }
    }
}

fn predicates(ctxt: &Ctxt, text: &LitStr) -> Option<Vec<WherePredicate>> {
    let parse = Punctuated::<WherePredicate, Token![,]>::parse_terminated;
    match text.parse_with(parse) {
        Ok(predicates) => Some(predicates.into_iter().collect()),
        Err(_) => {
            ctxt.error(
                text.span(),
                "expected bounds as they stand behind `where`, such as \"T: OwnedRow\"",
            );
            None
        }
    }
}

fn column_name(ctxt: &Ctxt, text: &LitStr) -> Option<String> {
    let name = text.value();
    if name.is_empty() {
        ctxt.error(
            text.span(),
            "a column name cannot be empty; columns without a name are matched with `index` or \
             `match_by = \"index\"`",
        );
        return None;
    }
    Some(name)
}

fn position(ctxt: &Ctxt, item: &Item) -> Option<Given<usize>> {
    let number = item.number(ctxt)?;
    let digits_only = number.suffix().is_empty();
    match number.base10_parse::<u32>() {
        Ok(value) if digits_only && let Ok(value) = usize::try_from(value) => Some(Given {
            value,
            name: item.span,
            literal: number.span(),
        }),
        _ => {
            ctxt.error(
                number.span(),
                format!("`{number}` is not a position: columns are counted from 0"),
            );
            None
        }
    }
}

fn flatten(ctxt: &Ctxt, item: &Item) -> Option<Given<String>> {
    let (value, literal) = if item.is_list() {
        let prefix = item.listed(ctxt, "prefix")?;
        (prefix.value(), prefix.span())
    } else {
        flag(ctxt, item)?;
        (String::new(), item.span)
    };
    Some(Given {
        value,
        name: item.span,
        literal,
    })
}

fn default_value(ctxt: &Ctxt, item: &Item) -> Option<Given<DefaultValue>> {
    let text = item.text_or_nothing(ctxt)?;
    let (value, literal) = match text {
        None => (DefaultValue::OfType, item.span),
        Some(text) => (DefaultValue::Call(function(ctxt, &text)?), text.span()),
    };
    Some(Given {
        value,
        name: item.span,
        literal,
    })
}

fn function(ctxt: &Ctxt, text: &LitStr) -> Option<TokenStream> {
    let path = text.parse::<Path>().ok();
    if path.is_none() {
        ctxt.error(
            text.span(),
            "expected the path of a function, such as \"my_module::my_function\"",
        );
    }
    path.map(Path::into_token_stream)
}

fn column_type(ctxt: &Ctxt, text: &LitStr) -> Option<Type> {
    let ty = text.parse::<Type>().ok();
    if ty.is_none() {
        ctxt.error(
            text.span(),
            "expected the type that the column is read into, such as \"i64\" or \"&'a str\"",
        );
    }
    ty
}

fn with(ctxt: &Ctxt, item: &Item) -> Option<Given<With>> {
    let (value, literal) = if item.is_list() {
        let text = item.listed(ctxt, "module")?;
        let Ok(path) = text.parse_with(Path::parse_mod_style) else {
            ctxt.error(
                text.span(),
                "expected the path of a module, such as \"crate::cents\"",
            );
            return None;
        };
        (With::Module(path.into_token_stream()), text.span())
    } else {
        let text = item.text(ctxt)?;
        (With::Function(function(ctxt, &text)?), text.span())
    };
    Some(Given {
        value,
        name: item.span,
        literal,
    })
}

/// A path that starts with a crate's name is made to hold inside a module that
/// has something of the same name.
pub(crate) fn runtime(ctxt: &Ctxt, item: &Item) -> Runtime {
    let Some(text) = item.text(ctxt) else {
        return Runtime::Unknown;
    };
    let Ok(path) = text.parse_with(Path::parse_mod_style) else {
        ctxt.error(
            text.span(),
            "expected the path of a module, such as \"my_crate::spanner_rows\"",
        );
        return Runtime::Unknown;
    };
    let relative = path.segments.first().is_some_and(|first| {
        ["crate", "self", "super"]
            .iter()
            .any(|keyword| first.ident == keyword)
    });
    let around = |segment: &PathSegment| segment.ident == "self" || segment.ident == "super";
    if path.segments.iter().all(around) {
        Runtime::Around(path.into_token_stream())
    } else if relative || path.leading_colon.is_some() {
        Runtime::At(path.into_token_stream())
    } else {
        let root = Token![::](path.segments[0].ident.span());
        Runtime::At(quote!(#root #path))
    }
}
