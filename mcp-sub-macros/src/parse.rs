//! Tokens → model. On the way, takes `#[emits(...)]` off the methods and gives each channel and filter its type.
//!
//! What is wrong with one signature is found here; what takes more than one method to see, in `check`.

mod capabilities;
mod cfgs;
mod close;
mod emits;
mod event;
mod header;
mod helper;
mod lagged;
mod lints;
mod options;
mod signature;
mod subscribe;
mod types;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, ImplItem, ext::IdentExt};

use crate::{
    block::{Block, Item, Method},
    errors::Errors,
    model::{Handler, Helper},
    parse::signature::Site,
};

pub(crate) fn handler(errors: &Errors, options: TokenStream, block: &mut Block) -> Handler {
    let mut handler = Handler {
        options: options::parse(errors, options),
        name: header::parse(errors, block),
        subscribe: Vec::new(),
        methods: Vec::new(),
        capabilities: Vec::new(),
        lagged: Vec::new(),
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
    let is_handler = handler.name.is_some() && has(block, "subscribe");
    let has_lagged = has(block, "handle_lagged");
    let mut names = HashSet::new();
    for item in &mut block.items {
        let site = Site { krate: &krate, is_handler, has_lagged, position: handler.methods.len() };
        let emits = attributes(item).and_then(|attributes| emits::take(errors, attributes));
        match item {
            Item::Method(method) if is_second(method, &mut names) => {
                // rustc reports the two; for it, too, the name is that of the first.
                let helper = helper::parse(&Errors::default(), method, site);
                handler.helpers.push(Helper { declares: emits.is_some(), ..helper });
            }
            Item::Method(method) if method.sig.ident.unraw() == "subscribe" => {
                if emits.is_some() {
                    let text = "`subscribe` runs before the acknowledgement, when nothing may be sent: \
                        `#[emits(...)]` goes on a method that takes an event";
                    errors.at(&method.sig.ident, text);
                }
                handler.subscribe.push(subscribe::parse(errors, method, site));
            }
            Item::Method(method) if method.sig.ident.unraw() == "subscription_capabilities" => {
                if emits.is_some() {
                    let text = "`subscription_capabilities` sends nothing: \
                        `#[emits(...)]` goes on a method that takes an event";
                    errors.at(&method.sig.ident, text);
                }
                handler.capabilities.push(capabilities::parse(errors, method, site));
            }
            Item::Method(method) if method.sig.ident.unraw() == "handle_lagged" => {
                if emits.is_some() {
                    let text = "`handle_lagged` may send all that the methods of this block declare: \
                        `#[emits(...)]` goes on a method that takes an event";
                    errors.at(&method.sig.ident, text);
                }
                handler.lagged.push(lagged::parse(errors, method, site));
            }
            Item::Method(method) if method.sig.ident.unraw() == "handle_close" => {
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
            Item::Other(ImplItem::Macro(call)) => {
                errors.at(
                    &call.mac,
                    "`#[subscription_handler]` runs before this macro does, and cannot see the methods that it makes\n\
                    help: write the methods out, or let the macro make the whole `impl` block, with the attribute on it",
                );
                // Its methods would be reported for what they send.
                if helper::names_a_kind(call.mac.tokens.clone()) {
                    *item = Item::Other(ImplItem::Verbatim(TokenStream::new()));
                }
            }
            Item::Other(other) => {
                if emits.is_some() {
                    errors.at(other, "`#[emits(...)]` goes on a method");
                }
            }
            Item::Unknown(unknown) => errors.push(unknown.error.clone()),
        }
    }
    let levels: Vec<TokenStream> =
        block.attrs.iter().chain(&block.inner_attrs).filter_map(lints::level).collect();
    for method in &mut handler.methods {
        // Those of the method come last: they are the ones that hold.
        method.lints.splice(..0, levels.iter().cloned());
    }
    handler
}

fn has(block: &Block, name: &str) -> bool {
    block.items.iter().any(|item| matches!(item, Item::Method(method) if method.sig.ident.unraw() == name))
}

/// Whether there is a method of this name already that is always compiled.
fn is_second(method: &Method, names: &mut HashSet<Ident>) -> bool {
    let name = method.sig.ident.unraw();
    let is_second = names.contains(&name);
    if cfgs::of(&method.attrs).is_empty() {
        names.insert(name);
    }
    is_second
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
