//! A method that the runtime does not call.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, FnArg, ReturnType, Signature, Type};

use super::{
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Helper, Ours},
    names,
};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Helper {
    let ident = method.sig.ident.clone();
    let has_receiver = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
    let takes = if has_receiver { ours(&method.sig) } else { None };
    for input in &mut method.sig.inputs {
        let FnArg::Typed(parameter) = input else { continue };
        signature::of_handler(&mut parameter.ty);
        let is_channel = types::referenced_name(&parameter.ty).is_some_and(|name| name == "Channel");
        if is_channel && types::takes_argument(&parameter.ty) {
            let pattern = parameter.pat.to_token_stream();
            // What was meant to be `handle_lagged` is reported for its name.
            let is_misnamed = takes == Some(Ours::Missed) && !site.has_lagged;
            if !is_misnamed && !has_renamed_emits(&method.attrs) {
                errors.at(
                    &ident,
                    format_args!(
                        "`{ident}` takes a channel but declares nothing: add `#[emits(...)]`\n\
                        help: a helper is generic: `fn {ident}<E: Emits<ToolsListChanged>>(..., {pattern}: &mut Channel<'_, E>)`"
                    ),
                );
            }
            signature::unbound_channel(&mut parameter.ty, site);
        }
    }
    Helper { ident, takes, declares: false }
}

fn ours(sig: &Signature) -> Option<Ours> {
    let parameter = |name: &str| {
        signature::typed(sig)
            .map(|parameter| &*parameter.ty)
            .find(|ty| types::referenced_name(ty).is_some_and(|found| found == name))
    };
    if parameter("Filter").is_some() {
        return Some(Ours::Filter);
    }
    // A type of the user's may have that name too, but then it hardly borrows, or comes with a channel.
    let is_lent = |ty: &Type| types::is_reference(ty, false) && types::borrows_inside(ty);
    if parameter("Missed").is_some_and(|missed| is_lent(missed) || parameter("Channel").is_some()) {
        return Some(Ours::Missed);
    }
    let kinds = |ty: &Type| types::name(ty).is_some_and(|name| name == "Kinds");
    if parameter("Caller").is_some() && matches!(&sig.output, ReturnType::Type(_, ty) if kinds(ty)) {
        return Some(Ours::Caller);
    }
    parameter("CloseReason").filter(|ty| types::reference(ty).is_none()).map(|_| Ours::CloseReason)
}

/// Whether an attribute is `emits` by another name, which says itself that it is not read.
fn has_renamed_emits(attrs: &[Attribute]) -> bool {
    attrs
        .iter()
        .filter_map(|attr| attr.meta.require_list().ok())
        .any(|list| names_a_kind(list.tokens.clone()))
}

/// Whether a notification is named in `tokens`, as in `#[emits(...)]`.
pub(super) fn names_a_kind(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| names::kind(&token.to_string()).is_some())
}
