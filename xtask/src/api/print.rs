//! The listing: signatures, as Rust.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Block, Fields, FnArg, ImplItem, Item, ItemImpl, Pat, Signature, TraitItem,
    Visibility, parse_quote,
};

use super::collect::{Api, called};
use super::source::is_left_out;

pub(crate) fn print(api: &Api) -> String {
    let mut listing = String::new();
    for (path, entry) in &api.items {
        listing += &format!("\n// spanner_rows::{path}\n\n");
        for (conditions, item) in &entry.definitions {
            listing += &text(signature(conditions, item));
        }
        let all = entry.implementations.iter();
        let mut all = all
            .filter_map(|(conditions, item)| implementation(conditions, item))
            .collect::<Vec<_>>();
        // What is the type's own comes first.
        all.sort_by_key(|item| (item.trait_.is_some(), item.to_token_stream().to_string()));
        for item in all {
            listing += &format!("\n{}", text(Item::Impl(item)));
        }
    }
    let mut calls = api
        .calls
        .iter()
        .map(|(conditions, item)| signature(conditions, &Item::Macro(item.clone())));
    let mut calls = calls.by_ref().map(text).collect::<Vec<_>>();
    calls.sort();
    listing += "\n// Calls of macros that implement traits or make types\n\n";
    listing += &calls.concat();
    for name in called(&listing, &api.macros) {
        let mut heads = api.macros[&name].iter().flat_map(heads).collect::<Vec<_>>();
        heads.sort();
        if !heads.is_empty() {
            listing += &format!(
                "\n// Made by {name}!\n//\n//     {}\n",
                heads.join("\n//     ")
            );
        }
    }
    listing
}

fn text(item: Item) -> String {
    prettyplease::unparse(&syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: vec![item],
    })
}

/// The item without documentation, bodies and what is private.
fn signature(conditions: &[Attribute], item: &Item) -> Item {
    let mut item = item.clone();
    match &mut item {
        Item::Struct(item) => {
            item.attrs = attributes(conditions, &item.attrs);
            hide(&mut item.fields);
        }
        Item::Enum(item) => {
            item.attrs = attributes(conditions, &item.attrs);
            item.variants = std::mem::take(&mut item.variants)
                .into_iter()
                .filter(|variant| !is_left_out(&variant.attrs))
                .map(|mut variant| {
                    variant.attrs = attributes(&[], &variant.attrs);
                    variant
                        .fields
                        .iter_mut()
                        .for_each(|field| field.attrs = attributes(&[], &field.attrs));
                    variant
                })
                .collect();
        }
        Item::Trait(item) => {
            item.attrs = attributes(conditions, &item.attrs);
            item.items.retain_mut(in_trait);
        }
        Item::Fn(item) => {
            item.attrs = attributes(conditions, &item.attrs);
            clean(&mut item.sig);
            *item.block = no_body();
        }
        Item::Type(item) => item.attrs = attributes(conditions, &item.attrs),
        Item::Const(item) => item.attrs = attributes(conditions, &item.attrs),
        Item::Use(item) => item.attrs = attributes(conditions, &item.attrs),
        Item::Macro(item) => {
            item.attrs = attributes(conditions, &item.attrs);
            item.mac.tokens = without_docs(item.mac.tokens.clone());
        }
        _ => {}
    }
    item
}

fn implementation(conditions: &[Attribute], item: &ItemImpl) -> Option<ItemImpl> {
    let mut item = item.clone();
    item.attrs = attributes(conditions, &item.attrs);
    let own = item.trait_.is_none();
    item.items.retain_mut(|inner| in_implementation(inner, own));
    item.items.sort_by_key(|item| match item {
        ImplItem::Fn(item) => item.sig.ident.to_string(),
        other => other.to_token_stream().to_string(),
    });
    (!own || !item.items.is_empty()).then_some(item)
}

/// Of a trait's implementation only the types are of interest: the rest is in the trait.
fn in_implementation(item: &mut ImplItem, own: bool) -> bool {
    match item {
        ImplItem::Fn(item) => {
            let shown =
                own && matches!(item.vis, Visibility::Public(_)) && !is_left_out(&item.attrs);
            item.attrs = attributes(&[], &item.attrs);
            clean(&mut item.sig);
            item.block = no_body();
            shown
        }
        ImplItem::Const(item) => {
            let shown =
                own && matches!(item.vis, Visibility::Public(_)) && !is_left_out(&item.attrs);
            item.attrs = attributes(&[], &item.attrs);
            shown
        }
        ImplItem::Type(item) => {
            item.attrs = attributes(&[], &item.attrs);
            true
        }
        ImplItem::Macro(item) => {
            item.attrs = attributes(&[], &item.attrs);
            item.mac.tokens = without_docs(item.mac.tokens.clone());
            own
        }
        _ => false,
    }
}

