//! What takes more than one method to see.

use std::collections::HashMap;

use quote::ToTokens;
use syn::{Ident, Type, parse_quote};

use crate::{
    errors::Errors,
    model::{Callee, CloseArgument, EventArgument, EventMethod, Handler, LaggedArgument, Ours, Subscribe},
};

pub(crate) fn handler(errors: &Errors, handler: &mut Handler) {
    state_for_a_result(errors, handler);
    let Some(name) = &handler.name else { return };
    if handler.subscribe.is_empty() {
        no_subscribe(errors, handler, name);
    }
    for (is_missing, ours, text, meant) in [
        (
            handler.close.is_empty(),
            Ours::CloseReason,
            "takes the reason of an ending, but only `handle_close` is called with one",
            "handle_close",
        ),
        (
            handler.lagged.is_empty(),
            Ours::Missed,
            "takes what was missed, but only `handle_lagged` is called with it",
            "handle_lagged",
        ),
        (
            handler.capabilities.is_empty(),
            Ours::Caller,
            "says what a caller may be told of, but only `subscription_capabilities` is asked",
            "subscription_capabilities",
        ),
    ] {
        if let Some(ident) = who_takes(handler, ours).filter(|_| is_missing) {
            errors.at(ident, format_args!("`{ident}` {text}; did you mean `{meant}`?"));
        }
    }
    one_method_for_each_event(errors, handler);
    // A method that was reported may be missing from the model.
    let is_silent = handler.methods.is_empty() && !handler.helpers.iter().any(|helper| helper.declares);
    if is_silent && errors.is_empty() {
        let help = "put `#[emits(...)]` on a method that takes an event: `fn happened(&self, event: &EVENT, channel: &mut Channel<'_>)`";
        errors.at(name, format_args!("no method of `{name}` has `#[emits(...)]`: its clients would never hear a thing\nhelp: {help}"));
    }
}

fn who_takes(handler: &Handler, ours: Ours) -> Option<&Ident> {
    handler.helpers.iter().find(|helper| helper.takes == Some(ours)).map(|helper| &helper.ident)
}

fn no_subscribe(errors: &Errors, handler: &Handler, name: &Ident) {
    if let Some(ident) = who_takes(handler, Ours::Filter) {
        let text = "takes a filter, but only `subscribe` is called with one";
        return errors.at(ident, format_args!("`{ident}` {text}; did you mean `subscribe`?"));
    }
    errors.at(
        name,
        format_args!(
            "no method `subscribe` in this block: one block has all the methods of a handler\n\
            help: add `async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<STATE, Rejection>`"
        ),
    );
}

/// `subscribe` that returns what other methods take as the state. Of another type that is no `Result` it is rustc that
/// knows; but then it does not know the state, and reports each method that takes it.
fn state_for_a_result(
    errors: &Errors,
    Handler { subscribe, methods, lagged, close, options, .. }: &mut Handler,
) {
    let by_event =
        methods.iter().flat_map(|method| &method.arguments).filter_map(|argument| match argument {
            EventArgument::State(ty) => Some(&**ty),
            _ => None,
        });
    let by_lagged =
        lagged.iter().flat_map(|lagged| &lagged.arguments).filter_map(|argument| match argument {
            LaggedArgument::State(ty) => Some(&**ty),
            _ => None,
        });
    let taken = by_event.chain(by_lagged).filter_map(|ty| match ty {
        Type::Reference(reference) => Some(&*reference.elem),
        _ => None,
    });
    let kept = close.iter().flat_map(|close| &close.arguments).filter_map(|argument| match argument {
        CloseArgument::State(ty) => Some(&**ty),
        CloseArgument::Reason(_) => None,
    });
    let states: Vec<&Type> = taken.chain(kept).collect();
    for Subscribe { output, may_be_no_result, .. } in subscribe {
        if *may_be_no_result && states.contains(&&*output) {
            let state = output.to_token_stream();
            errors.at(&*output, format_args!("`subscribe` returns `Result<{state}, Rejection>`"));
            let krate = &options.krate;
            *output = parse_quote!(#krate::__private::Subscription<#output>);
            *may_be_no_result = false;
        }
    }
}

/// Methods that are never compiled together may share an event. It is not for an attribute to evaluate a
/// `#[cfg]`: if there is one, rustc finds the two.
fn are_both_compiled(one: &Callee, other: &Callee) -> bool {
    one.cfgs.is_empty() && other.cfgs.is_empty()
}

fn one_method_for_each_event(errors: &Errors, handler: &Handler) {
    let mut taken: HashMap<String, Vec<&Callee>> = HashMap::new();
    for EventMethod { event, callee, .. } in &handler.methods {
        let others = taken.entry(event.to_token_stream().to_string()).or_default();
        if let Some(Callee { ident, .. }) = others.iter().find(|other| are_both_compiled(other, callee)) {
            let event = event.to_token_stream();
            let text =
                format_args!("`{ident}` takes the event `{event}` already: there is one method for each");
            errors.at(&event, text);
        }
        others.push(callee);
    }
}
