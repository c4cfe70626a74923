//! `#[spanner(...)]`: which attributes there are, and the reading of their words.
//!
//! What is checked here concerns one word: is it known, does it belong at this
//! level, was it given before, has its value the right form. What the values
//! mean is in [`model`](crate::model), how attributes go together in
//! [`validate`](crate::validate).

use std::fmt;

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::{Attribute, Lit, LitInt, LitStr, Meta};

use crate::ctxt::Ctxt;
use crate::suggest::nearest;

/// Where an attribute can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Struct,
    Field,
    Enum,
    Variant,
}

impl Level {
    const fn other(self) -> Self {
        match self {
            Self::Struct => Self::Field,
            Self::Field => Self::Struct,
            Self::Enum => Self::Variant,
            Self::Variant => Self::Enum,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Struct => "the struct",
            Self::Field => "a field",
            Self::Enum => "the enum",
            Self::Variant => "a variant",
        })
    }
}

/// One attribute that the derive takes.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    level: Level,
    /// The forms it can have, for messages.
    forms: &'static str,
    /// More than one makes sense.
    repeatable: bool,
}

impl Known {
    const fn new(name: &'static str, level: Level, forms: &'static str) -> Self {
        Self {
            name,
            level,
            forms,
            repeatable: false,
        }
    }

    const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }
}

/// All attributes; the first of each level is what is listed first in messages.
const KNOWN: &[Known] = &[
    Known::new("rename_all", Level::Struct, "`rename_all = \"PascalCase\"`"),
    Known::new(
        "match_by",
        Level::Struct,
        "`match_by = \"name\"` or `match_by = \"index\"`",
    ),
    Known::new(
        "deny_unknown_columns",
        Level::Struct,
        "`deny_unknown_columns`",
    ),
    Known::new("default", Level::Struct, "`default`"),
    Known::new("transparent", Level::Struct, "`transparent`"),
    Known::new("bound", Level::Struct, "`bound = \"T: Trait\"`"),
    Known::new(
        "crate",
        Level::Struct,
        "`crate = \"path::to::spanner_rows\"`",
    ),
    Known::new("rename", Level::Field, "`rename = \"column\"`"),
    Known::new("alias", Level::Field, "`alias = \"column\"`").repeatable(),
    Known::new("index", Level::Field, "`index = 0`"),
    Known::new(
        "flatten",
        Level::Field,
        "`flatten` or `flatten(prefix = \"home_\")`",
    ),
    Known::new(
        "skip",
        Level::Field,
        "`skip` or `skip = \"path::to::function\"`",
    ),
    Known::new(
        "default",
        Level::Field,
        "`default` or `default = \"path::to::function\"`",
    ),
    Known::new(
        "null_default",
        Level::Field,
        "`null_default` or `null_default = \"path::to::function\"`",
    ),
    Known::new("from", Level::Field, "`from = \"Type\"`"),
    Known::new("try_from", Level::Field, "`try_from = \"Type\"`"),
    Known::new(
        "with",
        Level::Field,
        "`with = \"path::to::function\"` or `with(module = \"path::to::module\")`",
    ),
    Known::new("json", Level::Field, "`json`"),
    Known::new("read_only", Level::Field, "`read_only`"),
    Known::new("rename_all", Level::Enum, "`rename_all = \"snake_case\"`"),
    Known::new(
        "repr",
        Level::Enum,
        "`repr = \"text\"` or `repr = \"number\"`",
    ),
    Known::new("crate", Level::Enum, "`crate = \"path::to::spanner_rows\"`"),
    Known::new("rename", Level::Variant, "`rename = \"text\"`"),
    Known::new("alias", Level::Variant, "`alias = \"text\"`").repeatable(),
    Known::new("other", Level::Variant, "`other`"),
];

/// Words of other derives, and what stands in their place here.
const FOREIGN: &[(&str, &str)] = &[
    (
        "borrow",
        "the type of a field decides whether it borrows; leave `borrow` out",
    ),
    ("column", "the name of the column is given with `rename`"),
    (
        "column_name",
        "the name of the column is given with `rename`",
    ),
    ("name", "the name of the column is given with `rename`"),
    (
        "nested",
        "a STRUCT column needs no attribute when the type of its field derives `SpannerRow`; \
         leave `nested` out",
    ),
];

/// An attribute with its value, as written.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) known: &'static Known,
    /// Where its name stands.
    pub(crate) span: Span,
    value: Value,
}

#[derive(Debug)]
enum Value {
    None,
    Literal(Literal),
    /// In parentheses; where they open.
    List(Vec<TokenTree>, Span),
    /// Something else, at this place.
    Other(Span),
}

