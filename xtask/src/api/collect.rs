//! What of a crate can be named from outside, and what is implemented for it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemImpl, ItemMacro, Path, Type, UseTree, Visibility};

use super::source::{Module, is_left_out};

/// The public API: by public path.
#[derive(Default)]
pub(crate) struct Api {
    pub(crate) items: BTreeMap<String, Entry>,
    /// Calls of macros that implement something, and macros that are called.
    pub(crate) calls: Vec<(Vec<Attribute>, ItemMacro)>,
    pub(crate) macros: BTreeMap<String, Vec<TokenStream>>,
}

#[derive(Default)]
pub(crate) struct Entry {
    /// With the conditions of the modules that each is in: a trait and its derive macro have
    /// one name.
    pub(crate) definitions: Vec<(Vec<Attribute>, Item)>,
    pub(crate) implementations: Vec<(Vec<Attribute>, ItemImpl)>,
}

/// Where something is defined: the module, and its name there.
type Place = (Vec<String>, String);

pub(crate) fn collect(modules: &[Module]) -> Result<Api, Box<dyn Error>> {
    let mut api = Api::default();
    let places = exports(modules, &mut api)?;
    for module in modules {
        for item in &module.items {
            match item {
                Item::Impl(item) if !is_left_out(&item.attrs) => {
                    let conditions = module.conditions.clone();
                    if let Some(path) = owner(modules, module, item, &places) {
                        let entry = api.items.entry(path.to_owned()).or_default();
                        entry.implementations.push((conditions, item.clone()));
                    }
                }
                Item::Macro(call) if module.path.first().is_none_or(|name| name != "proto") => {
                    add_macro(&mut api, module, call);
                }
                _ => {}
            }
        }
    }
    Ok(api)
}

fn add_macro(api: &mut Api, module: &Module, item: &ItemMacro) {
    match &item.ident {
        // A definition: `macro_rules! name`.
        Some(name) => {
            let name = name.to_string();
            api.macros
                .entry(name)
                .or_default()
                .push(item.mac.tokens.clone());
        }
        None if is_left_out(&item.attrs) => {}
        None => api.calls.push((module.conditions.clone(), item.clone())),
    }
}

/// Everything that is public: its definition goes into the API, its place is answered with
/// its public path.
fn exports(modules: &[Module], api: &mut Api) -> Result<BTreeMap<Place, String>, Box<dyn Error>> {
    let mut places = BTreeMap::new();
    for module in modules.iter().filter(|module| module.public) {
        for item in &module.items {
            let Item::Use(item) = item else { continue };
            if !matches!(item.vis, Visibility::Public(_)) || is_left_out(&item.attrs) {
                continue;
            }
            for (name, path) in leaves(&item.tree) {
                let public = [module.path.clone(), vec![name]].concat().join("::");
                let entry = api.items.entry(public.clone()).or_default();
                match resolve(modules, module, &path) {
                    Some(place) => {
                        let found = definition(modules, &place);
                        let found =
                            found.ok_or_else(|| format!("`{public}` is not found at {place:?}"))?;
                        entry.definitions.push(found);
                        places.insert(place, public);
                    }
                    // Of another crate: the macros.
                    None => entry
                        .definitions
                        .push((Vec::new(), Item::Use(item.clone()))),
                }
            }
        }
    }
    Ok(places)
}

/// The names that a `use` makes, with the path of each.
fn leaves(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        UseTree::Name(name) => vec![(name.ident.to_string(), vec![name.ident.to_string()])],
        UseTree::Rename(name) => vec![(name.rename.to_string(), vec![name.ident.to_string()])],
        UseTree::Path(path) => {
            let mut inner = leaves(&path.tree);
            for (_, segments) in &mut inner {
                segments.insert(0, path.ident.to_string());
            }
            inner
        }
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

/// Where the item of this path, written in that module, is defined; `None` for other crates.
fn resolve(modules: &[Module], from: &Module, path: &[String]) -> Option<Place> {
    let mut at = from.path.clone();
    let mut absolute = false;
    let mut segments = path.iter();
    let name = segments.next_back()?;
    for segment in segments {
        match segment.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            name => at.push(name.to_owned()),
        }
        absolute = true;
    }
    let module = modules.iter().find(|module| module.path == at)?;
    if find(module, name).is_some() {
        return Some((at, name.clone()));
    }
    // Imported there.
    let uses = module.items.iter().filter_map(|item| match item {
        Item::Use(item) => Some(leaves(&item.tree)),
        _ => None,
    });
    let found = uses.flatten().find(|(imported, _)| imported == name);
    match found {
        Some((_, path)) if path.len() > 1 || absolute => resolve(modules, module, &path),
        _ => None,
    }
}

