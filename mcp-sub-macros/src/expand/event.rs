//! The enum of the handler's events.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;

use super::Context;
use crate::{
    model::{Callee, EventMethod},
    spans::{Ends, respan},
};

/// The name of the enum: the user's choice, or one that no type in a signature has.
pub(super) fn name(context: &Context<'_>) -> Ident {
    context.handler.options.event.clone().unwrap_or_else(|| format_ident!("__SubscriptionEvent"))
}

/// The type, with the parameters of the handler.
pub(super) fn ty(context: &Context<'_>) -> TokenStream {
    let (name, arguments) = (name(context), &context.generic_arguments);
    quote!(#name #arguments)
}

/// The event of one method, for the header of an impl: by an alias, and the alias. About a type that does not exist, rustc
/// has other advice in a header than in the method's signature, and would say it twice. Parameters of a handler are not
/// worth an alias of their own.
pub(super) fn named(context: &Context<'_>, method: &EventMethod) -> (TokenStream, TokenStream) {
    let EventMethod { callee: Callee { ident, cfgs, .. }, event, .. } = method;
    if !context.generics.is_empty() {
        return (event.to_token_stream(), TokenStream::new());
    }
    let (name, event) =
        (format_ident!("__event_{}", ident.unraw()), context.without_self(event.to_token_stream()));
    let alias = quote!(#(#cfgs)* type #name = #event;);
    (respan(name.to_token_stream(), Ends::of(&method.event).first), alias)
}

/// A `match` on `__event`: for each method the pattern of its event, and the value.
///
/// On the value rather than the reference, since there may be no variant: all methods may be compiled out.
pub(super) fn matched(
    context: &Context<'_>,
    arm: impl Fn(&EventMethod) -> (TokenStream, TokenStream),
) -> TokenStream {
    let name = name(context);
    let arms = context.handler.methods.iter().map(|method| {
        let (Callee { ident, cfgs, .. }, (pattern, value)) = (&method.callee, arm(method));
        quote!(#(#cfgs)* #name::#ident(#pattern) => #value,)
    });
    let generic =
        generic_variant(context).map(|variant| quote!(#name::#variant(ref __never, _) => match *__never {},));
    quote!(match *__event { #(#arms)* #generic })
}

/// The variant that uses the parameters of a generic handler, if it is one. It cannot be made.
fn generic_variant(context: &Context<'_>) -> Option<Ident> {
    (!context.generics.is_empty()).then(|| format_ident!("__Generic"))
}

pub(super) fn item(context: &Context<'_>) -> TokenStream {
    let (handler, krate, self_ty) = (context.handler, &context.handler.options.krate, &context.block.self_ty);
    let name = name(context);
    let exported = handler.options.event.is_some();
    let variants = handler.methods.iter().map(|EventMethod { callee, event, .. }| {
        let (cfgs, ident) = (&callee.cfgs, &callee.ident);
        let doc = exported.then(|| format!(" Taken by the method `{ident}`."));
        let doc = doc.iter();
        let event = context.without_self(event.to_token_stream());
        quote!(#(#cfgs)* #(#[doc = #doc])* #ident(#event))
    });
    // A function, so that the enum is `Send`, `Sync` and `'static` by its events alone.
    let generic = generic_variant(context);
    let generic = generic.iter().map(|variant| {
        quote!(#[doc(hidden)] #variant(#krate::__private::Infallible, #krate::__private::PhantomData<fn() -> #self_ty>))
    });
    let variants = variants.chain(generic);
    let generics = context.without_self(context.generics.clone());
    let where_clause = context.without_self(context.where_clause.clone());
    let attributes = exported.then(|| {
        let doc = format!(" An event of [`{}`].", handler.name.as_ref().unwrap_or(&name));
        quote! {
            #[doc = #doc]
            #[allow(deprecated, missing_copy_implementations, missing_debug_implementations, non_camel_case_types, private_bounds, private_interfaces)]
        }
    });
    quote! {
        #attributes
        pub enum #name #generics #where_clause { #(#variants),* }
    }
}
