//! What all the methods that are called have in common.
//!
//! Whatever is wrong with a signature, each channel and filter in it gets a type with which the body compiles.

use std::mem;

use proc_macro2::Literal;
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Ident, Lifetime, PatType, Path, Receiver, ReceiverKind, ReturnType,
    Safety, Signature, Type, parse_quote,
};

use super::{cfgs, types};
use crate::{block::Method, errors::Errors, model::Callee};

/// Where the method is.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) krate: &'a Path,
    /// Whether the type can be a handler at all.
    pub(super) is_handler: bool,
    /// Whether there is a `handle_lagged`.
    pub(super) has_lagged: bool,
    /// How many methods with an event came before.
    pub(super) position: usize,
}

/// Checks what holds for every method that is called.
pub(super) fn callee(errors: &Errors, method: &mut Method, site: Site<'_>) -> Callee {
    let sig = &mut method.sig;
    let name = &sig.ident;
    if let Some(token) = sig.constness.take() {
        errors.at(token, format_args!("`{name}` cannot be `const`"));
    }
    if let Safety::Unsafe(token) = sig.safety {
        errors.at(token, format_args!("`{name}` is called by safe code: it cannot be `unsafe`"));
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, format_args!("`{name}` cannot be `extern`"));
    }
    if let Some(variadic) = sig.variadic.take() {
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
    for input in &mut sig.inputs {
        if let Some(attr) = attributes(input).iter().find(|attr| is_cfg(attr)) {
            errors.at(
                attr,
                "a parameter cannot come and go here: put `#[cfg(...)]` on two versions of the method",
            );
            if let FnArg::Typed(parameter) = input {
                give_arguments(&mut parameter.ty, site);
            }
        }
        if let Some(lifetime) = lent(input)
            && lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
        {
            errors.at(lifetime.take(), "what a method is lent is not `'static`: leave the lifetime out");
        }
    }
    Callee { ident: sig.ident.clone(), cfgs: cfgs::of(&method.attrs), is_async: sig.asyncness.is_some() }
}

/// Whether all the parameters are there to be looked at. If not, that was reported.
pub(super) fn is_whole(sig: &Signature) -> bool {
    matches!(sig.inputs.first(), Some(FnArg::Receiver(_)))
        && !sig.inputs.iter().flat_map(attributes).any(is_cfg)
}

/// `'a` of `&'a self` or `event: &'a EVENT`.
fn lent(input: &mut FnArg) -> Option<&mut Option<Lifetime>> {
    let ty = match input {
        FnArg::Receiver(receiver) => match &mut receiver.kind {
            ReceiverKind::Reference(_, lifetime, _) => return Some(lifetime),
            ReceiverKind::Typed(_, ty) => ty,
            _ => return None,
        },
        FnArg::Typed(parameter) => &mut parameter.ty,
    };
    types::reference_mut(ty).map(|reference| &mut reference.lifetime)
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

pub(super) fn is_cfg(attr: &Attribute) -> bool {
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

/// Whether it returns, for a method whose return says how the subscription goes on.
pub(super) fn comes_back(errors: &Errors, sig: &Signature) {
    if let ReturnType::Type(_, ty) = &sig.output
        && matches!(types::plain(ty), Type::Never(_))
    {
        let text = "has to come back: it returns nothing, a `Flow`, or a `Result` of either";
        errors.at(ty, format_args!("`{}` {text}", sig.ident));
    }
}

/// What to add about a parameter that is out of place.
pub(super) fn where_it_is(name: Option<&Ident>) -> &'static str {
    match name {
        Some(name) if name == "Inbox" => {
            "\nhelp: the inbox is lent to `subscribe` alone: keep a clone of it in the state"
        }
        _ => "",
    }
}

/// The names that stand for something of ours, and so are neither events nor states.
pub(super) fn is_ours(name: &Ident) -> bool {
    ["Channel", "Filter", "ListenRequest", "Inbox", "Missed", "CloseReason"].iter().any(|ours| name == ours)
}

/// `Channel<'_>` → `Channel<'_, MARKER>`, for the method at this position.
pub(super) fn marked_channel(ty: &mut Type, Site { krate, position, .. }: Site<'_>) {
    let position = Literal::usize_unsuffixed(position);
    types::add_argument(ty, &quote!(<Self as #krate::__private::Marked<#position>>::Marker));
}

/// `Channel<'_>` → `Channel<'_, MARKER>`, for `handle_lagged`.
pub(super) fn lagged_channel(ty: &mut Type, Site { krate, .. }: Site<'_>) {
    types::add_argument(ty, &quote!(<Self as #krate::__private::MarkedLagged>::Marker));
}

/// The channel for rustdoc: nobody can name the type that it has otherwise.
///
/// Not beside an attribute that may be a macro: it would see the parameter twice, since no `cfg` is resolved for it.
pub(super) fn show_as_written(Method { attrs, sig, .. }: &mut Method, written: &PatType) {
    const INERT: [&str; 13] = [
        "doc",
        "cfg",
        "cfg_attr",
        "allow",
        "expect",
        "warn",
        "deny",
        "forbid",
        "must_use",
        "inline",
        "cold",
        "deprecated",
        "track_caller",
    ];
    if !attrs.iter().all(|attr| INERT.iter().any(|name| attr.path().is_ident(name))) {
        return;
    }
    let inputs = mem::take(&mut sig.inputs).into_iter().flat_map(|input| match input {
        FnArg::Typed(compiled)
            if types::referenced_name(&compiled.ty) == types::referenced_name(&written.ty) =>
        {
            vec![parse_quote!(#[cfg(not(doc))] #compiled), parse_quote!(#[cfg(doc)] #written)]
        }
        input => vec![input],
    });
    sig.inputs = inputs.collect();
}

/// The type of a channel that was reported: its body is not to add another error.
pub(super) fn unbound_channel(ty: &mut Type, Site { krate, .. }: Site<'_>) {
    types::add_argument(ty, &quote!(#krate::AnyNotification));
}

/// The same wherever it is in the type of a parameter that is not looked at further.
pub(super) fn give_arguments(ty: &mut Type, site: Site<'_>) {
    types::for_each_inside(ty, &mut |ty| match types::name(ty) {
        Some(name) if name == "Channel" => unbound_channel(ty, site),
        _ => of_handler(ty),
    });
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

/// `Filter<'_>` → `Filter<'_, Self>` and `Inbox` → `Inbox<Self>`, if it is one.
pub(super) fn of_handler(ty: &mut Type) {
    match types::referenced_name(ty) {
        Some(name) if name == "Filter" => types::add_argument(ty, &quote!(Self)),
        Some(name) if name == "Inbox" => types::add_sole_argument(ty, &quote!(Self)),
        _ => {}
    }
}
