//! `#[emits(x)]` on a method that provably never sends `x`: a warning, by way of rustc's own `dead_code`.
//!
//! It is provable only while each mention of the channel is `channel.NAME(…)` with a NAME of ours. Once the channel is
//! passed on, or its name is in the arguments of a macro, the answer is "perhaps", and nothing is said.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;

use crate::{
    model::{ChannelName, Emit, EventMethod},
    names,
    spans::{Ends, respan},
};

/// For each such word, a method that nobody calls, made of that word's tokens: rustc reports it there, by that name.
pub(crate) fn warnings(method: &EventMethod) -> TokenStream {
    let unsent = unsent(method);
    if unsent.is_empty() {
        return TokenStream::new();
    }
    let name = &method.callee.ident;
    let dead = unsent.iter().map(|Emit { word, .. }| respan(quote!(fn #word(&self) {}), word.span()));
    let dead = Ends::from(name.span()).item(quote!(impl __Unsent), &TokenStream::new(), quote!(#(#dead)*));
    let (cfgs, lints) = (&method.callee.cfgs, &method.lints);
    quote! {
        #(#cfgs)*
        #(#lints)*
        #[allow(clippy::unused_self, clippy::missing_const_for_fn)] // it is a method so that rustc calls it one
        const _: () = {
            // Not the method's name: rustc shows the path of a type in full as soon as two have its name, and the
            // channel's is in the texts about what is not declared.
            #[allow(dead_code)]
            struct __Unsent;
            #dead
        };
    }
}

/// What the method declares, and provably never sends.
pub(crate) fn unsent(method: &EventMethod) -> Vec<&Emit> {
    let Some(sent) = sent(method) else { return Vec::new() };
    method.emits.iter().filter(|emit| !sent.contains(&emit.kind.word)).collect()
}

/// All that the method sends, or `None` if that cannot be known.
fn sent(method: &EventMethod) -> Option<Vec<&'static str>> {
    let channel = match &method.channel {
        ChannelName::Wildcard => None,
        ChannelName::Ident(channel) => Some(channel.unraw()),
        ChannelName::Pattern => return None,
    };
    let TokenTree::Group(body) = &method.body else { return None };
    let mut sent = Vec::new();
    scan(body.stream(), channel.as_ref(), &mut sent)?;
    Some(sent)
}

/// Adds what `channel`, if it has a name, sends in `tokens`; `None` as soon as that cannot be known.
fn scan(tokens: TokenStream, channel: Option<&Ident>, sent: &mut Vec<&'static str>) -> Option<()> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (position, token) in tokens.iter().enumerate() {
        let rest = &tokens[position + 1..];
        match token {
            TokenTree::Group(group) => scan(group.stream(), channel, sent)?,
            TokenTree::Ident(ident) if is(ident, channel) => match rest {
                [TokenTree::Punct(dot), TokenTree::Ident(name), TokenTree::Group(_), ..]
                    if dot.as_char() == '.' =>
                {
                    sent.push(names::kind(&name.to_string())?.word);
                }
                _ => return None,
            },
            TokenTree::Ident(name) => {
                // What is not written yet may send anything.
                let is_stub = name == "todo" || name == "unimplemented";
                if arguments_of_macro(rest).is_some_and(|arguments| is_stub || mentions(arguments, channel)) {
                    return None;
                }
            }
            _ => {}
        }
    }
    Some(())
}

/// What is in the parentheses of `name!(…)`, if this comes after a name. Not those of `name != (…)`.
fn arguments_of_macro(tokens: &[TokenTree]) -> Option<TokenStream> {
    match tokens {
        [TokenTree::Punct(bang), TokenTree::Group(arguments), ..]
            if bang.as_char() == '!' && bang.spacing() == Spacing::Alone =>
        {
            Some(arguments.stream())
        }
        _ => None,
    }
}

fn is(ident: &Ident, channel: Option<&Ident>) -> bool {
    channel.is_some_and(|channel| ident.unraw() == *channel)
}

fn mentions(tokens: TokenStream, channel: Option<&Ident>) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => is(&ident, channel),
        TokenTree::Group(group) => mentions(group.stream(), channel),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::format_ident;

    use super::*;

    fn scanned(body: TokenStream) -> Option<Vec<&'static str>> {
        let mut sent = Vec::new();
        scan(body, Some(&format_ident!("channel")), &mut sent).map(|()| sent)
    }

    #[test]
    fn what_is_sent_on_the_channel_is_known() {
        assert_eq!(scanned(quote!()), Some(vec![]));
        let nested = quote!(if a != (b) { for _ in 0..2 { channel.tools_list_changed(); } } other.prompts_list_changed());
        assert_eq!(scanned(nested), Some(vec!["tools_list_changed"]));
        assert_eq!(scanned(quote!(r#channel.resources_updated("x:")?)), Some(vec!["resources_updated"]));
        assert_eq!(scanned(quote!(info!("x {}", 1))), Some(vec![]));
    }

    #[test]
    fn a_channel_that_escapes_may_send_anything() {
        for body in [
            quote!(tell(channel)),
            quote!(let other = channel; other.tools_list_changed()),
            quote!(notify!(channel)),
            quote!(notify!(channel.tools_list_changed())),
            quote!(with(|channel| channel.tools_list_changed())),
            quote!(channel.something_of_a_trait()),
            quote!(channel),
            quote!(channel.tools_list_changed),
            quote!(Channel::tools_list_changed(channel)),
            quote!(todo!()),
        ] {
            assert_eq!(scanned(body.clone()), None, "{body}");
        }
    }
}
