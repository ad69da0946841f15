//! The attributes of the crate `mcp-sub`, which re-exports them: depend on that one.
//!
//! An attribute goes through four stages. `parse` reads the block into the `model`, `check` looks at what takes more
//! than one method to see, and `expand` writes the output and cannot fail. All report to one list of `errors`, so that a
//! build shows every mistake, and whatever is wrong, the user's block comes out, with its helper attributes removed.

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

#[doc = include_str!("subscription_handler.md")]
#[proc_macro_attribute]
pub fn subscription_handler(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    run(options.into(), &item.into()).into()
}

/// Declares what a method may send, in a block with [`#[subscription_handler]`](macro@subscription_handler), which reads
/// it. Anywhere else it is an error.
#[proc_macro_attribute]
pub fn emits(_: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let text = "`#[emits(...)]` needs `#[subscription_handler]` on the `impl` block, and is read there by this name only";
    let report = syn::Error::new(Span::call_site(), text).into_compile_error();
    let item = TokenStream::from(item);
    // What is in the body would add that the channel may carry nothing.
    let item = block::without_body(item.clone()).unwrap_or(item);
    quote!(#item #report).into()
}

/// On `proc_macro2`, so that tests call it without a compiler.
fn run(options: TokenStream, item: &TokenStream) -> TokenStream {
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
    let mut handler = parse::handler(&errors, options, &mut block);
    check::handler(&errors, &mut handler);
    match errors.finish() {
        None => expand::handler(&block, &handler),
        Some(report) => expand::fallback(&block, &handler, &report),
    }
}
