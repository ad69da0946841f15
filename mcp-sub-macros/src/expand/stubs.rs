//! Impls that do nothing: beside an error, so that the rest of the user's code compiles, and for rustdoc.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{Context, bounds, dispatch, event, markers, relayed};
use crate::model::{Callee, EventMethod, Subscribe};

/// What there is beside an error.
pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let Context { krate, private, handler, .. } = context;
    let state = handler.subscribe.first().map(|subscribe| &subscribe.output);
    let state = state.map_or_else(|| quote!(()), |output| quote!(<#output as #private::Subscribed>::State));
    // A block without `subscribe` may be the second one of its type, whose first has these. Its channels have no need of
    // them.
    let has_subscribe = !handler.subscribe.is_empty();
    let declares = has_subscribe.then(|| markers::permissive_declares(context));
    let marked = handler.methods.iter().enumerate().filter(|_| has_subscribe).map(
        |(position, EventMethod { callee, .. })| {
            let (cfgs, marked) =
                (&callee.cfgs, markers::marked_impl(context, position, &quote!(#krate::AnyNotification)));
            quote!(#(#cfgs)* #marked)
        },
    );
    let lagged =
        has_subscribe.then(|| markers::lagged_impl(context, &quote!(#krate::AnyNotification))).flatten();
    let bounds = bounds::of_handler(context);
    let handler = handler_impl(context, &bounds, &state);
    let relayed = has_subscribe.then(|| relayed::stub(context, &bounds));
    let events = handles_impls(context, |method| bounds::of_event(context, method));
    quote!(#handler #events #relayed #(#marked)* #lagged #declares)
}

/// What rustdoc shows instead of the impls, if their bounds hold and tell a reader nothing: those of a generic block say
/// something.
pub(super) fn shown(context: &Context<'_>) -> Option<TokenStream> {
    let [Subscribe { output, state, .. }] = &context.handler.subscribe[..] else { return None };
    if !context.generics.is_empty() {
        return None;
    }
    let private = &context.private;
    let state = state
        .as_ref()
        .map_or_else(|| quote!(<#output as #private::Subscribed>::State), ToTokens::to_token_stream);
    let handler = handler_impl(context, &context.where_clause, &state);
    let events = handles_impls(context, |_| context.where_clause.clone());
    let relayed = relayed::stub(context, &context.where_clause);
    Some(quote!(#handler #events #relayed))
}

fn handler_impl(context: &Context<'_>, bounds: &TokenStream, state: &TokenStream) -> TokenStream {
    let krate = &context.krate;
    let (event, declared, subscribe) =
        (event::ty(context), dispatch::declared(context), subscribe_item(context));
    let header = context.header(&quote!(#krate::SubscriptionHandler));
    quote! {
        #[automatically_derived]
        #header #bounds {
            type Event = #event;
            type State = #state;
            #declared
            fn kinds(_: &Self::Event) -> #krate::Kinds {
                #krate::Kinds::NONE
            }
            #subscribe
            async fn handle_event(
                &self,
                _: &Self::Event,
                _: &mut #krate::Channel<'_, #krate::AnyNotification>,
                _: &mut Self::State,
            ) -> #krate::Flow {
                loop {}
            }
        }
    }
}

pub(super) fn subscribe_item(context: &Context<'_>) -> TokenStream {
    let krate = &context.krate;
    quote! {
        async fn subscribe(
            &self,
            _: &mut #krate::Filter<'_, Self>,
            _: &#krate::ListenRequest,
            _: &#krate::Inbox<Self>,
        ) -> ::core::result::Result<Self::State, #krate::Rejection> {
            loop {}
        }
    }
}

fn handles_impls(context: &Context<'_>, bounds: impl Fn(&EventMethod) -> TokenStream) -> TokenStream {
    let methods = &context.handler.methods;
    // A second impl for the same event would be one more error.
    let mut events = HashSet::new();
    let is_first = |method: &&EventMethod| events.insert(method.event.to_token_stream().to_string());
    let impls = methods.iter().filter(is_first).map(|method| {
        let EventMethod { callee: Callee { cfgs, .. }, event, .. } = method;
        let (krate, all, bounds) = (&context.krate, event::ty(context), bounds(method));
        let (named, alias) = event::named(context, method);
        let header = context.header(&quote!(#krate::Handles<#named>));
        quote! {
            #alias
            #(#cfgs)*
            #[automatically_derived]
            #header #bounds {
                type Events = #all;
                fn into_event(_: #event) -> #all {
                    loop {}
                }
            }
        }
    });
    impls.collect()
}
