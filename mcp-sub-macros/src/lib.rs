//! The attribute.
#[proc_macro_attribute]
pub fn subscription_handler(_: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream { item }
