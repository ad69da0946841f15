//! For each method a type of its name: the `E` of its `Channel<'_, E>`, and what it may send.
//!
//! rustc then says "`PromptsListChanged` is not declared by `tool_installed`", and underlines what is declared: every
//! token of these items has the span of the word that it stands for.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, any};
use crate::{
    model::{Callee, Emit, EventMethod},
    names::{KINDS, Kind},
    spans::{Ends, respan},
};

/// The type that stands for a method.
///
/// It is in a module of its own: a method may have the name of a module that the user's types are in.
pub(super) fn path(callee: &Callee) -> TokenStream {
    let ident = &callee.ident;
    quote!(__method::#ident)
}

fn notification(context: &Context<'_>, kind: Kind) -> TokenStream {
    let (krate, ty) = (&context.krate, format_ident!("{}", kind.ty));
    quote!(#krate::#ty)
}

pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let methods = &context.handler.methods;
    let types = methods.iter().map(|EventMethod { callee: Callee { ident, cfgs, .. }, .. }| {
        let item = respan(quote!(pub enum #ident {}), ident.span());
        quote!(#(#cfgs)* #item)
    });
    let emits = methods.iter().flat_map(|method| method.emits.iter().map(move |emit| (method, emit)));
    let emits = emits.map(|(EventMethod { callee, .. }, Emit { kind, word })| {
        let (krate, cfgs, marker) = (&context.krate, &callee.cfgs, path(callee));
        let notification = notification(context, *kind);
        let item = respan(quote!(impl #krate::Emits<#notification> for #marker {}), word.span());
        quote!(#(#cfgs)* #[automatically_derived] #item)
    });
    let marked = methods.iter().enumerate().map(|(position, EventMethod { callee, .. })| {
        let (cfgs, marked) = (&callee.cfgs, marked_impl(context, position, &path(callee)));
        quote!(#(#cfgs)* #marked)
    });
    let declares = KINDS.into_iter().map(|kind| declares(context, kind));
    quote! {
        #[allow(dead_code)] // of a handler that nobody makes, rustc says so at the user's type
        mod __method { #(#types)* }
        #(#emits)*
        #(#marked)*
        #(#declares)*
    }
}

/// By which the user's method finds its marker. Without bounds, since the block has none of ours.
pub(super) fn marked_impl(context: &Context<'_>, position: usize, marker: &TokenStream) -> TokenStream {
    let (private, where_clause) = (&context.private, &context.where_clause);
    let position = Literal::usize_unsuffixed(position);
    let header = context.header(&quote!(#private::Marked<#position>));
    quote!(#[doc(hidden)] #[automatically_derived] #header #where_clause { type Marker = #marker; })
}

/// The set of what a method declares.
pub(super) fn kinds(context: &Context<'_>, method: &EventMethod) -> TokenStream {
    let krate = &context.krate;
    let mut kinds = method.emits.iter().map(|Emit { kind, .. }| {
        let constant = format_ident!("{}", kind.constant);
        quote!(#krate::Kinds::#constant)
    });
    let first = kinds.next().unwrap_or_else(|| quote!(#krate::Kinds::NONE));
    quote!(#first #(.union(#kinds))*)
}

/// The impl for a kind, under the condition that one of the methods that declare it is compiled. At the first word that
/// declares it: there rustc shows what is declared, where something else is asked for.
fn declares(context: &Context<'_>, kind: Kind) -> TokenStream {
    let emits = |method: &&EventMethod| method.emits.iter().any(|emit| emit.kind == kind);
    let declaring: Vec<&EventMethod> = context.handler.methods.iter().filter(emits).collect();
    let word = declaring.iter().flat_map(|method| &method.emits).find(|emit| emit.kind == kind);
    let Some(Emit { word, .. }) = word else { return TokenStream::new() };
    let condition = any(declaring.iter().map(|method| &method.callee));
    let cfg = condition.map(|condition| quote!(#[cfg(#condition)]));
    let item = Ends::from(word.span()).item(
        context.header(&declares_trait(context, kind)),
        &context.where_clause,
        TokenStream::new(),
    );
    quote!(#cfg #[automatically_derived] #item)
}

/// An impl for each kind, whether declared or not: what is wrong with the block was reported.
pub(super) fn permissive_declares(context: &Context<'_>) -> TokenStream {
    let declares = KINDS.into_iter().map(|kind| {
        let (header, where_clause) = (context.header(&declares_trait(context, kind)), &context.where_clause);
        quote!(#[automatically_derived] #header #where_clause {})
    });
    declares.collect()
}

fn declares_trait(context: &Context<'_>, kind: Kind) -> TokenStream {
    let (krate, notification) = (&context.krate, notification(context, kind));
    quote!(#krate::Declares<#notification>)
}
