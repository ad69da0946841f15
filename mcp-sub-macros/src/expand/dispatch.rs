//! The impls through which the runtime calls the methods.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

use super::{Context, any, bounds, event, markers, relayed, stubs};
use crate::{
    model::{
        Callee, Capabilities, Close, CloseArgument, EventArgument, EventMethod, Handler, Lagged,
        LaggedArgument, Subscribe, SubscribeArgument,
    },
    spans::{Ends, respan},
};

pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let handler = handler_impl(context);
    let events = context.handler.methods.iter().map(|method| handles_impl(context, method));
    let relayed = relayed::items(context);
    let impls = quote!(#handler #(#events)* #relayed);
    let Some(shown) = stubs::shown(context) else { return impls };
    quote! {
        #[cfg(not(doc))]
        const _: () = { #impls };
        #[cfg(doc)]
        const _: () = { #shown };
    }
}

/// The state, as the return type of `subscribe` says it.
fn state_item(context: &Context<'_>, Subscribe { callee, output, .. }: &Subscribe) -> TokenStream {
    let (private, cfgs, place) = (&context.private, &callee.cfgs, Ends::of(output));
    let state = Ends::qualified(output, quote!(#private::Subscribed>::State));
    let (type_, end) = (respan(quote!(type State =), place.first), respan(quote!(;), place.last));
    quote!(#(#cfgs)* #type_ #state #end)
}

/// What there is where no `subscribe` is compiled, if that can be: the error, and what the impl has instead.
fn without_subscribe(context: &Context<'_>) -> Option<[TokenStream; 2]> {
    let handler = context.handler;
    let condition = any(handler.subscribe.iter().map(|subscribe| &subscribe.callee))?;
    let text = "no `subscribe` is compiled: each has a `#[cfg(...)]` that does not hold";
    let error = syn::Error::new_spanned(&handler.name, text).into_compile_error();
    let item = stubs::subscribe_item(context);
    Some([
        quote!(#[cfg(not(#condition))] #error),
        quote!(#[cfg(not(#condition))] type State = (); #[cfg(not(#condition))] #item),
    ])
}

fn handler_impl(context: &Context<'_>) -> TokenStream {
    let [error, missing] = without_subscribe(context).unwrap_or_default();
    let Context { krate, private, handler, .. } = context;
    let event = event::ty(context);
    let subscribe = handler.subscribe.iter().map(|subscribe| subscribe_item(context, subscribe));
    let capabilities = handler.capabilities.iter().map(|asked| capabilities_item(context, asked));
    let lagged = handler.lagged.iter().map(|lagged| lagged_item(context, lagged));
    let close = handler.close.iter().map(|close| close_item(context, close));
    let declared = declared(context);
    let depends_on_caller = depends_on_caller(context);
    let kinds = event::matched(context, |method| {
        let kinds = markers::kinds(context, method);
        (quote!(_), kinds)
    });
    let state = handler.subscribe.iter().map(|subscribe| state_item(context, subscribe));
    let called = event::matched(context, |method| (quote!(ref __event), event_call(context, method)));
    let (header, bounds) =
        (context.header(&quote!(#krate::SubscriptionHandler)), bounds::of_handler(context));
    quote! {
        #error

        #[automatically_derived]
        #header #bounds {
            type Event = #event;
            #(#state)*

            #declared
            #depends_on_caller

            fn kinds(__event: &#event) -> #krate::Kinds {
                #kinds
            }

            #(#subscribe)*
            #missing

            #(#capabilities)*

            fn handle_event(
                &self,
                __event: &#event,
                __channel: &mut #krate::Channel<'_, #krate::AnyNotification>,
                __state: &mut Self::State,
            ) -> impl #private::Future<Output = #krate::Flow> + #private::Send {
                async move { #called }
            }

            #(#lagged)*

            #(#close)*
        }
    }
}

/// All that the methods declare.
pub(super) fn declared(context: &Context<'_>) -> TokenStream {
    let Context { krate, handler, .. } = context;
    let declared = handler.methods.iter().map(|method| {
        let (cfgs, kinds) = (&method.callee.cfgs, markers::kinds(context, method));
        quote!(#(#cfgs)* let __kinds = __kinds.union(#kinds);)
    });
    quote! {
        const DECLARED: #krate::Kinds = {
            let __kinds = #krate::Kinds::NONE;
            #(#declared)*
            __kinds
        };
    }
}

/// Whether who asks makes a difference; if it does, that is what the trait says.
fn depends_on_caller(context: &Context<'_>) -> Option<TokenStream> {
    let Handler { subscribe, capabilities, .. } = context.handler;
    let is_asked =
        subscribe.iter().any(|subscribe| subscribe.arguments.contains(&SubscribeArgument::Request));
    let depends = is_asked || !capabilities.is_empty();
    (!depends).then(|| {
        quote!(
            const DEPENDS_ON_CALLER: bool = false;
        )
    })
}

fn subscribe_item(context: &Context<'_>, subscribe: &Subscribe) -> TokenStream {
    let Context { krate, private, .. } = context;
    let Subscribe { callee, arguments, .. } = subscribe;
    let cfgs = &callee.cfgs;
    let arguments = arguments.iter().map(|argument| match argument {
        SubscribeArgument::Filter => quote!(__filter),
        SubscribeArgument::Request => quote!(__request),
        SubscribeArgument::Inbox => quote!(__inbox),
    });
    let Callee { ident, is_async, .. } = callee;
    let awaited = is_async.then(|| quote!(.await));
    // Reported at the method's name: that the future is not `Send`.
    let [function, output] = [quote!(async fn subscribe), quote!(-> #private::Subscription<Self::State>)]
        .map(|tokens| respan(tokens, ident.span()));
    let mut body = Group::new(
        Delimiter::Brace,
        quote!(#private::Subscribed::into_result(Self::#ident(self, #(#arguments),*) #awaited)),
    );
    body.set_span(ident.span());
    let parameters = quote! {
        &self,
        __filter: &mut #krate::Filter<'_, Self>,
        __request: &#krate::ListenRequest,
        __inbox: &#krate::Inbox<Self>
    };
    quote!(#(#cfgs)* #function(#parameters) #output #body)
}

/// With its return type, so that rustc reports there one that is not `Kinds`.
fn capabilities_item(
    context: &Context<'_>,
    Capabilities { callee, parameter, output }: &Capabilities,
) -> TokenStream {
    let Context { krate, private, .. } = context;
    let cfgs = &callee.cfgs;
    let argument = parameter.map(|place| place.lent(quote!(&), quote!(*__caller)));
    let call = call(callee, &quote!(self), argument.as_slice());
    let output = output.as_ref().map_or_else(|| quote!(_), ToTokens::to_token_stream);
    let kinds = Ends::qualified(output, quote!(#private::Capabilities>::into_kinds));
    quote! {
        #(#cfgs)*
        fn subscription_capabilities(&self, __caller: &#krate::Caller) -> #private::Option<#krate::Kinds> {
            #private::Some(#kinds(#call))
        }
    }
}

fn lagged_item(context: &Context<'_>, Lagged { callee, arguments, output }: &Lagged) -> TokenStream {
    let Context { krate, private, .. } = context;
    let cfgs = &callee.cfgs;
    let arguments = arguments.iter().map(|argument| match argument {
        LaggedArgument::Missed(place) => place.lent(quote!(&), quote!(*__missed)),
        LaggedArgument::Channel(place) => place.lent(quote!(&mut), quote!(__channel.narrowed())),
        LaggedArgument::State(ty) => Ends::of(ty).lent(quote!(&mut), quote!(*__state)),
    });
    let flow = flow(context, callee, &arguments.collect::<Vec<_>>(), output.as_ref());
    quote! {
        #(#cfgs)*
        fn handle_lagged(
            &self,
            __missed: &#krate::Missed<'_>,
            __channel: &mut #krate::Channel<'_, #krate::AnyNotification>,
            __state: &mut Self::State,
        ) -> impl #private::Future<Output = #krate::Flow> + #private::Send {
            async move { #flow }
        }
    }
}

fn close_item(context: &Context<'_>, Close { callee, arguments }: &Close) -> TokenStream {
    let Context { krate, private, .. } = context;
    let (cfgs, at) = (&callee.cfgs, callee.ident.span());
    let (mut reason, mut state) = (quote!(__reason), quote!(__state));
    let arguments = arguments.iter().map(|argument| match argument {
        CloseArgument::Reason(place) => local(&mut reason, *place),
        CloseArgument::State(ty) => local(&mut state, Ends::of(ty)),
    });
    let call = call(callee, &quote_spanned!(at=> self), &arguments.collect::<Vec<_>>());
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
fn handles_impl(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    let EventMethod { callee: Callee { ident, cfgs, .. }, event, .. } = method;
    let (krate, name, all) = (&context.krate, event::name(context), event::ty(context));
    let (named, alias) = event::named(context, method);
    let header = context.header(&quote!(#krate::Handles<#named>));
    let item = Ends::of(event).item(
        header,
        &bounds::of_event(context, method),
        quote! {
            type Events = #all;
            fn into_event(__event: #event) -> #all {
                #name::#ident(__event)
            }
        },
    );
    quote!(#alias #(#cfgs)* #[automatically_derived] #item)
}

fn event_call(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    let EventMethod { callee, arguments, output, .. } = method;
    let arguments = arguments.iter().map(|argument| match argument {
        EventArgument::Event(place) => place.lent(quote!(&), quote!(*__event)),
        EventArgument::Channel(place) => place.lent(quote!(&mut), quote!(__channel.narrowed())),
        EventArgument::State(ty) => Ends::of(ty).lent(quote!(&mut), quote!(*__state)),
    });
    flow(context, callee, &arguments.collect::<Vec<_>>(), output.as_ref())
}

/// The flow of one method: with its return type, so that rustc reports there one that cannot be.
fn flow(
    context: &Context<'_>,
    callee: &Callee,
    arguments: &[TokenStream],
    output: Option<&Type>,
) -> TokenStream {
    let Context { krate, private, .. } = context;
    let at = callee.ident.span();
    let call = call(callee, &quote!(self), arguments);
    let value = if callee.is_async {
        let future = respan(quote!(#private::method_future), at);
        quote_spanned!(at=> #future(#call).await)
    } else {
        call
    };
    let into_flow = quote!(#krate::IntoFlow>::into_flow);
    let into_flow =
        if let Some(output) = output { Ends::qualified(output, into_flow) } else { quote!(<_ as #into_flow) };
    quote!(#into_flow(#value))
}

/// `Self::method(self, …)`, at the method's name: there rustc says that the future is not `Send`, since it is handed on as
/// it is.
///
/// `this` is a `self` with the span of the function that this goes into. One that was written elsewhere would be another
/// one to rustc, where the name comes from a `macro_rules!`.
fn call(Callee { ident, .. }: &Callee, this: &TokenStream, arguments: &[TokenStream]) -> TokenStream {
    quote_spanned!(ident.span()=> Self::#ident(#this, #(#arguments),*))
}

/// A parameter of generated code, where it is handed on: at the type of the user's parameter, so that rustc reports there
/// that the types differ. It is declared with that very span, or it would be another name to rustc where the type comes
/// from a `macro_rules!`.
fn local(name: &mut TokenStream, place: Ends) -> TokenStream {
    *name = respan(std::mem::take(name), place.last);
    name.clone()
}
