//! One list of errors for all stages, so that one compile shows all the mistakes of a block.

use std::{cell::RefCell, fmt::Display};

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Shared by reference: whoever finds a mistake reports it and goes on.
#[derive(Default)]
pub(crate) struct Errors(RefCell<Vec<syn::Error>>);

impl Errors {
    /// Reports `message` under all the tokens of `at`.
    pub(crate) fn at(&self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        self.0.borrow_mut().push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// One `compile_error!` for each report, or `None` if there is nothing to report.
    pub(crate) fn finish(self) -> Option<TokenStream> {
        let reports = self.0.into_inner();
        (!reports.is_empty()).then(|| reports.iter().map(syn::Error::to_compile_error).collect())
    }
}
