//! The attribute.

#![forbid(unsafe_code)]

mod block;
mod check;
mod errors;
mod expand;
mod model;
mod names;
mod parse;
mod spans;
#[cfg(test)]
mod tests;
mod unused;

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// TODO
#[proc_macro_attribute]
pub fn subscription_handler(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    run(options.into(), item.into()).into()
}

/// TODO
#[proc_macro_attribute]
pub fn emits(_: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let text = "`#[emits(...)]` needs `#[subscription_handler]` on the `impl` block, and is read by it under this name only";
    let report = syn::Error::new(Span::call_site(), text).into_compile_error();
    let item = TokenStream::from(item);
    quote!(#report #item).into()
}

/// On `proc_macro2`, so that tests call it without a compiler.
fn run(options: TokenStream, item: TokenStream) -> TokenStream {
    let errors = errors::Errors::default();
    let mut block = match syn::parse2::<block::Block>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            match block::not_an_impl(item.clone()) {
                Some(token) => errors.at(token, "`#[subscription_handler]` goes on an inherent `impl` block"),
                None => errors.push(error),
            }
            let report = errors.finish();
            return quote!(#item #report);
        }
    };
    let handler = parse::handler(&errors, options, &mut block);
    check::handler(&errors, &handler);
    match errors.finish() {
        None => expand::handler(&block, &handler),
        Some(report) => expand::fallback(&block, &handler, &report),
    }
}
