//! What the runtime needs of the user's types, as the bounds of the generated impls.
//!
//! A bound that does not hold makes rustc report just that, at the user's type, and take it for granted inside of the
//! impl. Where several impls have it, it is the same in all of them, to the span, so that it is reported once. In a
//! generic block it does not have to hold: it is for whoever uses the handler to meet.
//!
//! Only one impl has the bounds of all methods, or the output would be quadratic.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;

use super::{Context, event};
use crate::{
    model::{Callee, EventMethod, Subscribe},
    spans::Ends,
};

/// Of the impl that has to do with all of the methods.
pub(super) fn of_handler(context: &Context<'_>) -> TokenStream {
    let methods = context.handler.methods.iter().filter(|method| is_always_compiled(&method.callee));
    let methods = methods.flat_map(|method| of_event(context, method));
    where_clause(context, of_subscription(context).into_iter().chain(refusal(context)).chain(methods))
}

/// Of the impl that says what the state is.
pub(super) fn of_state(context: &Context<'_>) -> TokenStream {
    where_clause(context, result(context))
}

/// Of an impl that has to do with one method.
pub(super) fn of_method(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    where_clause(context, of_subscription(context).into_iter().chain(of_event(context, method)))
}

/// Of an impl for what has to be a handler. Whether it is one was checked: this is taken for granted, since rustc does not
/// check a bound with a lifetime where it is written.
pub(super) fn of_use(context: &Context<'_>) -> TokenStream {
    let (krate, self_ty, event) = (context.krate, context.self_ty, event::ty(context));
    let handler = quote!(for<'__a> #self_ty: #krate::SubscriptionHandler<Event = #event>);
    where_clause(context, [handler])
}

fn where_clause(context: &Context<'_>, bounds: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let written = context.block.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bounds = written.map(ToTokens::to_token_stream).chain(bounds);
    quote!(where #(#bounds),*)
}

/// What each future holds.
fn of_subscription(context: &Context<'_>) -> Vec<TokenStream> {
    let Context { private, self_ty, .. } = context;
    let mut bounds = vec![bound(self_ty, self_ty, &quote!(#private::Shared))];
    bounds.extend(result(context));
    bounds.extend(subscribe(context).map(|Subscribe { output, .. }| {
        bound(quote!(<#output as #private::Subscribed>::State), output, &quote!(#private::Owned))
    }));
    bounds
}

/// What may be an alias of a `Result`, or something else. rustc takes the bound for the better way to the state where it
/// cannot tell that the two are the same: in a generic block, and of a type that binds lifetimes. There it is left out.
fn result(context: &Context<'_>) -> Option<TokenStream> {
    let Subscribe { output, may_be_no_result, .. } = subscribe(context)?;
    let private = &context.private;
    (*may_be_no_result && context.generics.is_empty())
        .then(|| bound(output, output, &quote!(#private::Subscribed)))
}

fn of_event(context: &Context<'_>, EventMethod { event, output, .. }: &EventMethod) -> Vec<TokenStream> {
    let Context { krate, private, .. } = context;
    let mut bounds = vec![bound(event, event, &quote!(#private::Shared))];
    // In a generic block, a bound on a return type would be for its user to meet, and hide the impl from the block.
    let output = output.iter().filter(|_| context.generics.is_empty());
    bounds.extend(output.map(|output| bound(output, output, &quote!(#krate::IntoFlow))));
    bounds
}

fn refusal(context: &Context<'_>) -> Option<TokenStream> {
    let private = &context.private;
    let Subscribe { output, error, .. } = subscribe(context)?;
    let place = error.as_ref().unwrap_or(output);
    Some(bound(quote!(<#output as #private::Subscribed>::Error), place, &quote!(#private::Refusal)))
}

fn subscribe<'a>(context: &'a Context<'_>) -> Option<&'a Subscribe> {
    context.handler.subscribe.iter().find(|subscribe| is_always_compiled(&subscribe.callee))
}

/// A bound cannot have a `#[cfg]`. Without it, what does not hold is reported all the same, but in other words.
fn is_always_compiled(callee: &Callee) -> bool {
    callee.cfgs.is_empty()
}

/// `ty: trait_`, which rustc reports at `place`.
fn bound(ty: impl ToTokens, place: &Type, trait_: &TokenStream) -> TokenStream {
    let trait_ = Ends::of(place).respan(trait_.clone());
    quote!(#ty: #trait_)
}
