//! Model → tokens. Fails on no model.
//!
//! The block comes first, so that editors take the user's tokens for the user's code. What is generated is in a
//! `const _`, where it meets no name of the user's, and names nothing but by a path from the runtime crate: the user may
//! have a `Result` of their own.

mod bounds;
mod dispatch;
mod event;
mod markers;
mod stubs;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Path, Type};

use crate::{
    block::Block,
    model::{Callee, Handler},
    unused,
};

/// What each generated item names.
struct Context<'a> {
    block: &'a Block,
    handler: &'a Handler,
    krate: &'a Path,
    /// The hidden module of the runtime crate.
    private: TokenStream,
    self_ty: &'a Type,
    /// `<S: Store>`
    generics: TokenStream,
    /// `<S>`
    generic_arguments: TokenStream,
    /// `where S: Store`
    where_clause: TokenStream,
}

impl<'a> Context<'a> {
    fn new(block: &'a Block, handler: &'a Handler) -> Self {
        let krate = &handler.options.krate;
        let private = quote!(#krate::__private);
        let (generics, generic_arguments, where_clause) = block.generics.split_for_impl();
        Self {
            block,
            handler,
            krate,
            self_ty: &block.self_ty,
            generics: quote!(#generics),
            generic_arguments: quote!(#generic_arguments),
            where_clause: quote!(#where_clause),
            private,
        }
    }

    /// `impl<S: Store> trait_ for Files<S>`
    fn header(&self, trait_: &TokenStream) -> TokenStream {
        let Self { generics, self_ty, .. } = self;
        quote!(impl #generics #trait_ for #self_ty)
    }
}

/// The block, and all that makes it a handler.
pub(crate) fn handler(block: &Block, handler: &Handler) -> TokenStream {
    let context = Context::new(block, handler);
    let markers = markers::items(&context);
    let dispatch = dispatch::items(&context);
    let unused = handler.methods.iter().map(unused::warnings);
    let generated = wrapped(block, &context, &quote!(#markers #dispatch #(#unused)*));
    quote!(#block #generated)
}

/// When there are errors: the block still, so that its methods exist, and impls that do nothing, so that no use of the
/// handler adds an error. Channels may carry anything and filters may be asked anything, so that no body adds one.
pub(crate) fn fallback(block: &Block, handler: &Handler, report: &TokenStream) -> TokenStream {
    if block.trait_.is_some() {
        return quote!(#block #report);
    }
    let context = Context::new(block, handler);
    if handler.name.is_none() {
        let declares = markers::permissive_declares(&context);
        return quote!(#block #declares #report);
    }
    let generated = wrapped(block, &context, &stubs::items(&context));
    quote!(#block #generated #report)
}

fn wrapped(block: &Block, context: &Context<'_>, items: &TokenStream) -> TokenStream {
    let cfgs: Vec<&Attribute> = block.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    let event = event::item(context);
    let (exported, hidden) = match context.handler.options.event {
        Some(_) => (event, TokenStream::new()),
        None => (TokenStream::new(), event),
    };
    let exported = (!exported.is_empty()).then(|| quote!(#(#cfgs)* #exported));
    quote! {
        #exported
        #(#cfgs)*
        #[allow(
            // What is called may be, and what is taken; whoever calls `publish` is told.
            deprecated,
            // The types are named as the methods are.
            non_camel_case_types,
            // They are `pub` only to stand in the impl of a public trait; nobody can name, see or print them.
            missing_copy_implementations,
            missing_debug_implementations,
            private_bounds,
            private_interfaces,
            unnameable_types,
            unreachable_pub,
        )]
        const _: () = {
            #hidden
            #items
        };
    }
}

/// The condition under which one of `callees` is compiled.
fn any_cfg<'a>(callees: impl Iterator<Item = &'a Callee>) -> TokenStream {
    let mut conditions: Vec<TokenStream> = Vec::new();
    for callee in callees {
        let predicates =
            callee.cfgs.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
        conditions.push(quote!(all(#(#predicates),*)));
        if callee.cfgs.is_empty() {
            return TokenStream::new();
        }
    }
    quote!(#[cfg(any(#(#conditions),*))])
}
