//! Events as what goes to other processes, with the option `relay`: each by the name of its method.
//!
//! The runtime crate knows how a value is written, so that nothing is derived here and nobody has to depend on a crate for
//! it but for their own types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use super::{Context, bounds, event};
use crate::{
    model::{Callee, EventMethod},
    spans::Ends,
};

pub(super) fn items(context: &Context<'_>) -> TokenStream {
    if context.handler.options.relay.is_none() {
        return TokenStream::new();
    }
    let (private, name, all) = (&context.private, event::name(context), event::ty(context));
    let encode = event::matched(context, |method| {
        let name = method.callee.ident.unraw().to_string();
        let encode = Ends::qualified(&method.event, quote!(#private::RelayedEvent>::encode));
        (quote!(ref __event), quote!(#encode(__event, #name)))
    });
    let decode = context.handler.methods.iter().map(|EventMethod { callee, event, .. }| {
        let Callee { ident, cfgs, .. } = callee;
        let method = ident.unraw().to_string();
        let decode = Ends::qualified(event, quote!(#private::RelayedEvent>::decode));
        quote!(#(#cfgs)* #method => #private::Some(#decode(__encoded).map(#name::#ident)),)
    });
    implemented(
        context,
        &bounds::of_relayed(context),
        &quote! {
            fn encode(__event: &#all) -> #private::Encoded {
                #encode
            }

            fn decode(__encoded: &#private::EncodedEvent<'_>) -> #private::Decoded<#all> {
                match __encoded.name() {
                    #(#decode)*
                    _ => #private::Option::None,
                }
            }
        },
    )
}

/// What there is beside an error, and in documentation.
pub(super) fn stub(context: &Context<'_>, bounds: &TokenStream) -> TokenStream {
    if context.handler.options.relay.is_none() {
        return TokenStream::new();
    }
    let (private, all) = (&context.private, event::ty(context));
    implemented(
        context,
        bounds,
        &quote! {
            fn encode(_: &#all) -> #private::Encoded {
                loop {}
            }

            fn decode(_: &#private::EncodedEvent<'_>) -> #private::Decoded<#all> {
                loop {}
            }
        },
    )
}

fn implemented(context: &Context<'_>, bounds: &TokenStream, items: &TokenStream) -> TokenStream {
    let (krate, word) = (&context.krate, &context.handler.options.relay);
    // At the word, where rustc says that the feature is missing.
    let module = word.iter();
    let header = context.header(&quote!(#krate::#(#module)*::RelayedHandler));
    quote!(#[automatically_derived] #header #bounds { #items })
}