/// The item of this name: by itself, or the call of the macro that makes it.
fn find<'a>(module: &'a Module, name: &str) -> Option<&'a Item> {
    let mut items = module.items.iter();
    let by_itself = items.find(|item| name_of(item).is_some_and(|ident| ident == name));
    by_itself.or_else(|| {
        module.items.iter().find(|item| match item {
            Item::Macro(call) if call.ident.is_none() => {
                makes(&call.mac.tokens, name) || macro_makes(module, call, name)
            }
            _ => false,
        })
    })
}

/// Whether the arguments of a macro are `Name { … }`, but for attributes.
fn makes(arguments: &TokenStream, name: &str) -> bool {
    let tokens = arguments.clone().into_iter();
    let mut tokens = tokens.skip_while(|token| !matches!(token, TokenTree::Ident(_)));
    let is_name = tokens.next().is_some_and(|token| token.to_string() == name);
    is_name
        && matches!(tokens.next(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Whether a macro of this module, which is called here, makes an enum of this name.
fn macro_makes(module: &Module, call: &ItemMacro, name: &str) -> bool {
    module.items.iter().any(|item| match item {
        Item::Macro(definition) => {
            definition
                .ident
                .as_ref()
                .is_some_and(|ident| call.mac.path.is_ident(ident))
                && definition
                    .mac
                    .tokens
                    .to_string()
                    .contains(&format!("pub enum {name} "))
        }
        _ => false,
    })
}

fn definition(modules: &[Module], (path, name): &Place) -> Option<(Vec<Attribute>, Item)> {
    let module = modules.iter().find(|module| module.path == *path)?;
    Some((module.conditions.clone(), find(module, name)?.clone()))
}

fn name_of(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Struct(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Const(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        _ => None,
    }
}

/// Whose implementation it is: of the type if that is public, else of the trait.
fn owner<'a>(
    modules: &[Module],
    module: &Module,
    item: &ItemImpl,
    places: &'a BTreeMap<Place, String>,
) -> Option<&'a str> {
    let public = |path: &Path| {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        let place = resolve(modules, module, &segments.collect::<Vec<_>>());
        (
            place.is_some(),
            place
                .and_then(|place| places.get(&place))
                .map(String::as_str),
        )
    };
    let mut ty = &*item.self_ty;
    while let Type::Reference(inner) = ty {
        ty = &inner.elem;
    }
    let (own, of_type) = match ty {
        Type::Path(ty) => public(&ty.path),
        _ => (false, None),
    };
    // Of messages of the protocol, which are not public.
    let generated = |path: &Path| path.to_token_stream().to_string().contains("proto ::");
    if item
        .trait_
        .as_ref()
        .is_some_and(|(path, _)| generated(path))
    {
        return None;
    }
    let of_trait = item.trait_.as_ref().map(|(path, _)| public(path));
    match (of_type, of_trait) {
        // A trait of this crate that nobody can name.
        (_, Some((true, None))) => None,
        (Some(of_type), _) => Some(of_type),
        // A type of this crate that nobody can name.
        (None, _) if own => None,
        (None, of_trait) => of_trait?.1,
    }
}

/// The macros that something calls.
pub(crate) fn called(text: &str, macros: &BTreeMap<String, Vec<TokenStream>>) -> BTreeSet<String> {
    let called = macros.keys().filter(|name| {
        let call = format!("{name}!");
        text.match_indices(&call)
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    called.cloned().collect()
}