impl Item {
    /// The string that the attribute takes.
    pub(crate) fn text(&self, ctxt: &Ctxt) -> Option<LitStr> {
        if let Value::Literal(literal) = &self.value
            && let Lit::Str(text) = Lit::new(literal.clone())
        {
            return Some(text);
        }
        self.refuse(ctxt, "takes a string literal");
        None
    }

    /// The string that the attribute may have; `None` when it has a value of
    /// another form, which is reported.
    pub(crate) fn text_or_nothing(&self, ctxt: &Ctxt) -> Option<Option<LitStr>> {
        match &self.value {
            Value::None => Some(None),
            Value::Literal(literal) => match Lit::new(literal.clone()) {
                Lit::Str(text) => Some(Some(text)),
                _ => {
                    self.refuse(ctxt, "takes a string literal or nothing");
                    None
                }
            },
            _ => {
                self.refuse(ctxt, "takes a string literal or nothing");
                None
            }
        }
    }

    /// Whether the attribute stands alone, as it has to.
    pub(crate) fn flag(&self, ctxt: &Ctxt) -> bool {
        let alone = matches!(self.value, Value::None);
        if !alone {
            self.refuse(ctxt, "takes no value");
        }
        alone
    }

    /// The number that the attribute takes.
    pub(crate) fn number(&self, ctxt: &Ctxt) -> Option<LitInt> {
        if let Value::Literal(literal) = &self.value
            && let Lit::Int(number) = Lit::new(literal.clone())
        {
            return Some(number);
        }
        self.refuse(ctxt, "takes a number that is not negative");
        None
    }

    /// Whether the value is in parentheses.
    pub(crate) const fn is_list(&self) -> bool {
        matches!(self.value, Value::List(..))
    }

    /// The string after `word =` in the parentheses.
    pub(crate) fn listed(&self, ctxt: &Ctxt, word: &str) -> Option<LitStr> {
        let Value::List(tokens, open) = &self.value else {
            self.refuse(ctxt, "takes a list or nothing");
            return None;
        };
        let found = match tokens.as_slice() {
            [TokenTree::Ident(name), ..] if *name != word => Err(name.span()),
            [
                TokenTree::Ident(_),
                TokenTree::Punct(equals),
                value,
                rest @ ..,
            ] if equals.as_char() == '=' => match (literal(value).map(Lit::new), rest) {
                (Some(Lit::Str(text)), []) => Ok(text),
                (Some(Lit::Str(text)), [TokenTree::Punct(end)]) if end.as_char() == ',' => Ok(text),
                (Some(Lit::Str(_)), [stray, ..]) => Err(stray.span()),
                _ => Err(value.span()),
            },
            [_, stray, ..] => Err(stray.span()),
            [only] => Err(only.span()),
            [] => Err(*open),
        };
        match found {
            Ok(text) => Some(text),
            Err(span) => {
                let Known { name, forms, .. } = self.known;
                ctxt.error(span, format!("`{name}` takes `{word} = \"…\"`: {forms}"));
                None
            }
        }
    }

    /// Reports that the value has another form than the attribute takes.
    fn refuse(&self, ctxt: &Ctxt, takes: &str) {
        let span = match &self.value {
            Value::Literal(literal) => literal.span(),
            Value::List(_, span) | Value::Other(span) => *span,
            Value::None => self.span,
        };
        let Known { name, forms, .. } = self.known;
        ctxt.error(span, format!("`{name}` {takes}: {forms}"));
    }
}

/// Reads the `#[spanner(...)]` among `attributes`, each word on its own, so that
/// one mistake does not hide another.
pub(crate) fn read(ctxt: &Ctxt, level: Level, attributes: &[Attribute]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for words in spanner_words(ctxt, attributes) {
        let Some(item) = read_item(ctxt, level, words) else {
            continue;
        };
        let before = items
            .iter()
            .find(|before| before.known.name == item.known.name && !item.known.repeatable);
        if let Some(before) = before {
            let name = item.known.name;
            ctxt.error(item.span, format!("`{name}` is given twice"));
            ctxt.error(before.span, format!("`{name}` is given here first"));
            continue;
        }
        items.push(item);
    }
    items
}

