//! What is in the parentheses of `#[subscription_handler(...)]`.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Ident, Path, Token,
    meta::ParseNestedMeta,
    parse::{Parse, ParseStream, Parser},
    parse_quote,
};

use crate::{errors::Errors, model::Options, names};

const FORMS: &str = "the options are `crate = path::to::mcp_sub`, `event = Name` and `relay`";

pub(super) fn parse(errors: &Errors, tokens: TokenStream) -> Options {
    let (mut krate, mut event, mut relay) = (None, None, None);
    let parser = syn::meta::parser(|meta| {
        let name = meta.path.require_ident().map_err(|_| meta.error(FORMS))?;
        match &*name.to_string() {
            "crate" => set(errors, &meta, &mut krate, Path::parse_mod_style),
            "event" => set(errors, &meta, &mut event, Ident::parse),
            "relay" => flag(errors, &meta, &mut relay),
            other => {
                errors.at(name, unknown(other));
                // Whatever it is set to is skipped, so that what follows is checked too.
                while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                    meta.input.parse::<TokenTree>()?;
                }
                Ok(())
            }
        }
    });
    if let Err(error) = parser.parse2(tokens) {
        errors.push(syn::Error::new(error.span(), FORMS));
    }
    Options { krate: krate.unwrap_or_else(|| parse_quote!(::mcp_sub)), event, relay }
}

fn flag(errors: &Errors, meta: &ParseNestedMeta<'_>, option: &mut Option<Ident>) -> syn::Result<()> {
    let name = meta.path.require_ident()?;
    if !meta.input.is_empty() && !meta.input.peek(Token![,]) {
        errors.at(name, "`relay` takes no value");
        while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
            meta.input.parse::<TokenTree>()?;
        }
    }
    match option {
        Some(_) => errors.at(name, "this option is set already"),
        None => *option = Some(name.clone()),
    }
    Ok(())
}

fn set<T>(
    errors: &Errors,
    meta: &ParseNestedMeta<'_>,
    option: &mut Option<T>,
    parse: fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<()> {
    if !meta.input.peek(Token![=]) {
        return Err(meta.error(FORMS));
    }
    let input = meta.value()?;
    if input.is_empty() {
        return Err(meta.error(FORMS));
    }
    let value = parse(input)?;
    match option {
        Some(_) => errors.at(&meta.path, "this option is set already"),
        None => *option = Some(value),
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    match names::nearest(name, ["crate", "event", "relay"]) {
        Some(near) => format!("unknown option `{name}`; did you mean `{near}`?"),
        None => format!("unknown option `{name}`; {FORMS}"),
    }
}
