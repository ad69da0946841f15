//! `#[emits(...)]`.

use proc_macro2::TokenTree;
use syn::{Attribute, Ident, Meta, Token, ext::IdentExt, punctuated::Punctuated};

use super::cfgs;
use crate::{errors::Errors, model::Emit, names};

const EXAMPLE: &str = "expected the notifications that this method sends: `#[emits(tools_list_changed)]`";

/// Takes the attribute off. A bad one is reported, and counts as one.
pub(super) fn take(errors: &Errors, attrs: &mut Vec<Attribute>) -> Option<Vec<Emit>> {
    let mut found: Option<Vec<Emit>> = None;
    attrs.retain(|attr| {
        let Some(name) = attr.path().segments.last().map(|segment| segment.ident.unraw().to_string()) else { return true };
        match &*name {
            "emits" => {
                if found.is_some() {
                    errors.at(attr, "a second `#[emits(...)]`: one list names all that the method sends");
                }
                read(errors, attr, found.get_or_insert_default());
                false
            }
            "emit" if attr.path().get_ident().is_some() => {
                errors.at(attr.path(), "unknown attribute `emit`; did you mean `emits`?");
                found.get_or_insert_default();
                false
            }
            "cfg_attr" if hides_emits(attr) => {
                let text = "`#[emits(...)]` cannot be in a `cfg_attr`: that is not resolved yet when \
                    `#[subscription_handler]` runs\nhelp: put `#[cfg(...)]` on the method, beside `#[emits(...)]`";
                errors.at(attr, text);
                found.get_or_insert_default();
                false
            }
            _ => true,
        }
    });
    found
}

fn read(errors: &Errors, attr: &Attribute, list: &mut Vec<Emit>) {
    if !matches!(attr.meta, Meta::List(_)) {
        return errors.at(attr, EXAMPLE);
    }
    // Any word, so that a keyword gets the same text as another one that is no notification.
    let words = |input: syn::parse::ParseStream<'_>| {
        Punctuated::<_, Token![,]>::parse_terminated_with(input, Ident::parse_any)
    };
    match attr.parse_args_with(words) {
        Ok(words) if words.is_empty() => errors.at(attr, EXAMPLE),
        Ok(words) => words.into_iter().for_each(|word| add(errors, word, list)),
        Err(error) => errors.push(syn::Error::new(error.span(), EXAMPLE)),
    }
}

fn add(errors: &Errors, word: Ident, list: &mut Vec<Emit>) {
    let text = word.unraw().to_string();
    match names::kind(&text) {
        Some(kind) if list.iter().any(|emit| emit.kind == kind) => {
            errors.at(word, format_args!("`{text}` is in the list already"));
        }
        Some(kind) => list.push(Emit { kind, word }),
        None => errors.at(word, names::unknown_kind(&text)),
    }
}

/// Whether one of the attributes in a `cfg_attr` is ours.
fn hides_emits(attr: &Attribute) -> bool {
    let Some((_, attributes)) = cfgs::conditional(attr) else { return false };
    attributes.iter().any(|attribute| {
        let path = attribute.iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
        matches!(path.last(), Some(TokenTree::Ident(name)) if name == "emits")
    })
}