/// What stands between the commas of all `#[spanner(...)]`.
fn spanner_words(ctxt: &Ctxt, attributes: &[Attribute]) -> Vec<Vec<TokenTree>> {
    let mut all = Vec::new();
    for attribute in attributes {
        if !attribute.path().is_ident("spanner") {
            continue;
        }
        match &attribute.meta {
            Meta::List(list) => all.extend(split(ctxt, list.tokens.clone())),
            Meta::Path(_) | Meta::NameValue(_) => {
                let span = attribute
                    .path()
                    .get_ident()
                    .map_or_else(Span::call_site, Ident::span);
                ctxt.error(span, "`spanner` takes a list: `#[spanner(...)]`");
            }
        }
    }
    all
}

fn split(ctxt: &Ctxt, tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut all = Vec::new();
    let mut words = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                if words.is_empty() {
                    ctxt.error(comma.span(), "an attribute is missing before this comma");
                } else {
                    all.push(std::mem::take(&mut words));
                }
            }
            token => words.push(token),
        }
    }
    if !words.is_empty() {
        all.push(words);
    }
    all
}

fn read_item(ctxt: &Ctxt, level: Level, words: Vec<TokenTree>) -> Option<Item> {
    let mut words = words.into_iter();
    let name = match words.next()? {
        TokenTree::Ident(name) => name,
        other => {
            ctxt.error(
                other.span(),
                format!("expected the name of an attribute: {}", listing(level)),
            );
            return None;
        }
    };
    let known = look_up(ctxt, level, &name)?;
    let value = match (words.next(), words.next(), words.next()) {
        (None, ..) => Value::None,
        (Some(TokenTree::Punct(equals)), None, _) if equals.as_char() == '=' => {
            ctxt.error(
                equals.span(),
                format!("a value is missing after `=`: {}", known.forms),
            );
            return None;
        }
        (Some(TokenTree::Punct(equals)), Some(value), rest) if equals.as_char() == '=' => {
            match (literal(&value), rest) {
                (Some(literal), None) => Value::Literal(literal),
                (Some(_), Some(stray)) => {
                    ctxt.error(stray.span(), "expected a comma");
                    return None;
                }
                (None, _) => Value::Other(value.span()),
            }
        }
        (Some(TokenTree::Group(list)), None, _) => {
            let open = list.span_open();
            if list.delimiter() == Delimiter::Parenthesis {
                Value::List(list.stream().into_iter().collect(), open)
            } else {
                Value::Other(open)
            }
        }
        (Some(stray), ..) => {
            let Known { name, forms, .. } = known;
            ctxt.error(
                stray.span(),
                format!("expected a value or a comma after `{name}`: {forms}"),
            );
            return None;
        }
    };
    Some(Item {
        known,
        span: name.span(),
        value,
    })
}

/// The attribute called `name`, if it can stand at `level`.
fn look_up(ctxt: &Ctxt, level: Level, name: &Ident) -> Option<&'static Known> {
    let word = name.unraw().to_string();
    let named = |level| {
        let mut known = KNOWN.iter();
        known.find(|known| known.name == word && known.level == level)
    };
    let Some(known) = named(level) else {
        let message = match named(level.other()) {
            Some(known) => format!(
                "`{}` belongs on {}, not on {level}",
                known.name, known.level
            ),
            None => unknown(level, &word),
        };
        ctxt.error(name.span(), message);
        return None;
    };
    Some(known)
}

fn unknown(level: Level, word: &str) -> String {
    let of = |level: Level| {
        let known = KNOWN.iter().filter(move |known| known.level == level);
        known.map(|known| known.name)
    };
    let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == word);
    let near = nearest(word, of(level).chain(of(level.other())));
    let hint = match (foreign, near) {
        (Some((_, hint)), _) => (*hint).to_owned(),
        (None, Some(near)) if of(level).any(|name| name == near) => {
            format!("did you mean `{near}`? ({})", listing(level))
        }
        (None, Some(near)) => {
            format!("did you mean `{near}`, which belongs on {}?", level.other())
        }
        (None, None) => listing(level),
    };
    format!("unknown `spanner` attribute `{word}`; {hint}")
}

/// The attributes of a level, for messages.
fn listing(level: Level) -> String {
    let names: Vec<_> = KNOWN
        .iter()
        .filter(|known| known.level == level)
        .map(|known| format!("`{}`", known.name))
        .collect();
    format!("{level} takes {}", names.join(", "))
}

/// The literal that a token is, also one that a macro passed on as `$x:literal`.
fn literal(token: &TokenTree) -> Option<Literal> {
    match token {
        TokenTree::Literal(literal) => Some(literal.clone()),
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inner = group.stream().into_iter();
            match (inner.next(), inner.next()) {
                (Some(token), None) => literal(&token),
                _ => None,
            }
        }
        _ => None,
    }
}
