//! The impls through which the runtime calls the methods.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{Context, bounds, event, markers};
use crate::{
    model::{Callee, Close, CloseArgument, EventArgument, EventMethod, Subscribe, SubscribeArgument},
    spans::{Ends, respan},
};

pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let methods = &context.handler.methods;
    let state = state_impl(context);
    let (of_handler, of_use) = (bounds::of_handler(context), bounds::of_use(context));
    let written = &context.where_clause;
    // rustdoc shows the impls of public traits with their bounds. In a generic block these say something. Else they hold,
    // and tell a reader nothing: there it gets the same impls without them.
    let impls = if context.generics.is_empty() {
        let compiled = impls(context, &quote!(#[cfg(not(doc))]), &of_handler, &of_use);
        let shown = impls(context, &quote!(#[cfg(doc)]), written, written);
        quote!(#compiled #shown)
    } else {
        impls(context, &TokenStream::new(), &of_handler, &of_use)
    };
    let calls = methods.iter().map(|method| method_impl(context, method));
    quote!(#state #impls #(#calls)*)
}

/// Those of public traits.
fn impls(
    context: &Context<'_>,
    cfg: &TokenStream,
    of_handler: &TokenStream,
    of_use: &TokenStream,
) -> TokenStream {
    let handler = handler_impl(context, of_handler);
    let events = context.handler.methods.iter().map(|method| handles_impl(context, method, of_use));
    quote!(#cfg #handler #(#cfg #events)*)
}

/// The state, in an impl of its own: what calls one method then needs no bound of another.
fn state_impl(context: &Context<'_>) -> TokenStream {
    let Context { private, handler, .. } = context;
    let state = handler.subscribe.iter().map(|Subscribe { callee: Callee { cfgs, .. }, output, .. }| {
        let place = Ends::of(output);
        let state = place.respan(quote!(<#output as #private::Subscribed>::State));
        let state = [respan(quote!(type State =), place.first), state, respan(quote!(;), place.last)];
        quote!(#(#cfgs)* #(#state)*)
    });
    let (header, bounds) = (context.header(&quote!(#private::Stated)), bounds::of_state(context));
    quote!(#[doc(hidden)] #[automatically_derived] #header #bounds { #(#state)* })
}

fn handler_impl(context: &Context<'_>, bounds: &TokenStream) -> TokenStream {
    let Context { krate, private, handler, .. } = context;
    let event = event::ty(context);
    let subscribe = handler.subscribe.iter().map(|subscribe| subscribe_item(context, subscribe));
    let close = handler.close.iter().map(|close| close_item(context, close));
    let declared = handler.methods.iter().map(|method| {
        let (cfgs, kinds) = (&method.callee.cfgs, markers::kinds(context, method));
        quote!(#(#cfgs)* let __kinds = __kinds.union(#kinds);)
    });
    let kinds = event::matched(context, |method| {
        let kinds = markers::kinds(context, method);
        (quote!(_), kinds)
    });
    let called = event::matched(context, |EventMethod { callee, event, .. }| {
        let marker = markers::path(callee);
        let method = quote!(<Self as #private::Method<#marker, #event>>);
        let call = quote!(#method::call(self, __event, &mut __channel.narrowed(), __state));
        (quote!(ref __event), quote!(#krate::IntoFlow::into_flow(#call.await)))
    });
    let header = context.header(&quote!(#krate::SubscriptionHandler));
    quote! {
        #[automatically_derived]
        #header #bounds {
            type Event = #event;
            type State = <Self as #private::Stated>::State;

            const DECLARED: #krate::Kinds = {
                let __kinds = #krate::Kinds::NONE;
                #(#declared)*
                __kinds
            };

            fn kinds(__event: &Self::Event) -> #krate::Kinds {
                #kinds
            }

            #(#subscribe)*

            fn handle_event(
                &self,
                __event: &Self::Event,
                __channel: &mut #krate::Channel<'_, #krate::AnyNotification>,
                __state: &mut Self::State,
            ) -> impl #private::Future<Output = #krate::Flow> + #private::Send {
                async move { #called }
            }

            #(#close)*
        }
    }
}

fn subscribe_item(context: &Context<'_>, Subscribe { callee, arguments, .. }: &Subscribe) -> TokenStream {
    let Context { krate, private, .. } = context;
    let cfgs = &callee.cfgs;
    let arguments = arguments.iter().map(|argument| match argument {
        SubscribeArgument::Filter => quote!(__filter),
        SubscribeArgument::Request => quote!(__request),
    });
    let Callee { ident, is_async, .. } = callee;
    let awaited = is_async.then(|| quote!(.await));
    let function = quote! {
        async fn subscribe(
            &self,
            __filter: &mut #krate::Filter<'_, Self>,
            __request: &#krate::ListenRequest,
        ) -> #private::Result<Self::State, #krate::Rejection> {
            #private::Subscribed::into_result(Self::#ident(self, #(#arguments),*) #awaited)
        }
    };
    // Reported at the method's name: that the future is not `Send`.
    let function = Ends::from(ident.span()).respan(function);
    quote!(#(#cfgs)* #function)
}

fn close_item(context: &Context<'_>, Close { callee, arguments }: &Close) -> TokenStream {
    let Context { krate, private, .. } = context;
    let (cfgs, at) = (&callee.cfgs, callee.ident.span());
    let (mut reason, mut state) = (quote!(__reason), quote!(__state));
    let arguments = arguments.iter().map(|argument| match argument {
        CloseArgument::Reason(place) => local(&mut reason, *place),
        CloseArgument::State(ty) => local(&mut state, Ends::of(ty)),
    });
    let call = call(callee, &arguments.collect::<Vec<_>>());
    let future = if callee.is_async { call } else { quote_spanned!(at=> #private::ready(#call)) };
    let function = quote_spanned! {at=>
        fn handle_close(
            &self,
            #reason: #krate::CloseReason,
            #state: Self::State,
        ) -> impl #private::Future<Output = ()> + #private::Send {
            #future
        }
    };
    quote!(#(#cfgs)* #function)
}

/// `Handles<Ev>`, at the type of the event: there rustc reports a second method for it, if that hides behind an alias.
fn handles_impl(
    context: &Context<'_>,
    EventMethod { callee, event, .. }: &EventMethod,
    bounds: &TokenStream,
) -> TokenStream {
    let Callee { ident, cfgs, .. } = callee;
    let (krate, name) = (context.krate, event::name(context));
    let header = context.header(&quote!(#krate::Handles<#event>));
    let item = Ends::of(event).item(
        header,
        bounds,
        quote! {
            fn into_event(__event: #event) -> Self::Event {
                #name::#ident(__event)
            }
        },
    );
    quote!(#(#cfgs)* #[automatically_derived] #item)
}

/// `Method<MARKER, Ev>`, with nothing in it but the call.
fn method_impl(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    let Context { krate, private, .. } = context;
    let EventMethod { callee, event, arguments, .. } = method;
    let (cfgs, marker, at) = (&callee.cfgs, markers::path(callee), callee.ident.span());
    let (mut event_, mut channel, mut state) = (quote!(__event), quote!(__channel), quote!(__state));
    let arguments = arguments.iter().map(|argument| match argument {
        EventArgument::Event(place) => local(&mut event_, *place),
        EventArgument::Channel(place) => local(&mut channel, *place),
        EventArgument::State(ty) => {
            let place = Ends::of(ty);
            let state = local(&mut state, place);
            // The whole of `&mut STATE` is underlined: it begins and ends where this does.
            place.respan(quote!(&mut *#state))
        }
    });
    let call = call(callee, &arguments.collect::<Vec<_>>());
    // What an `fn` returns need not be `Send`: it is not kept.
    let future = if callee.is_async {
        call
    } else {
        quote_spanned!(at=> #private::ready(#krate::IntoFlow::into_flow(#call)))
    };
    let header = context.header(&quote!(#private::Method<#marker, #event>));
    let function = quote_spanned! {at=>
        fn call(
            &self,
            #event_: &#event,
            #channel: &mut #krate::Channel<'_, #marker>,
            #state: &mut Self::State,
        ) -> impl #private::Future<Output: #krate::IntoFlow> + #private::Send {
            #future
        }
    };
    let item = Ends::of(event).item(header, &bounds::of_method(context, method), function);
    quote!(#(#cfgs)* #[automatically_derived] #item)
}

/// `Self::method(self, …)`. An `async fn` is called and no more, so that the future is its own: if it is not `Send`, rustc
/// says so at the method's name.
///
/// `self` has the span of that name, and so have those of the functions that this goes into: a `self` that was written
/// elsewhere would be another one to rustc, where the name comes from a `macro_rules!`.
fn call(Callee { ident, .. }: &Callee, arguments: &[TokenStream]) -> TokenStream {
    quote_spanned!(ident.span()=> Self::#ident(self, #(#arguments),*))
}

/// A parameter of generated code, where it is handed on: at the type of the user's parameter, so that rustc reports there
/// that the types differ. It is declared with that very span, or it would be another name to rustc where the type comes
/// from a `macro_rules!`.
fn local(name: &mut TokenStream, place: Ends) -> TokenStream {
    *name = respan(std::mem::take(name), place.last);
    name.clone()
}
