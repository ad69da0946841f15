//! A method that the runtime does not call.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, FnArg};

use super::{
    signature::{self, Site},
    types,
};
use crate::{block::Method, errors::Errors, model::Helper, names};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Helper {
    let ident = method.sig.ident.clone();
    let has_receiver = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
    let (mut filters, mut closes) = (false, false);
    for input in &mut method.sig.inputs {
        let FnArg::Typed(parameter) = input else { continue };
        let Some(name) = types::referenced_name(&parameter.ty) else { continue };
        if name == "Filter" {
            filters |= has_receiver;
            signature::typed_filter(&mut parameter.ty);
        } else if name == "CloseReason" {
            closes |= has_receiver && types::reference(&parameter.ty).is_none();
        } else if name == "Channel" && types::takes_argument(&parameter.ty) {
            let pattern = parameter.pat.to_token_stream();
            if !has_renamed_emits(&method.attrs) {
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
    Helper { ident, filters, closes, declares: false }
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
