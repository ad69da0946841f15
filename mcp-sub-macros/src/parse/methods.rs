//! The signatures of the methods that are called: `subscribe`, those with `#[emits(...)]`, `handle_close`.
//!
//! Whatever is wrong with one, each channel and filter in it gets a type with which its body compiles.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, FnArg, GenericParam, Meta, Pat, PatType, Path, Receiver, ReceiverKind, ReturnType, Safety,
    Signature, Type, parse_quote, spanned::Spanned,
};

use super::types;
use crate::{
    block::Method,
    errors::Errors,
    model::{
        Callee, ChannelName, Close, CloseArgument, Emit, EventArgument, EventMethod, Subscribe,
        SubscribeArgument,
    },
    spans::Ends,
};

/// Where the method is.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) krate: &'a Path,
    /// Whether the type can be a handler at all.
    pub(super) is_handler: bool,
    /// How many methods with an event came before.
    pub(super) position: usize,
}

pub(super) fn subscribe(errors: &Errors, method: &mut Method, site: Site<'_>) -> Subscribe {
    let callee = callee(errors, method);
    let mut arguments = Vec::new();
    for parameter in parameters(&mut method.sig) {
        let found = match types::referenced_name(&parameter.ty) {
            Some(name) if name == "Channel" => {
                errors.at(
                    &parameter.ty,
                    "`subscribe` runs before the acknowledgement, when nothing may be sent: there is no channel yet",
                );
                any_channel(&mut parameter.ty, site);
                continue;
            }
            Some(name) if name == "Filter" && is_reference(&parameter.ty, true) => SubscribeArgument::Filter,
            Some(name) if name == "ListenRequest" && is_reference(&parameter.ty, false) => {
                SubscribeArgument::Request
            }
            _ => {
                errors.at(
                    &parameter.ty,
                    "unexpected parameter: `subscribe` takes `filter: &mut Filter<'_>` and `request: &ListenRequest`",
                );
                any_filter(&mut parameter.ty);
                continue;
            }
        };
        if arguments.contains(&found) {
            errors.at(&parameter.ty, "`subscribe` has this parameter already");
        }
        any_filter(&mut parameter.ty);
        arguments.push(found);
    }
    Subscribe { callee, arguments, output: subscribe_output(errors, &method.sig, site) }
}

