//! What the runtime needs of the user's types, as the bounds of the generated impls.
//!
//! A bound that does not hold makes rustc report just that, at the user's type, and take it for granted inside of the
//! impl. In a generic block it does not have to hold: it is for whoever uses the handler to meet.
//!
//! One with a lifetime, `for<'__a>`, is taken for granted as well, but rustc does not check it where it is written. That
//! is for what another bound reports. No impl has a bound for each method, or the output would be quadratic.

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
    let (private, event) = (&context.private, event::ty(context));
    let mut bounds = vec![
        bound(quote!(Self), &context.block.self_ty, &quote!(#private::Shared)),
        quote!(for<'__a> #event: #private::Shared),
    ];
    bounds.extend(subscribe(context).iter().flat_map(|subscribe| of_subscribe(context, subscribe)));
    where_clause(context, bounds)
}

/// Of the impl by which events go to other processes: a bound for each method, as nothing else says of what does not hold
/// only once.
pub(super) fn of_relayed(context: &Context<'_>) -> TokenStream {
    let Context { private, handler, block, .. } = context;
    let methods = handler.methods.iter().filter(|method| is_always_compiled(&method.callee));
    let mut bounds: Vec<_> = methods
        .map(|EventMethod { event, .. }| bound(event, event, &quote!(#private::RelayedEvent)))
        .collect();
    // In a block that is not generic, being a handler is a fact.
    if !context.generics.is_empty() {
        let event = event::ty(context);
        bounds.push(bound(quote!(Self), &block.self_ty, &quote!(#private::Shared)));
        bounds.push(quote!(for<'__a> #event: #private::Shared));
        bounds.extend(subscribe(context).iter().flat_map(|subscribe| of_subscribe(context, subscribe)));
    }
    where_clause(context, bounds)
}

/// Of the impl that has to do with the event of one. The future of an `async fn` holds a reference to it, and rustc
/// reports there that it cannot be shared.
pub(super) fn of_event(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    let EventMethod { callee, event, .. } = method;
    let (private, (named, _)) = (&context.private, event::named(context, method));
    let needed = if callee.is_async { quote!(#private::Owned) } else { quote!(#private::Shared) };
    where_clause(context, [bound(named, event, &needed)])
}

fn where_clause(context: &Context<'_>, bounds: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let written = context.block.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bounds = written.map(ToTokens::to_token_stream).chain(bounds);
    quote!(where #(#bounds),*)
}

fn of_subscribe(context: &Context<'_>, subscribe: &Subscribe) -> Vec<TokenStream> {
    let private = &context.private;
    let Subscribe { output, error, may_be_no_result, .. } = subscribe;
    let subscribed = quote!(<#output as #private::Subscribed>);
    let mut bounds = vec![
        bound(quote!(#subscribed::State), output, &quote!(#private::Owned)),
        // Where it is written out, by itself: rustc does not check a bound in which lifetimes are bound, as in the
        // state next to it.
        match error {
            Some(error) => bound(error, error, &quote!(#private::Refusal)),
            None => bound(quote!(#subscribed::Error), output, &quote!(#private::Refusal)),
        },
    ];
    // What may be an alias of a `Result`, or something else. rustc takes the bound for the better way to the state where
    // it cannot tell that the two are the same: in a generic block, and of a type that binds lifetimes. There it is left
    // out.
    if *may_be_no_result && context.generics.is_empty() {
        bounds.insert(0, bound(output, output, &quote!(#private::Subscribed)));
    }
    bounds
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
