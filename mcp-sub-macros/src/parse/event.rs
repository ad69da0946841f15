//! A method with `#[emits(...)]`.

use quote::ToTokens;
use syn::{Pat, Signature, Type, TypeReference, spanned::Spanned};

use super::{
    lints,
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Callee, ChannelName, Emit, EventArgument, EventMethod},
    spans::Ends,
    unused,
};

/// `None` if there is no event to be found, which was reported.
pub(super) fn parse(
    errors: &Errors,
    method: &mut Method,
    emits: Vec<Emit>,
    site: Site<'_>,
) -> Option<EventMethod> {
    let mut callee = signature::callee(errors, method, site);
    callee.is_async |= types::is_future(&method.sig.output);
    let First { event, mut is_sound } = first(errors, &method.sig);
    signature::loosen(errors, &mut method.sig, "Channel");
    let mut arguments = Vec::new();
    let mut channel = None;
    let mut written = None;
    let mut states: Vec<Type> = Vec::new();
    for (position, parameter) in signature::parameters(&mut method.sig).enumerate() {
        let name = types::referenced_name(&parameter.ty);
        let place = Ends::of(&parameter.ty);
        if name.as_ref().is_some_and(|name| name == "Channel") {
            if !types::is_reference(&parameter.ty, true) {
                errors.at(&parameter.ty, "expected `&mut Channel<'_>`");
                types::make_exclusive(parameter);
            } else if channel.is_some() {
                errors.at(&parameter.ty, format_args!("`{}` has a channel already", callee.ident));
            }
            arguments.push(EventArgument::Channel(place));
            channel = Some(channel_name(&parameter.pat));
            if event.is_some() && site.is_handler {
                written = Some(parameter.clone());
                signature::marked_channel(&mut parameter.ty, site);
            } else {
                signature::unbound_channel(&mut parameter.ty, site);
            }
        } else if position == 0 {
            signature::of_handler(&mut parameter.ty);
            arguments.push(EventArgument::Event(place));
        } else if types::is_reference(&parameter.ty, true) && !name.as_ref().is_some_and(signature::is_ours) {
            arguments.push(EventArgument::State(parameter.ty.clone()));
            states.push((*parameter.ty).clone());
        } else if is_sound {
            // Only the first: if one is out of place, so may be others.
            is_sound = false;
            errors.at(
                &parameter.ty,
                format_args!(
                    "unexpected parameter: after the event, `{}` takes `channel: &mut Channel<'_>` and \
                    `state: &mut STATE`, with the `STATE` of `subscribe`{}",
                    callee.ident,
                    signature::where_it_is(name.as_ref()),
                ),
            );
            signature::give_arguments(&mut parameter.ty, site);
        }
    }
    if let Some(written) = written {
        signature::show_as_written(method, &written);
    }
    if is_sound {
        check_channel_and_state(errors, &callee, channel.is_some(), &states);
    }
    signature::comes_back(errors, &method.sig);
    let mut found = EventMethod {
        emits,
        event: event?,
        arguments,
        channel: channel.unwrap_or(ChannelName::Pattern),
        output: types::on_its_own(&method.sig.output),
        lints: method.attrs.iter().filter_map(lints::level).collect(),
        body: method.body.clone(),
        callee,
    };
    if !unused::unsent(&found).is_empty() {
        let expected = lints::take_expected(&mut method.attrs);
        if !expected.is_empty() {
            found.lints = method.attrs.iter().filter_map(lints::level).chain(expected).collect();
        }
    }
    Some(found)
}

/// The first parameter.
struct First {
    /// `EVENT` of `&EVENT`; if it is not there, what was probably meant to be it.
    event: Option<Type>,
    /// Whether there is nothing wrong with it.
    is_sound: bool,
}

fn first(errors: &Errors, sig: &Signature) -> First {
    let name = &sig.ident;
    let wrong = |event: Option<&Type>| First { event: event.cloned(), is_sound: false };
    let is_ours = |ty: &Type| types::referenced_name(ty).as_ref().is_some_and(signature::is_ours);
    if !signature::is_whole(sig) {
        let mut events = signature::typed(sig).filter_map(|parameter| types::reference(&parameter.ty));
        return wrong(events.find(|event| may_be_event(event)).map(|event| &*event.elem));
    }
    let Some(parameter) = signature::typed(sig).next() else {
        errors
            .at(name, format_args!("`{name}` takes no event: its first parameter has to be `event: &EVENT`"));
        return wrong(None);
    };
    let ty = &*parameter.ty;
    let event = types::reference(ty).map_or(ty, |reference| &*reference.elem);
    if !types::is_reference(ty, false) || is_ours(ty) {
        let later = signature::typed(sig)
            .filter(|parameter| types::is_reference(&parameter.ty, false) && !is_ours(&parameter.ty))
            .find_map(|parameter| types::reference(&parameter.ty));
        if types::referenced_name(ty).is_some_and(|name| name == "Missed") {
            errors.at(
                name,
                format_args!(
                    "`{name}` takes what was missed, but only `handle_lagged` is called with it; did you mean \
                    `handle_lagged`, without `#[emits(...)]`?"
                ),
            );
            return wrong(None);
        }
        if later.is_some() || is_ours(ty) {
            errors.at(ty, format_args!("the event comes first: `{name}(&self, event: &EVENT, ...)`"));
            return wrong(later.map(|reference| &*reference.elem));
        }
        errors
            .at(ty, format_args!("one event serves all subscriptions, by reference: `&{}`", written(event)));
        return wrong(Some(event).filter(|event| !types::is_opaque(event)));
    }
    if types::is_opaque(event) {
        errors.at(event, "expected a type: there is one method for each type of event");
        return wrong(None);
    }
    if types::is_unsized(event) {
        errors.at(
            event,
            format_args!("an event is published by value: `{}` has no size of its own", written(event)),
        );
        return wrong(None);
    }
    if let Some(borrow) = types::borrow(event) {
        errors.at(borrow, "an event outlives the call of `publish`: it has to be `'static`");
        return wrong(None);
    }
    First { event: Some(event.clone()), is_sound: true }
}

/// Whether it can be `&EVENT`, next to parameters that cannot be told apart.
fn may_be_event(ty: &TypeReference) -> bool {
    ty.mutability.is_none()
        && types::referenced_name(&ty.elem).is_some_and(|name| name != "Self" && !signature::is_ours(&name))
        && types::borrow(&ty.elem).is_none()
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

/// What to say of what may be a channel, under another name.
const ALIAS: &str = "help: write `&mut Channel<'_>`: an attribute cannot see through an alias";

fn channel_name(pattern: &Pat) -> ChannelName {
    match pattern {
        Pat::Ident(pattern) => ChannelName::Ident(pattern.ident.clone()),
        Pat::Wild(_) => ChannelName::Wildcard,
        _ => ChannelName::Pattern,
    }
}
