//! `#[derive(SpannerEnum)]`: the enum with its attributes, read and judged.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Data, DataEnum, DeriveInput, Fields, LitStr, Type, Variant};

use crate::attr::{self, Item, Level};
use crate::attrs::{Given, Runtime, flag, given, rename_all, runtime};
use crate::case::Case;
use crate::ctxt::Ctxt;
use crate::model::allowed;
use crate::unraw::Name;

/// An enum that a column can be read into.
pub(crate) struct Enum<'a> {
    pub(crate) ast: &'a DeriveInput,
    pub(crate) name: Name,
    pub(crate) runtime: Runtime,
    pub(crate) repr: Repr,
    /// In order, without `other`.
    pub(crate) variants: Vec<Known>,
    pub(crate) other: Option<Other<'a>>,
    pub(crate) allowed: Vec<TokenStream>,
}

/// What the column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repr {
    /// STRING
    Text,
    /// INT64 or ENUM
    Number,
}

/// A variant that stands for certain values.
pub(crate) struct Known {
    pub(crate) name: Name,
    /// The text that is written, and others that are read.
    pub(crate) texts: Vec<String>,
    /// The number, as a constant expression.
    pub(crate) number: TokenStream,
}

/// The variant for all other values.
pub(crate) struct Other<'a> {
    pub(crate) name: Name,
    /// What holds the value, and the name of its field if it has one.
    pub(crate) holds: Option<(&'a Type, TokenStream)>,
}

struct EnumAttrs {
    rename_all: Option<Given<Case>>,
    repr: Option<Given<Repr>>,
    runtime: Runtime,
}

#[derive(Default)]
struct VariantAttrs {
    rename: Option<Given<String>>,
    aliases: Vec<Given<String>>,
    other: Option<Given<()>>,
}

impl<'a> Enum<'a> {
    pub(crate) fn parse(ctxt: &Ctxt, ast: &'a DeriveInput) -> Self {
        let attrs = EnumAttrs::parse(ctxt, &attr::read(ctxt, Level::Enum, &ast.attrs));
        let mut parsed = Self {
            ast,
            name: Name::new(&ast.ident),
            repr: Repr::Text,
            variants: Vec::new(),
            other: None,
            allowed: allowed(ast),
            runtime: Runtime::default(),
        };
        if matches!(attrs.runtime, Runtime::At(_) | Runtime::Around(_)) {
            parsed.allowed.push(quote!(unused_qualifications));
        }
        match &ast.data {
            Data::Enum(data) if data.variants.is_empty() => {
                let message = "`SpannerEnum` can be derived only for an enum with variants";
                ctxt.error(ast.ident.span(), message);
            }
            Data::Enum(data) => parsed.read_variants(ctxt, &attrs, data),
            Data::Struct(data) => ctxt.error(
                data.struct_token.span,
                "`SpannerEnum` can be derived only for an enum; a struct is a row \
                 (`SpannerRow`), or one column (`SpannerRow` with `#[spanner(transparent)]`)",
            ),
            Data::Union(data) => {
                let message = "`SpannerEnum` can be derived only for an enum; this is a union";
                ctxt.error(data.union_token.span, message);
            }
        }
        parsed.check_generics(ctxt);
        parsed.runtime = attrs.runtime;
        parsed
    }

