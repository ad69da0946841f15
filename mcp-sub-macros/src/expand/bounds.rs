//! What the runtime needs of the user's types, as the bounds of the generated impls.
//!
//! A bound that does not hold makes rustc report just that, at the user's type, and take it for granted inside of the
//! impl. It is the same in all of them, to the span, so that it is reported once. In a generic block it does not have to
//! hold: it is for whoever uses the handler to meet.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;

use crate::{
    block::Block,
    model::{Callee, Checked, EventMethod, Handler, Subscribe},
    spans::Ends,
};

pub(super) fn where_clause(block: &Block, handler: &Handler) -> TokenStream {
    let krate = &handler.options.krate;
    let private = quote!(#krate::__private);
    let shared = quote!(#private::Shared);
    // In a generic block, a bound on a return type would be for its user to meet, and hide the impl from the block.
    let is_generic = !block.generics.params.is_empty();
    let written = block.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut bounds: Vec<TokenStream> = written.map(ToTokens::to_token_stream).collect();
    bounds.push(bound(&block.self_ty, &block.self_ty, &shared));
    let methods = handler.methods.iter().filter(|method| is_always_compiled(&method.callee));
    for EventMethod { event, output, .. } in methods {
        bounds.push(bound(event, event, &shared));
        let output = output.iter().filter(|_| !is_generic);
        bounds.extend(output.map(|output| bound(output, output, &quote!(#krate::IntoFlow))));
    }
    let subscribe = handler.subscribe.iter().filter(|subscribe| is_always_compiled(&subscribe.callee));
    for Subscribe { output, checked, .. } in subscribe {
        bounds.extend(match checked {
            Checked::Error(error) => Some(bound(error, error, &quote!(#private::Into<#krate::Rejection>))),
            Checked::Whole if !is_generic => Some(bound(output, output, &quote!(#private::Subscribed))),
            Checked::Whole | Checked::Nothing => None,
        });
        let state = quote!(<#output as #private::Subscribed>::State);
        bounds.push(bound(state, output, &quote!(#private::Owned)));
    }
    quote!(where #(#bounds),*)
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
