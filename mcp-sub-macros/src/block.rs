//! An `impl` block whose method bodies are left as tokens.
//!
//! Nothing here looks inside a body, so a half-typed one does not cost the editor the rest of the expansion, and a
//! complete one comes out token for token.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Generics, ImplItem, Result, ReturnType, Signature, Token, Type, Visibility, braced,
    parse::{Parse, ParseStream, discouraged::Speculative},
    token::{Brace, Impl},
};

pub(crate) struct Block {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) impl_token: Token![impl],
    pub(crate) generics: Generics,
    /// The `Trait` and the `for` of a block that should not have been annotated.
    pub(crate) trait_: Option<(TokenStream, Token![for])>,
    pub(crate) self_ty: Type,
    pub(crate) brace: Brace,
    pub(crate) inner_attrs: Vec<Attribute>,
    pub(crate) items: Vec<Item>,
}

#[expect(clippy::large_enum_variant, reason = "nearly all are methods, and a block has few items")]
pub(crate) enum Item {
    Method(Method),
    Other(ImplItem),
    /// What is no item that `syn` knows, up to where the next one may start.
    Unknown(Unknown),
}

pub(crate) struct Method {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The braces and what is in them; or a `;`, which is for rustc to refuse.
    pub(crate) body: TokenTree,
}

pub(crate) struct Unknown {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) tokens: TokenStream,
    pub(crate) error: syn::Error,
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let unsafety = input.parse()?;
        let impl_token = input.parse()?;
        let mut generics = if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
        let negative: Option<Token![!]> = input.parse()?;
        let first: Type = input.parse()?;
        let for_token: Option<Token![for]> = input.parse()?;
        let (trait_, self_ty) = match for_token {
            Some(for_token) => {
                let mut path = negative.to_token_stream();
                first.to_tokens(&mut path);
                (Some((path, for_token)), input.parse()?)
            }
            None => (None, first),
        };
        generics.where_clause = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let inner_attrs = content.call(Attribute::parse_inner)?;
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(content.parse()?);
        }
        Ok(Self { attrs, unsafety, impl_token, generics, trait_, self_ty, brace, inner_attrs, items })
    }
}

impl Parse for Item {
    /// Fails on no input, and always takes something.
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        if let Ok(method) = ahead.parse().map(Self::Method) {
            input.advance_to(&ahead);
            return Ok(method);
        }
        let ahead = input.fork();
        match ahead.parse().map(Self::Other) {
            Ok(other) => {
                input.advance_to(&ahead);
                Ok(other)
            }
            Err(error) => Unknown::take(input, error).map(Self::Unknown),
        }
    }
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (vis, sig) = (input.parse()?, input.parse()?);
        if !input.peek(Brace) && !input.peek(Token![;]) {
            return Err(input.error("expected a body"));
        }
        Ok(Self { attrs, vis, sig, body: input.parse()? })
    }
}

impl Unknown {
    fn take(input: ParseStream<'_>, error: syn::Error) -> Result<Self> {
        let ahead = input.fork();
        let attrs = ahead.call(Attribute::parse_outer).unwrap_or_default();
        if !attrs.is_empty() {
            input.advance_to(&ahead);
        }
        let mut tokens = TokenStream::new();
        let mut in_function = false;
        while !input.is_empty() {
            // A function whose rest is not written yet takes nothing from the next one.
            if in_function && starts_item(input) {
                break;
            }
            in_function |= input.peek(Token![fn]);
            let token: TokenTree = input.parse()?;
            let last = match &token {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                _ => false,
            };
            tokens.extend([token]);
            if last {
                break;
            }
        }
        Ok(Self { attrs, tokens, error })
    }
}

impl ToTokens for Block {
    fn to_tokens(&self, out: &mut TokenStream) {
        out.extend(self.attrs.iter().map(ToTokens::to_token_stream));
        self.unsafety.to_tokens(out);
        self.impl_token.to_tokens(out);
        self.generics.to_tokens(out);
        if let Some((path, for_token)) = &self.trait_ {
            path.to_tokens(out);
            for_token.to_tokens(out);
        }
        self.self_ty.to_tokens(out);
        self.generics.where_clause.to_tokens(out);
        self.brace.surround(out, |out| {
            out.extend(self.inner_attrs.iter().map(ToTokens::to_token_stream));
            for item in &self.items {
                item.to_tokens(out);
            }
        });
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, out: &mut TokenStream) {
        match self {
            Self::Method(Method { attrs, vis, sig, body }) => {
                out.extend(attrs.iter().map(ToTokens::to_token_stream));
                vis.to_tokens(out);
                sig.to_tokens(out);
                body.to_tokens(out);
            }
            Self::Other(item) => item.to_tokens(out),
            Self::Unknown(Unknown { attrs, tokens, .. }) => {
                out.extend(attrs.iter().map(ToTokens::to_token_stream));
                tokens.to_tokens(out);
            }
        }
    }
}

fn starts_item(input: ParseStream<'_>) -> bool {
    input.peek(Token![#])
        || input.peek(Token![pub])
        || input.peek(Token![async])
        || input.peek(Token![const])
        || input.peek(Token![fn])
}

/// A function that does nothing, if it is one that can.
pub(crate) fn without_body(item: TokenStream) -> Option<TokenStream> {
    let Method { attrs, vis, sig, body } = syn::parse2(item).ok()?;
    // A type that the body would say cannot be had without it.
    let is_opaque = matches!(&sig.output, ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)));
    (!is_opaque && matches!(body, TokenTree::Group(_)))
        .then(|| quote!(#(#attrs)* #[allow(unused, clippy::all, clippy::pedantic)] #vis #sig { loop {} }))
}

/// The token, for the error about something that is no `impl` block.
pub(crate) fn not_an_impl(item: TokenStream) -> Option<TokenTree> {
    let keyword = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Option<Token![unsafe]>>()?;
        let next = (!input.peek(Impl) && !input.is_empty()).then(|| input.parse()).transpose()?;
        input.parse::<TokenStream>()?;
        Ok(next)
    };
    syn::parse::Parser::parse2(keyword, item).ok().flatten()
}