    fn read_variants(&mut self, ctxt: &Ctxt, attrs: &EnumAttrs, data: &'a DataEnum) {
        let numbered = data.variants.iter().any(|v| v.discriminant.is_some());
        self.repr = match &attrs.repr {
            Some(given) => given.value,
            None if numbered => Repr::Number,
            None => Repr::Text,
        };
        if let (Repr::Number, Some(rule)) = (self.repr, &attrs.rename_all) {
            ctxt.error(rule.name, no_names("rename_all"));
        }
        let mut other_at = None::<Span>;
        let mut taken: Vec<(String, Span)> = Vec::new();
        let mut number = quote!(0);
        for variant in &data.variants {
            let items = attr::read(ctxt, Level::Variant, &variant.attrs);
            let attrs_of = VariantAttrs::parse(ctxt, &items);
            if let Some((_, value)) = &variant.discriminant {
                number = outside(value.to_token_stream(), self.ast);
            }
            let own_number = number;
            number = quote!((#own_number) + 1);
            let name = Name::new(&variant.ident);
            if let Some(other) = &attrs_of.other {
                if let Some(first) = other_at {
                    ctxt.error(other.name, "only one variant can be the `other` one");
                    ctxt.error(first, "`other` is given here first");
                    continue;
                }
                other_at = Some(other.name);
                attrs_of.refuse_names(ctxt, |name| {
                    format!("`other` stands for every text that is left, so `{name}` has no effect")
                });
                self.other = other_variant(ctxt, variant);
                continue;
            }
            if !matches!(variant.fields, Fields::Unit) {
                ctxt.error(
                    variant.ident.span(),
                    format!(
                        "the variant `{name}` has fields, but a column holds one text or number: \
                         leave them out, or make it the `#[spanner(other)]` variant, which holds \
                         values that no other variant stands for"
                    ),
                );
                continue;
            }
            if self.repr == Repr::Number {
                attrs_of.refuse_names(ctxt, no_names);
            }
            let texts = attrs_of.texts(&name, attrs.rename_all.as_ref());
            for (text, span) in &texts {
                let before = taken.iter().find(|(taken, _)| taken == text);
                if let (Some((_, first)), Repr::Text) = (before, self.repr) {
                    ctxt.error(*span, format!("two variants stand for the text {text:?}"));
                    ctxt.error(*first, format!("{text:?} is taken here first"));
                }
                taken.push((text.clone(), *span));
            }
            self.variants.push(Known {
                name,
                texts: texts.into_iter().map(|(text, _)| text).collect(),
                number: own_number,
            });
        }
    }

    /// A lifetime is for `other`; types cannot be generic.
    fn check_generics(&self, ctxt: &Ctxt) {
        let generics = &self.ast.generics;
        for param in generics.type_params() {
            let message = "an enum of a column cannot have type parameters";
            ctxt.error(param.ident.span(), message);
        }
        for param in generics.const_params() {
            let message = "an enum of a column cannot have constant parameters";
            ctxt.error(param.ident.span(), message);
        }
        if let Some(second) = generics.lifetimes().nth(1) {
            let message = "the `other` variant borrows from one buffer: use one lifetime";
            ctxt.error(second.lifetime.span(), message);
        }
    }
}

/// A discriminant as it stands outside of the enum, where there is no `Self`.
fn outside(tokens: TokenStream, ast: &DeriveInput) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            let mut name = ast.ident.clone();
            name.set_span(ident.span());
            name.into()
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), outside(group.stream(), ast));
            inner.set_span(group.span());
            inner.into()
        }
        token => token,
    });
    tokens.collect()
}

fn no_names(name: &str) -> String {
    format!(
        "the column holds the numbers of the variants, so `{name}` has no effect: leave it out, or \
         put `repr = \"text\"` on the enum"
    )
}

fn other_variant<'a>(ctxt: &Ctxt, variant: &'a Variant) -> Option<Other<'a>> {
    let mut fields = variant.fields.iter();
    let holds = fields.next().map(|field| {
        let name = match &field.ident {
            Some(name) => name.to_token_stream(),
            None => quote!(0),
        };
        (&field.ty, name)
    });
    if fields.next().is_some() {
        ctxt.error(
            variant.ident.span(),
            "the `other` variant holds one value: the text or number that came",
        );
        return None;
    }
    Some(Other {
        name: Name::new(&variant.ident),
        holds,
    })
}

impl EnumAttrs {
    fn parse(ctxt: &Ctxt, items: &[Item]) -> Self {
        let mut attrs = Self {
            rename_all: None,
            repr: None,
            runtime: Runtime::default(),
        };
        for item in items {
            match item.known.name {
                "rename_all" => attrs.rename_all = given(ctxt, item, rename_all),
                "repr" => attrs.repr = given(ctxt, item, repr),
                "crate" => attrs.runtime = runtime(ctxt, item),
                other => unreachable!("`{other}` is in the table but is not read"),
            }
        }
        attrs
    }
}

impl VariantAttrs {
    fn parse(ctxt: &Ctxt, items: &[Item]) -> Self {
        let mut attrs = Self::default();
        let text = |_: &Ctxt, text: &LitStr| Some(text.value());
        for item in items {
            match item.known.name {
                "rename" => attrs.rename = given(ctxt, item, text),
                "alias" => attrs.aliases.extend(given(ctxt, item, text)),
                "other" => attrs.other = flag(ctxt, item),
                other => unreachable!("`{other}` is in the table but is not read"),
            }
        }
        attrs
    }

    /// The texts that a variant stands for, and where they are given.
    fn texts(&self, name: &Name, rule: Option<&Given<Case>>) -> Vec<(String, Span)> {
        let own = match (&self.rename, rule) {
            (Some(rename), _) => (rename.value.clone(), rename.literal),
            (None, Some(rule)) => {
                let text = rule.value.apply_to_variant(&name.to_string());
                (text, name.ident().span())
            }
            (None, None) => (name.to_string(), name.ident().span()),
        };
        let aliases = self.aliases.iter();
        let aliases = aliases.map(|given| (given.value.clone(), given.literal));
        std::iter::once(own).chain(aliases).collect()
    }

    fn refuse_names(&self, ctxt: &Ctxt, message: impl Fn(&str) -> String) {
        if let Some(rename) = &self.rename {
            ctxt.error(rename.name, message("rename"));
        }
        for alias in &self.aliases {
            ctxt.error(alias.name, message("alias"));
        }
    }
}

fn repr(ctxt: &Ctxt, text: &LitStr) -> Option<Repr> {
    match text.value().as_str() {
        "text" => Some(Repr::Text),
        "number" => Some(Repr::Number),
        other => {
            ctxt.error(
                text.span(),
                format!("an enum is stored as \"text\" or as \"number\", not as \"{other}\""),
            );
            None
        }
    }
}
