//! Where rustc takes generated code to be written.
//!
//! What is generated from a token of the user's gets that token's span, down to the braces: rustc then reports there,
//! without a word of the attribute.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

/// Two ends of something that the user wrote. Spans cannot be joined on stable Rust, but rustc joins those of the first
/// and the last token of an item or an expression.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Ends {
    /// Of nothing: where the attribute is.
    pub(crate) fn of(tokens: impl ToTokens) -> Self {
        let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
        let first = spans.next().unwrap_or_else(Span::call_site);
        Self { first, last: spans.last().unwrap_or(first) }
    }

    /// `tokens`, from the first end to the last.
    pub(crate) fn respan(self, tokens: TokenStream) -> TokenStream {
        let mut tokens = tokens.into_iter();
        let first = tokens.next().map(|token| respan(token.into(), self.first));
        first.into_iter().chain([respan(tokens.collect(), self.last)]).collect()
    }

    /// `& (value)`, or `&mut (value)`, from the first end to the last. The value keeps its spans, by which its names are
    /// resolved: where these ends come from a `macro_rules!`, a name at one of them would be another name.
    pub(crate) fn lent(self, reference: TokenStream, value: TokenStream) -> TokenStream {
        let reference = respan(reference, self.first);
        let mut parentheses = Group::new(Delimiter::Parenthesis, value);
        parentheses.set_span(self.last);
        quote!(#reference #parentheses)
    }

    /// `<ty as path`, from the first end of the type to the last.
    pub(crate) fn qualified(ty: impl ToTokens, path: TokenStream) -> TokenStream {
        let Self { first, last } = Self::of(&ty);
        let (open, path) = (quote_spanned!(first=> <), respan(path, last));
        quote!(#open #ty as #path)
    }

    /// `head rest { body }`, where `rest` and `body` keep their own spans.
    pub(crate) fn item(self, head: TokenStream, rest: &TokenStream, body: TokenStream) -> TokenStream {
        let mut braces = Group::new(Delimiter::Brace, body);
        braces.set_span(self.last);
        let head = self.respan(head);
        quote!(#head #rest #braces)
    }
}

impl From<Span> for Ends {
    fn from(span: Span) -> Self {
        Self { first: span, last: span }
    }
}

/// All of `tokens` at `span`.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let at_span = |mut token: TokenTree| {
        if let TokenTree::Group(group) = token {
            token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(at_span).collect()
}