fn subscribe_output(errors: &Errors, sig: &Signature, Site { krate, .. }: Site<'_>) -> Type {
    match &sig.output {
        ReturnType::Default => errors.at(
            &sig.ident,
            "`subscribe` returns `Result<STATE, Rejection>`\n\
            help: the `STATE` is what belongs to one subscription: the other methods get it as `&mut STATE`",
        ),
        ReturnType::Type(_, ty) => {
            if matches!(types::plain(ty), Type::ImplTrait(_)) {
                errors
                    .at(ty, "`subscribe` returns `Result<STATE, Rejection>`, from an `async fn` or an `fn`");
            } else if let Some(borrow) = types::borrow(ty) {
                errors.at(borrow, "the state of a subscription outlives `subscribe`: it has to be `'static`");
            } else {
                return (**ty).clone();
            }
        }
    }
    parse_quote!(#krate::__private::Result<(), #krate::Rejection>)
}

/// `None` if no event could be found: what is wrong with the signature was reported.
pub(super) fn event(
    errors: &Errors,
    method: &mut Method,
    emits: Vec<Emit>,
    site: Site<'_>,
) -> Option<EventMethod> {
    let mut callee = callee(errors, method);
    callee.is_async |= types::is_future(&method.sig.output);
    let event = event_type(errors, &method.sig);
    let mut reported = event.is_err();
    let event = event.map_or_else(|recovered| recovered, Some);
    let mut arguments = Vec::new();
    let mut channel = None;
    let mut states: Vec<Type> = Vec::new();
    for (position, parameter) in parameters(&mut method.sig).enumerate() {
        if types::referenced_name(&parameter.ty).is_some_and(|name| name == "Channel") {
            if !is_reference(&parameter.ty, true) {
                errors.at(&parameter.ty, "expected `&mut Channel<'_>`");
            } else if channel.is_some() {
                errors.at(&parameter.ty, format_args!("`{}` has a channel already", callee.ident));
            }
            arguments.push(EventArgument::Channel(Ends::of(&parameter.ty)));
            channel = Some(channel_name(&parameter.pat));
            match event {
                Some(_) if site.is_handler => marked_channel(&mut parameter.ty, site),
                _ => any_channel(&mut parameter.ty, site),
            }
        } else if position == 0 {
            arguments.push(EventArgument::Event(Ends::of(&parameter.ty)));
        } else if is_reference(&parameter.ty, true)
            && !types::referenced_name(&parameter.ty).is_some_and(is_reserved)
        {
            arguments.push(EventArgument::State(Ends::of(&parameter.ty)));
            states.push((*parameter.ty).clone());
        } else if !reported {
            reported = true;
            errors.at(
                &parameter.ty,
                format_args!(
                    "unexpected parameter: after the event, `{}` takes `channel: &mut Channel<'_>` and \
                    `state: &mut STATE`, with the `STATE` of `subscribe`",
                    callee.ident,
                ),
            );
            any_filter(&mut parameter.ty);
        }
    }
    if !reported {
        check_channel_and_state(errors, &callee, channel.is_some(), &states);
    }
    Some(EventMethod {
        emits,
        event: event?,
        arguments,
        channel: channel.unwrap_or(ChannelName::Pattern),
        output: match &method.sig.output {
            ReturnType::Type(_, ty) => Ends::of(ty),
            ReturnType::Default => callee.ident.span().into(),
        },
        allows: method.attrs.iter().filter_map(allowed).collect(),
        body: method.body.clone(),
        callee,
    })
}

/// What the first parameter is about: `Ev` of `&Ev`. If that is wrong, then what it was probably meant to be.
fn event_type(errors: &Errors, sig: &Signature) -> Result<Type, Option<Type>> {
    let name = &sig.ident;
    let Some(first) = typed(sig).next().map(|parameter| &*parameter.ty) else {
        errors
            .at(name, format_args!("`{name}` takes no event: its first parameter has to be `event: &EVENT`"));
        return Err(None);
    };
    let is_ours = |ty: &Type| types::referenced_name(ty).is_some_and(is_reserved);
    let event = match types::reference(first) {
        Some(reference) if reference.mutability.is_none() && !is_ours(first) => &*reference.elem,
        reference => {
            let later =
                typed(sig).find(|parameter| is_reference(&parameter.ty, false) && !is_ours(&parameter.ty));
            let later = later.and_then(|parameter| types::reference(&parameter.ty));
            if later.is_some() || is_ours(first) {
                errors.at(first, format_args!("the event comes first: `{name}(&self, event: &EVENT, ...)`"));
                return Err(later.map(|reference| (*reference.elem).clone()));
            }
            let event = reference.map_or(first, |reference| &*reference.elem);
            errors.at(
                first,
                format_args!("one event serves all subscriptions, by reference: `&{}`", written(event)),
            );
            return Err((!is_any(event)).then(|| event.clone()));
        }
    };
    if is_any(event) {
        errors.at(event, "expected a type: there is one method for each type of event");
        return Err(None);
    }
    if let Some(borrow) = types::borrow(event) {
        errors.at(borrow, "an event outlives the call of `publish`: it has to be `'static`");
        return Err(None);
    }
    Ok(event.clone())
}

/// A type that nobody can name.
fn is_any(ty: &Type) -> bool {
    matches!(types::plain(ty), Type::ImplTrait(_) | Type::Infer(_))
}

/// A type as the user wrote it, but for spaces.
fn written(ty: &Type) -> String {
    ty.span().source_text().unwrap_or_else(|| ty.to_token_stream().to_string())
}

fn check_channel_and_state(errors: &Errors, callee: &Callee, has_channel: bool, states: &[Type]) {
    let name = &callee.ident;
    match states {
        [_, second, ..] if has_channel => {
            errors.at(second, format_args!("`{name}` has a state already: a method takes one `&mut STATE`"));
        }
        // One of the two was meant to be the channel: by its lifetime, if only one of them has one.
        [first, second, ..] => {
            let channel =
                if types::borrows_inside(second) && !types::borrows_inside(first) { second } else { first };
            errors.at(channel, format_args!("`{name}` takes no channel\n{ALIAS}"));
        }
        [only] if !has_channel && types::borrows_inside(only) => {
            errors.at(only, format_args!("`{name}` takes no channel\n{ALIAS}"));
        }
        _ if !has_channel => errors.at(
            name,
            format_args!(
                "`{name}` takes no channel to send on\nhelp: add `channel: &mut Channel<'_>` after the event"
            ),
        ),
        _ => {}
    }
}

const ALIAS: &str = "help: write `&mut Channel<'_>`: an attribute cannot see through an alias";

pub(super) fn close(errors: &Errors, method: &mut Method, site: Site<'_>) -> Close {
    let callee = callee(errors, method);
    let mut arguments = Vec::new();
    let (mut reason, mut state) = (false, false);
    for parameter in parameters(&mut method.sig) {
        let place = Ends::of(&parameter.ty);
        let name = types::referenced_name(&parameter.ty);
        if name.is_some_and(|name| name == "Channel") {
            errors.at(
                &parameter.ty,
                "`handle_close` runs when the subscription has ended: there is no channel any more",
            );
            any_channel(&mut parameter.ty, site);
        } else if types::is(&parameter.ty, "CloseReason") && !reason {
            reason = true;
            arguments.push(CloseArgument::Reason(place));
        } else if types::reference(&parameter.ty).is_none() && !name.is_some_and(is_reserved) && !state {
            state = true;
            arguments.push(CloseArgument::State(place));
        } else {
            errors.at(
                &parameter.ty,
                "unexpected parameter: `handle_close` takes `reason: CloseReason` and `state: STATE`, by value",
            );
            any_filter(&mut parameter.ty);
        }
    }
    if let ReturnType::Type(_, ty) = &method.sig.output
        && !matches!(types::plain(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        errors.at(ty, "`handle_close` returns nothing: nobody is left to be told");
    }
    Close { callee, arguments }
}

/// Checks what holds for every method that is called.
fn callee(errors: &Errors, method: &Method) -> Callee {
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
    let cfgs = method.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect();
    Callee { ident: name.clone(), cfgs, is_async: sig.asyncness.is_some() }
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
fn typed(sig: &Signature) -> impl Iterator<Item = &PatType> {
    sig.inputs.iter().filter(|input| !attributes(input).iter().any(is_cfg)).filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    })
}

/// The same, to be changed.
fn parameters(sig: &mut Signature) -> impl Iterator<Item = &mut PatType> {
    sig.inputs.iter_mut().filter(|input| !attributes(input).iter().any(is_cfg)).filter_map(
        |input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        },
    )
}

