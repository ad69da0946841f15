//! The conditions under which a method is compiled, which what is generated for it has to share.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, parse_quote};

/// As `#[cfg(...)]`, one for each condition.
pub(super) fn of(attrs: &[Attribute]) -> Vec<Attribute> {
    let mut cfgs = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("cfg") {
            cfgs.push(attr.clone());
        } else if let Some((predicate, attributes)) = conditional(attr) {
            let conditions = attributes.iter().filter_map(|attribute| match &**attribute {
                [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
                    Some(condition.stream())
                }
                _ => None,
            });
            cfgs.extend(conditions.map(|condition| parse_quote!(#[cfg(any(not(#predicate), #condition))])));
        }
    }
    cfgs
}

/// The predicate of a `cfg_attr`, and the attributes that come after it.
pub(super) fn conditional(attr: &Attribute) -> Option<(TokenStream, Vec<Vec<TokenTree>>)> {
    if !attr.path().is_ident("cfg_attr") {
        return None;
    }
    let tokens: Vec<TokenTree> = attr.meta.require_list().ok()?.tokens.clone().into_iter().collect();
    let mut parts = tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    let predicate = parts.next()?.iter().cloned().collect();
    Some((predicate, parts.map(<[TokenTree]>::to_vec).collect()))
}
