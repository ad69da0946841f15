//! What there is beside an error, so that the rest of the user's code compiles. It is never run.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, bounds, event, markers};
use crate::model::EventMethod;

pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let Context { krate, private, handler, .. } = context;
    let (bounds, use_) = (bounds::of_handler(context), bounds::of_use(context));
    let event = event::ty(context);
    let state = handler.subscribe.first().map(|subscribe| &subscribe.output);
    let state = state.map_or_else(|| quote!(()), |output| quote!(<#output as #private::Subscribed>::State));
    let header = context.header(&quote!(#krate::SubscriptionHandler));
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
    // A second impl for the same event would be one more error.
    let is_first = |&(position, method): &(usize, &EventMethod)| {
        !handler.methods[..position].iter().any(|first| first.event == method.event)
    };
    let events =
        handler.methods.iter().enumerate().filter(is_first).map(|(_, EventMethod { callee, event, .. })| {
            let (cfgs, header) = (&callee.cfgs, context.header(&quote!(#krate::Handles<#event>)));
            quote! {
                #(#cfgs)*
                #[automatically_derived]
                #header #use_ {
                    fn into_event(_: #event) -> Self::Event {
                        loop {}
                    }
                }
            }
        });
    quote! {
        #[automatically_derived]
        #header #bounds {
            type Event = #event;
            type State = #state;
            const DECLARED: #krate::Kinds = #krate::Kinds::NONE;
            fn kinds(_: &Self::Event) -> #krate::Kinds {
                #krate::Kinds::NONE
            }
            async fn subscribe(
                &self,
                _: &mut #krate::Filter<'_, Self>,
                _: &#krate::ListenRequest,
            ) -> #private::Result<Self::State, #krate::Rejection> {
                loop {}
            }
            async fn handle_event(
                &self,
                _: &Self::Event,
                _: &mut #krate::Channel<'_, #krate::AnyNotification>,
                _: &mut Self::State,
            ) -> #krate::Flow {
                loop {}
            }
        }
        #(#events)*
        #(#marked)*
        #declares
    }
}