fn is_reference(ty: &Type, mutable: bool) -> bool {
    types::reference(ty).is_some_and(|reference| reference.mutability.is_some() == mutable)
}

/// The names that stand for something of ours, and so are neither events nor states.
fn is_reserved(name: &syn::Ident) -> bool {
    ["Channel", "Filter", "ListenRequest", "CloseReason"].iter().any(|reserved| name == reserved)
}

/// `Channel<'_>` → `Channel<'_, MARKER>`, for the method at this position.
fn marked_channel(ty: &mut Type, Site { krate, position, .. }: Site<'_>) {
    types::add_argument(ty, &quote!(<Self as #krate::__private::Marked<#position>>::Marker));
}

/// The type of a channel that was reported: its body is not to add another error.
fn any_channel(ty: &mut Type, site: Site<'_>) {
    let krate = site.krate;
    types::add_argument(ty, &quote!(#krate::AnyNotification));
}

fn any_filter(ty: &mut Type) {
    if types::referenced_name(ty).is_some_and(|name| name == "Filter") {
        types::add_argument(ty, &quote!(Self));
    }
}

fn channel_name(pattern: &Pat) -> ChannelName {
    match pattern {
        Pat::Ident(pattern) => ChannelName::Ident(pattern.ident.clone()),
        Pat::Wild(_) => ChannelName::Wildcard,
        _ => ChannelName::Pattern,
    }
}

/// What an `allow` or an `expect` allows. An expectation is not copied: it is met or not by what the user wrote.
fn allowed(attr: &Attribute) -> Option<TokenStream> {
    match &attr.meta {
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            Some(list.tokens.clone())
        }
        _ => None,
    }
}
