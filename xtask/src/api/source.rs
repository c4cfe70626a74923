//! The modules of a crate, as they are written.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Item, ItemMod};

/// A module that is part of the library: none that is for tests only, and none that is
/// hidden.
pub(crate) struct Module {
    /// From the root of the crate, which has an empty path.
    pub(crate) path: Vec<String>,
    pub(crate) public: bool,
    /// The conditions of the module and of those around it.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) items: Vec<Item>,
}

/// The root module and all in it.
pub(crate) fn load(root: &Path) -> Result<Vec<Module>, Box<dyn Error>> {
    let mut modules = Vec::new();
    let folder = root.parent().ok_or("a file is in a folder")?;
    let module = Module {
        path: Vec::new(),
        public: true,
        conditions: Vec::new(),
        items: parse(root)?,
    };
    add(module, folder, &mut modules)?;
    Ok(modules)
}

fn parse(file: &Path) -> Result<Vec<Item>, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(parsed.items)
}

/// Adds a module whose own modules are files in this folder.
fn add(module: Module, folder: &Path, all: &mut Vec<Module>) -> Result<(), Box<dyn Error>> {
    let mut inner = Vec::new();
    for item in &module.items {
        if let Item::Mod(item) = item
            && !is_left_out(&item.attrs)
        {
            inner.push(child(&module, item, folder)?);
        }
    }
    all.push(module);
    for (module, folder) in inner {
        add(module, &folder, all)?;
    }
    Ok(())
}

fn child(
    parent: &Module,
    item: &ItemMod,
    folder: &Path,
) -> Result<(Module, PathBuf), Box<dyn Error>> {
    let name = item.ident.to_string();
    let inner = folder.join(&name);
    let items = match &item.content {
        Some((_, items)) => items.clone(),
        None => {
            let alone = folder.join(format!("{name}.rs"));
            let in_folder = inner.join("mod.rs");
            parse(if alone.exists() { &alone } else { &in_folder })?
        }
    };
    let mut conditions = parent.conditions.clone();
    conditions.extend(
        item.attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .cloned(),
    );
    let module = Module {
        path: [parent.path.clone(), vec![name]].concat(),
        public: parent.public && matches!(item.vis, syn::Visibility::Public(_)),
        conditions,
        items,
    };
    Ok((module, inner))
}

/// Whether something is for tests of the crate, or is said not to be for users.
pub(crate) fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute
            .meta
            .to_token_stream()
            .to_string()
            .replace(' ', "");
        let test = text.starts_with("cfg(") && (text.contains("(test") || text.contains("doctest"));
        // `any(feature = …, test)` is there without the test, too.
        test && !text.contains("any(") || text == "doc(hidden)"
    })
}
