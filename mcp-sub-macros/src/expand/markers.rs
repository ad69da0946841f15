//! For each method a type of its name: the `E` of its `Channel<'_, E>`, and what it may send.
//!
//! rustc then says "`PromptsListChanged` is not declared by `tool_installed`", and underlines what is declared: every
//! token of these items has the span of the word that it stands for.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, any};
use crate::{
    model::{Callee, Emit, EventMethod, Lagged},
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
    let lagged_type =
        context.handler.lagged.first().map(|Lagged { callee: Callee { ident, .. }, .. }| {
            respan(quote!(pub enum #ident {}), ident.span())
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
    let lagged = lagged(context);
    quote! {
        #[allow(dead_code)] // of a handler that nobody makes, rustc says so at the user's type
        mod __method { #(#types)* #lagged_type }
        #(#emits)*
        #(#marked)*
        #lagged
        #(#declares)*
    }
}

/// Of `handle_lagged`: it may send what any method may, if that one is compiled.
fn lagged(context: &Context<'_>) -> Option<TokenStream> {
    let Callee { ident, .. } = &context.handler.lagged.first()?.callee;
    let krate = &context.krate;
    let emits = KINDS.into_iter().filter_map(|kind| {
        let (word, cfg) = declared(context, kind)?;
        let notification = notification(context, kind);
        let item = respan(quote!(impl #krate::Emits<#notification> for __method::#ident {}), word.span());
        Some(quote!(#cfg #[automatically_derived] #item))
    });
    let marked = lagged_impl(context, &quote!(__method::#ident));
    Some(quote!(#(#emits)* #marked))
}

/// By which `handle_lagged`, if there is one, finds its marker.
pub(super) fn lagged_impl(context: &Context<'_>, marker: &TokenStream) -> Option<TokenStream> {
    context.handler.lagged.first()?;
    let (private, where_clause) = (&context.private, &context.where_clause);
    let header = context.header(&quote!(#private::MarkedLagged));
    Some(quote!(#[doc(hidden)] #[automatically_derived] #header #where_clause { type Marker = #marker; }))
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

/// The first word that declares a kind, and the condition under which one of the methods that do is compiled.
fn declared<'a>(context: &Context<'a>, kind: Kind) -> Option<(&'a Ident, Option<TokenStream>)> {
    let emits = |method: &&EventMethod| method.emits.iter().any(|emit| emit.kind == kind);
    let declaring: Vec<&EventMethod> = context.handler.methods.iter().filter(emits).collect();
    let Emit { word, .. } =
        declaring.iter().flat_map(|method| &method.emits).find(|emit| emit.kind == kind)?;
    let condition = any(declaring.iter().map(|method| &method.callee));
    Some((word, condition.map(|condition| quote!(#[cfg(#condition)]))))
}

/// The impl for a kind. At the first word that declares it: there rustc shows what is declared, where something else is
/// asked for.
fn declares(context: &Context<'_>, kind: Kind) -> TokenStream {
    let Some((word, cfg)) = declared(context, kind) else { return TokenStream::new() };
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
