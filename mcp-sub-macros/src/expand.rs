//! Model → tokens. Fails on no model.
//!
//! The block comes first, so that editors take the user's tokens for the user's code. What is generated is in a
//! `const _`, where it meets no name of the user's, and names nothing but by a path from the runtime crate: the user may
//! have a `Result` of their own. The crate and the handler are named once each, so that one that does not exist is
//! reported once.

mod bounds;
mod dispatch;
mod event;
mod markers;
mod relayed;
mod stubs;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Type};

use crate::{
    block::Block,
    model::{Callee, Handler},
    unused,
};

/// What each generated item names.
struct Context<'a> {
    block: &'a Block,
    handler: &'a Handler,
    /// The runtime crate.
    krate: Ident,
    /// Its hidden module.
    private: TokenStream,
    /// The handler's type.
    self_ty: TokenStream,
    /// `<S: Store>`
    generics: TokenStream,
    /// `<S>`
    generic_arguments: TokenStream,
    /// `where S: Store`
    where_clause: TokenStream,
}

impl<'a> Context<'a> {
    fn new(block: &'a Block, handler: &'a Handler) -> Self {
        let krate = format_ident!("__mcp_sub");
        let (generics, generic_arguments, where_clause) = block.generics.split_for_impl();
        Self {
            block,
            handler,
            private: quote!(#krate::__private),
            krate,
            self_ty: match handler.name {
                Some(_) => quote!(__Handler #generic_arguments),
                None => block.self_ty.to_token_stream(),
            },
            generics: quote!(#generics),
            generic_arguments: quote!(#generic_arguments),
            where_clause: quote!(#where_clause),
        }
    }

    /// What `self_ty` stands for, if that can be a handler.
    fn alias(&self) -> Option<TokenStream> {
        let Self { block, handler, generics, .. } = self;
        handler.name.as_ref()?;
        let (self_ty, where_clause) = (&block.self_ty, self.without_self(self.where_clause.clone()));
        Some(quote!(type __Handler #generics #where_clause = #self_ty;))
    }

    /// Writes out the `Self` of the block, which is another one outside of it.
    fn without_self(&self, tokens: TokenStream) -> TokenStream {
        let written_out = |token: TokenTree| match token {
            TokenTree::Ident(ident) if ident == "Self" => self.block.self_ty.to_token_stream(),
            TokenTree::Group(group) => {
                let mut new = Group::new(group.delimiter(), self.without_self(group.stream()));
                new.set_span(group.span());
                TokenTree::from(new).into()
            }
            token => token.into(),
        };
        tokens.into_iter().flat_map(written_out).collect()
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
    if handler.name.is_none() && !matches!(block.self_ty, Type::Path(_) | Type::TraitObject(_)) {
        return quote!(#block #report);
    }
    let context = Context::new(block, handler);
    let items = match handler.name {
        Some(_) => stubs::items(&context),
        None => markers::permissive_declares(&context),
    };
    let generated = wrapped(block, &context, &items);
    quote!(#block #generated #report)
}

fn wrapped(block: &Block, context: &Context<'_>, items: &TokenStream) -> TokenStream {
    let krate = &context.handler.options.krate;
    let alias = context.alias();
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
            // Those of the alias are those of the block.
            type_alias_bounds,
        )]
        const _: () = {
            use #krate as __mcp_sub;
            #alias
            #hidden
            #items
        };
    }
}

/// The condition under which one of `callees` is compiled, if it is not always so.
fn any<'a>(callees: impl Iterator<Item = &'a Callee>) -> Option<TokenStream> {
    let mut conditions: Vec<TokenStream> = Vec::new();
    for Callee { cfgs, .. } in callees {
        if cfgs.is_empty() {
            return None;
        }
        let predicates =
            cfgs.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
        conditions.push(quote!(all(#(#predicates),*)));
    }
    Some(quote!(any(#(#conditions),*)))
}
