//! What all the methods that are called have in common.
//!
//! Whatever is wrong with a signature, each channel and filter in it gets a type with which the body compiles.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Ident, Lifetime, Meta, PatType, Path, Receiver, ReceiverKind, Safety,
    Signature, Type,
};

use super::{cfgs, types};
use crate::{block::Method, errors::Errors, model::Callee};

/// Where the method is.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) krate: &'a Path,
    /// Whether the type can be a handler at all.
    pub(super) is_handler: bool,
    /// How many methods with an event came before.
    pub(super) position: usize,
}

/// Checks what holds for every method that is called.
pub(super) fn callee(errors: &Errors, method: &Method) -> Callee {
    let sig = &method.sig;
    let name = &sig.ident;
    if let Some(token) = sig.constness {
        errors.at(token, format_args!("`{name}` cannot be `const`"));
    }
    if let Safety::Unsafe(token) = sig.safety {
        errors.at(token, format_args!("`{name}` is called by safe code: it cannot be `unsafe`"));
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, format_args!("`{name}` cannot be `extern`"));
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, format_args!("`{name}` cannot be variadic"));
    }
    for parameter in &sig.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            errors.at(
                parameter,
                format_args!("`{name}` cannot be generic: nothing says for which type it should be called"),
            );
        }
    }
    match sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) if is_shared(receiver) => {}
        Some(FnArg::Receiver(receiver)) => errors.at(
            receiver,
            "expected `&self`: one handler serves all subscriptions; what changes belongs in the state of one, or \
            behind a lock",
        ),
        _ => errors.at(name, format_args!("`{name}` needs a receiver: `&self`")),
    }
    for attr in sig.inputs.iter().flat_map(attributes).filter(|attr| is_cfg(attr)) {
        errors
            .at(attr, "a parameter cannot come and go here: put `#[cfg(...)]` on two versions of the method");
    }
    Callee { ident: name.clone(), cfgs: cfgs::of(&method.attrs), is_async: sig.asyncness.is_some() }
}

/// `&self`, `&'a self`, `self: &Self`.
fn is_shared(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => types::reference(ty)
            .is_some_and(|reference| reference.mutability.is_none() && types::is(&reference.elem, "Self")),
        _ => false,
    }
}

fn attributes(input: &FnArg) -> &[Attribute] {
    match input {
        FnArg::Typed(parameter) => &parameter.attrs,
        FnArg::Receiver(receiver) => &receiver.attrs,
    }
}

fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")
}

/// The parameters after the receiver, without those that were reported for their `#[cfg]`.
pub(super) fn typed(sig: &Signature) -> impl Iterator<Item = &PatType> {
    sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) if !parameter.attrs.iter().any(is_cfg) => Some(parameter),
        _ => None,
    })
}

/// The same, to be changed.
pub(super) fn parameters(sig: &mut Signature) -> impl Iterator<Item = &mut PatType> {
    sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(parameter) if !parameter.attrs.iter().any(is_cfg) => Some(parameter),
        _ => None,
    })
}

/// The names that stand for something of ours, and so are neither events nor states.
pub(super) fn is_ours(name: &Ident) -> bool {
    ["Channel", "Filter", "ListenRequest", "CloseReason"].iter().any(|ours| name == ours)
}

/// `Channel<'_>` → `Channel<'_, MARKER>`, for the method at this position.
pub(super) fn marked_channel(ty: &mut Type, Site { krate, position, .. }: Site<'_>) {
    let position = Literal::usize_unsuffixed(position);
    types::add_argument(ty, &quote!(<Self as #krate::__private::Marked<#position>>::Marker));
}

/// The type of a channel that was reported: its body is not to add another error.
pub(super) fn unbound_channel(ty: &mut Type, Site { krate, .. }: Site<'_>) {
    types::add_argument(ty, &quote!(#krate::AnyNotification));
}

/// `Channel<'static>` and `&'a mut Channel<'a>` → `Channel<'_>`: what is lent has a lifetime of its own.
pub(super) fn loosen(errors: &Errors, sig: &mut Signature, name: &str) {
    let inputs = sig.inputs.to_token_stream();
    for parameter in parameters(sig) {
        if types::referenced_name(&parameter.ty).is_none_or(|found| found != name) {
            continue;
        }
        let Some(lifetime) = types::lifetime_inside(&mut parameter.ty) else { continue };
        if lifetime.ident == "static" || types::mentions(inputs.clone(), lifetime) > 1 {
            let text = format_args!("expected a lifetime that is nobody else's: write `&mut {name}<'_>`");
            errors.at(&*lifetime, text);
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    }
}

/// `Filter<'_>` → `Filter<'_, Self>`, if it is one.
pub(super) fn typed_filter(ty: &mut Type) {
    if types::referenced_name(ty).is_some_and(|name| name == "Filter") {
        types::add_argument(ty, &quote!(Self));
    }
}

/// What an `allow` or an `expect` allows. An expectation is not copied: it is met or not by what the user wrote.
pub(super) fn allowed(attr: &Attribute) -> Option<TokenStream> {
    match &attr.meta {
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            Some(list.tokens.clone())
        }
        _ => None,
    }
}
