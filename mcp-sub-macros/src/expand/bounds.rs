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
    model::{Callee, EventMethod, Handler, Subscribe},
    spans::Ends,
};

pub(super) fn where_clause(block: &Block, handler: &Handler, private: &TokenStream) -> TokenStream {
    let shared = quote!(#private::Shared);
    let written = block.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut bounds: Vec<TokenStream> = written.map(ToTokens::to_token_stream).collect();
    bounds.push(bound(&block.self_ty, &block.self_ty, &shared));
    for EventMethod { event, .. } in
        handler.methods.iter().filter(|method| is_always_compiled(&method.callee))
    {
        bounds.push(bound(event, event, &shared));
    }
    for Subscribe { output, .. } in
        handler.subscribe.iter().filter(|subscribe| is_always_compiled(&subscribe.callee))
    {
        // In a generic block this bound would come before the impl that says what the state is.
        if block.generics.params.is_empty() {
            bounds.push(bound(output, output, &quote!(#private::Subscribed)));
        }
        bounds.push(bound(
            quote!(<#output as #private::Subscribed>::State),
            output,
            &quote!(#private::Owned),
        ));
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