fn in_trait(item: &mut TraitItem) -> bool {
    match item {
        TraitItem::Fn(item) => {
            let shown = !is_left_out(&item.attrs);
            item.attrs = attributes(&[], &item.attrs);
            clean(&mut item.sig);
            // A body says that implementors need not write it.
            item.default = item.default.as_ref().map(|_| no_body());
            shown
        }
        TraitItem::Type(item) => {
            let shown = !is_left_out(&item.attrs);
            item.attrs = attributes(&[], &item.attrs);
            shown
        }
        TraitItem::Const(item) => {
            let shown = !is_left_out(&item.attrs);
            item.attrs = attributes(&[], &item.attrs);
            shown
        }
        _ => true,
    }
}

/// `mut` of an argument is the function's own business.
fn clean(signature: &mut Signature) {
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Receiver(receiver) => receiver.mutability = None,
            FnArg::Typed(argument) => {
                if let Pat::Ident(name) = &mut *argument.pat {
                    name.mutability = None;
                }
            }
        }
    }
}

fn no_body() -> Block {
    parse_quote!({})
}

/// One field stands for all that are private.
fn hide(fields: &mut Fields) {
    match fields {
        Fields::Named(fields) => {
            let all = std::mem::take(&mut fields.named);
            let count = all.len();
            fields.named = all
                .into_iter()
                .filter(|field| matches!(field.vis, Visibility::Public(_)))
                .collect();
            if fields.named.len() < count {
                fields.named.push(parse_quote!(__private: ()));
            }
            fields
                .named
                .iter_mut()
                .for_each(|field| field.attrs = attributes(&[], &field.attrs));
        }
        Fields::Unnamed(fields) => {
            for field in &mut fields.unnamed {
                field.attrs = attributes(&[], &field.attrs);
                if !matches!(field.vis, Visibility::Public(_)) {
                    field.ty = parse_quote!(__private);
                }
            }
        }
        Fields::Unit => {}
    }
}

/// Those that matter to users, with the conditions before them.
fn attributes(conditions: &[Attribute], own: &[Attribute]) -> Vec<Attribute> {
    const KEPT: [&str; 6] = [
        "cfg",
        "deprecated",
        "derive",
        "must_use",
        "non_exhaustive",
        "repr",
    ];
    let mut kept: Vec<Attribute> = Vec::new();
    for attribute in conditions.iter().chain(own) {
        let text = |attribute: &Attribute| attribute.to_token_stream().to_string();
        let matters = KEPT.iter().any(|name| attribute.path().is_ident(name));
        if matters && !kept.iter().any(|other| text(other) == text(attribute)) {
            let mut attribute = attribute.clone();
            // The reason is text for people.
            if attribute.path().is_ident("must_use") {
                attribute = parse_quote!(#[must_use]);
            }
            kept.push(attribute);
        }
    }
    kept
}

/// `///` and `#[doc]` within the arguments of a macro.
fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let inner = group.stream();
                let is_doc = group.delimiter() == Delimiter::Bracket
                    && inner
                        .clone()
                        .into_iter()
                        .next()
                        .is_some_and(|first| first.to_string() == "doc")
                    && matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
                if is_doc {
                    kept.pop();
                } else {
                    let group = proc_macro2::Group::new(group.delimiter(), without_docs(inner));
                    kept.push(TokenTree::Group(group));
                }
            }
            token => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// `pub fn …`, `pub enum …` and `impl …` in a macro, up to their bodies.
fn heads(tokens: &TokenStream) -> Vec<String> {
    let mut heads = Vec::new();
    let mut head: Option<TokenStream> = None;
    for token in tokens.clone() {
        let starts = matches!(&token, TokenTree::Ident(ident) if ident == "pub" || ident == "impl");
        match (&token, &mut head) {
            (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Brace => {
                heads.extend(head.take().map(|head| line(&head)));
                heads.extend(self::heads(&group.stream()));
            }
            (_, Some(head)) => head.extend([token]),
            (_, None) if starts => head = Some(token.into()),
            (TokenTree::Group(group), None) => heads.extend(self::heads(&group.stream())),
            _ => {}
        }
    }
    // `pub(crate)` is not for users, `impl Trait` as an argument is in a head already.
    heads.retain(|head| {
        head.starts_with("impl") || head.starts_with("pub ") && !head.starts_with("pub (")
    });
    heads
}

fn line(tokens: &TokenStream) -> String {
    tokens
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
