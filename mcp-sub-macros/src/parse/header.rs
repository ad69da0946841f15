//! What comes before the braces.
//!
//! Here and below, what was reported is also repaired, so that rustc does not report it again.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, GenericParam, Generics, Ident, Type};

use super::{signature, types};
use crate::{block::Block, errors::Errors};

/// The name of the type. `None`: it can be no handler, which was reported.
pub(super) fn parse(errors: &Errors, block: &mut Block) -> Option<Ident> {
    block.attrs.retain(|attr| !is_misplaced(errors, attr));
    if let Some((path, _)) = &block.trait_ {
        errors.at(
            path,
            "`#[subscription_handler]` goes on an inherent `impl` block: it implements the trait itself, from the \
            methods that it finds",
        );
        // Of another trait the impl stays what it is.
        if !mentions(path.clone(), "SubscriptionHandler") {
            return None;
        }
        block.trait_ = None;
    }
    if let Some(attr) = conditional(&block.generics) {
        errors
            .at(attr, "a parameter cannot come and go here: put `#[cfg(...)]` on two versions of the block");
        return None;
    }
    let lifetime = block.generics.lifetimes().next().map(|parameter| parameter.lifetime.to_token_stream());
    if let Some(borrow) = lifetime.or_else(|| types::borrow(&block.self_ty)) {
        errors.at(borrow, "a handler outlives every subscription: it has to be `'static`");
        return None;
    }
    take_unused(errors, &mut block.generics, &block.self_ty);
    let name = types::name(&block.self_ty);
    if name.is_none() {
        errors.at(&block.self_ty, "expected the name of a type, which is to be the handler");
    }
    name
}

/// An attribute that cannot be on the block, below ours. One above has run already.
fn is_misplaced(errors: &Errors, attr: &Attribute) -> bool {
    let name = attr.path().segments.last().map(|segment| segment.ident.to_string());
    let text = match name.as_deref() {
        Some("subscription_handler") => "a second `#[subscription_handler]`: the block is a handler already",
        Some("emits") => "`#[emits(...)]` goes on a method: each says what it sends itself",
        Some("async_trait") => {
            "`#[async_trait]` is for the impl of a trait: here an `async fn` needs no attribute of its own"
        }
        _ => return false,
    };
    errors.at(attr, text);
    true
}

fn conditional(generics: &Generics) -> Option<&Attribute> {
    let attributes = generics.params.iter().flat_map(|parameter| match parameter {
        GenericParam::Lifetime(parameter) => &parameter.attrs,
        GenericParam::Type(parameter) => &parameter.attrs,
        GenericParam::Const(parameter) => &parameter.attrs,
    });
    attributes.into_iter().find(|attr| signature::is_cfg(attr))
}

/// Takes out the parameters that nothing in the header mentions: rustc would report each of them in every generated
/// impl.
fn take_unused(errors: &Errors, generics: &mut Generics, self_ty: &Type) {
    let is_used = |parameter: &GenericParam| {
        let (name, others) = match parameter {
            GenericParam::Type(parameter) => (&parameter.ident, &generics.params),
            GenericParam::Const(parameter) => (&parameter.ident, &generics.params),
            GenericParam::Lifetime(_) => return true,
        };
        let others = others.iter().filter(|other| *other != parameter).map(ToTokens::to_token_stream);
        let header = others.chain([self_ty.to_token_stream(), generics.where_clause.to_token_stream()]);
        let is_used = mentions(header.collect(), &name.to_string());
        if !is_used {
            errors.at(
                name,
                format_args!("`{name}` is not in the type of the handler: nothing says what it stands for"),
            );
        }
        is_used
    };
    generics.params = generics.params.iter().filter(|parameter| is_used(parameter)).cloned().collect();
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
