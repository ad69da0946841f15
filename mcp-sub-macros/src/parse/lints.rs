//! The level of `dead_code` that the user asks for, where what is generated has to share it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Meta, Token, parse_quote, punctuated::Punctuated};

/// The attribute, as it can stand beside the user's, if it is about `dead_code`.
///
/// An expectation is met or not by what the user wrote, so it is not copied. And what is forbidden can nowhere be allowed.
pub(super) fn level(attr: &Attribute) -> Option<TokenStream> {
    let Meta::List(meta) = &attr.meta else { return None };
    let lints = &meta.tokens;
    if !lints
        .clone()
        .into_iter()
        .any(|lint| ["dead_code", "unused", "warnings"].contains(&&*lint.to_string()))
    {
        return None;
    }
    match &*meta.path.get_ident()?.to_string() {
        "allow" | "expect" => Some(quote!(#[allow(#lints)])),
        "deny" | "forbid" => Some(quote!(#[deny(#lints)])),
        "warn" => Some(quote!(#[warn(#lints)])),
        _ => None,
    }
}

/// Takes `dead_code` out of each `#[expect(...)]`, for the warning that a declared notification is never sent: that is
/// the one expected, and rustc does not report it in the method.
pub(super) fn take_expected(attrs: &mut Vec<Attribute>) -> Vec<TokenStream> {
    let mut taken = Vec::new();
    attrs.retain_mut(|attr| {
        let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let Ok(list) = list.as_ref() else { return true };
        let is_it = |meta: &&Meta| meta.path().is_ident("dead_code");
        if !attr.path().is_ident("expect") || !list.iter().any(|meta| is_it(&meta)) {
            return true;
        }
        let (reason, lints): (Vec<&Meta>, Vec<&Meta>) =
            list.iter().partition(|meta| meta.path().is_ident("reason"));
        taken.push(quote!(#[expect(dead_code #(, #reason)*)]));
        let others: Vec<&Meta> = lints.into_iter().filter(|meta| !is_it(meta)).collect();
        let stays = !others.is_empty();
        *attr = parse_quote!(#[expect(#(#others,)* #(#reason),*)]);
        stays
    });
    taken
}
