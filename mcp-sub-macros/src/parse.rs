//! Tokens → model. On the way, takes `#[emits(...)]` off the methods and gives each channel and filter its type.
//!
//! What is wrong with one signature is found here; what takes more than one method to see, in `check`.

mod cfgs;
mod close;
mod emits;
mod event;
mod helper;
mod options;
mod signature;
mod subscribe;
mod types;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Ident, ImplItem};

use crate::{
    block::{Block, Item},
    errors::Errors,
    model::Handler,
    parse::signature::Site,
};

pub(crate) fn handler(errors: &Errors, options: TokenStream, block: &mut Block) -> Handler {
    let mut handler = Handler {
        options: options::parse(errors, options),
        name: header(errors, block),
        subscribe: Vec::new(),
        methods: Vec::new(),
        close: Vec::new(),
        helpers: Vec::new(),
    };
    if block.trait_.is_some() {
        for attributes in block.items.iter_mut().filter_map(attributes) {
            emits::take(&Errors::default(), attributes);
        }
        return handler;
    }
    let krate = handler.options.krate.clone();
    // A second block of a handler has none: no impl of it is to meet one of the first.
    let has_subscribe = block
        .items
        .iter()
        .any(|item| matches!(item, Item::Method(method) if method.sig.ident == "subscribe"));
    let is_handler = handler.name.is_some() && has_subscribe;
    for item in &mut block.items {
        let site = Site { krate: &krate, is_handler, position: handler.methods.len() };
        let emits = attributes(item).and_then(|attributes| emits::take(errors, attributes));
        match item {
            Item::Method(method) if method.sig.ident == "subscribe" => {
                if emits.is_some() {
                    let text = "`subscribe` runs before the acknowledgement, when nothing may be sent: \
                        `#[emits(...)]` goes on a method that takes an event";
                    errors.at(&method.sig.ident, text);
                }
                handler.subscribe.push(subscribe::parse(errors, method, site));
            }
            Item::Method(method) if method.sig.ident == "handle_close" => {
                if emits.is_some() {
                    let text = "`handle_close` runs when the subscription has ended, when nothing can be sent: \
                        `#[emits(...)]` goes on a method that takes an event";
                    errors.at(&method.sig.ident, text);
                }
                handler.close.push(close::parse(errors, method, site));
            }
            Item::Method(method) => match emits {
                Some(emits) => handler.methods.extend(event::parse(errors, method, emits, site)),
                None => handler.helpers.push(helper::parse(errors, method, site)),
            },
            Item::Other(ImplItem::Macro(call)) => errors.at(
                &call.mac,
                "`#[subscription_handler]` runs before this macro does, and cannot see the methods that it makes\n\
                help: write the methods out, or let the macro make the whole `impl` block, with the attribute on it",
            ),
            Item::Other(other) => {
                if emits.is_some() {
                    errors.at(other, "`#[emits(...)]` goes on a method");
                }
            }
            Item::Unknown(unknown) => errors.push(unknown.error.clone()),
        }
    }
    let allows: Vec<TokenStream> =
        block.attrs.iter().chain(&block.inner_attrs).filter_map(signature::allowed).collect();
    for method in &mut handler.methods {
        method.allows.extend(allows.iter().cloned());
    }
    handler
}

/// Checks what comes before the braces, and returns the name of the type. `None`: it can be no handler.
///
/// Here and below, what was reported is also repaired, so that rustc does not report it again.
fn header(errors: &Errors, block: &mut Block) -> Option<Ident> {
    const INHERENT: &str = "`#[subscription_handler]` goes on an inherent `impl` block";
    if let Some((path, _)) = &block.trait_ {
        errors.at(
            path,
            format_args!("{INHERENT}: it implements the trait itself, from the methods that it finds"),
        );
        // Of another trait the impl stays what it is.
        if !path
            .clone()
            .into_iter()
            .any(|token| matches!(token, TokenTree::Ident(name) if name == "SubscriptionHandler"))
        {
            return None;
        }
        block.trait_ = None;
    } else if let Some(token) = block.unsafety.take() {
        errors.at(token, format_args!("{INHERENT}, and such a block cannot be `unsafe`"));
    }
    let lifetime = block.generics.lifetimes().next().map(|parameter| parameter.lifetime.to_token_stream());
    if let Some(borrow) = lifetime.or_else(|| types::borrow(&block.self_ty)) {
        errors.at(borrow, "a handler outlives every subscription: it has to be `'static`");
        return None;
    }
    let name = types::name(&block.self_ty);
    if name.is_none() {
        errors.at(&block.self_ty, "expected the name of a type, which is to be the handler");
    }
    name.cloned()
}

fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        Item::Method(method) => &mut method.attrs,
        Item::Unknown(unknown) => &mut unknown.attrs,
        Item::Other(other) => match other {
            ImplItem::Const(item) => &mut item.attrs,
            ImplItem::Fn(item) => &mut item.attrs,
            ImplItem::Type(item) => &mut item.attrs,
            ImplItem::Macro(item) => &mut item.attrs,
            _ => return None,
        },
    })
}
