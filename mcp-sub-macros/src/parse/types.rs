//! Types, as far as a macro can see them: by their last path segment, as written.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    GenericArgument, Ident, Lifetime, Pat, PatType, PathArguments, PathSegment, ReturnType, Token, Type,
    TypeParamBound, TypeReference, ext::IdentExt, parse_quote,
};

use crate::spans::respan;

/// The type without the invisible group that a `macro_rules!` puts around it, and without parentheses.
pub(super) fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => plain(&group.elem),
        Type::Paren(paren) => plain(&paren.elem),
        ty => ty,
    }
}

/// `&T` or `&mut T`.
pub(super) fn reference(ty: &Type) -> Option<&TypeReference> {
    match plain(ty) {
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// The same, to be changed.
pub(super) fn reference_mut(ty: &mut Type) -> Option<&mut TypeReference> {
    match ty {
        Type::Group(group) => reference_mut(&mut group.elem),
        Type::Paren(paren) => reference_mut(&mut paren.elem),
        Type::Reference(reference) => Some(reference),
        _ => None,
    }
}

/// `T` and `&T` → `&mut T`, for what was reported not to be that: a body that takes it for one is not to add an error.
pub(super) fn make_exclusive(PatType { pat, ty, .. }: &mut PatType) {
    match reference_mut(ty) {
        Some(reference) => reference.mutability = Some(<Token![mut]>::default()),
        None if matches!(&**pat, Pat::Ident(pattern) if pattern.mutability.is_some()) => {}
        None => **ty = parse_quote!(&mut #ty),
    }
}

/// `Channel` of `mcp_sub::Channel<'_>`.
pub(super) fn name(ty: &Type) -> Option<Ident> {
    match plain(ty) {
        Type::Path(path) => Some(path.path.segments.last()?.ident.unraw()),
        _ => None,
    }
}

/// Whether it is a reference, and of that kind.
pub(super) fn is_reference(ty: &Type, mutable: bool) -> bool {
    reference(ty).is_some_and(|reference| reference.mutability.is_some() == mutable)
}

pub(super) fn is(ty: &Type, expected: &str) -> bool {
    name(ty).is_some_and(|name| name == expected)
}

/// The name behind any references.
pub(super) fn referenced_name(ty: &Type) -> Option<Ident> {
    match reference(ty) {
        Some(reference) => referenced_name(&reference.elem),
        None => name(ty),
    }
}

/// `Channel<'_>` → `Channel<'_, argument>`, in a reference or not. A second argument that is there stays.
pub(super) fn add_argument(ty: &mut Type, argument: &TokenStream) {
    let Some(segment) = last_segment(ty) else { return };
    let argument = respan(argument.clone(), segment.ident.span());
    match &mut segment.arguments {
        PathArguments::None => {
            segment.arguments = PathArguments::AngleBracketed(parse_quote!(<'_, #argument>));
        }
        PathArguments::AngleBracketed(list) => {
            if list.args.is_empty() {
                list.args.push(parse_quote!('_));
            }
            if list.args.iter().all(|argument| matches!(argument, GenericArgument::Lifetime(_))) {
                list.args.push(GenericArgument::Type(Type::Verbatim(argument)));
            }
        }
        PathArguments::Parenthesized(_) => {}
    }
}

/// `Inbox` → `Inbox<argument>`, in a reference or not. An argument that is there stays.
pub(super) fn add_sole_argument(ty: &mut Type, argument: &TokenStream) {
    let Some(segment) = last_segment(ty) else { return };
    let argument = respan(argument.clone(), segment.ident.span());
    match &mut segment.arguments {
        PathArguments::AngleBracketed(list) if list.args.is_empty() => {
            list.args.push(GenericArgument::Type(Type::Verbatim(argument)));
        }
        PathArguments::None => segment.arguments = PathArguments::AngleBracketed(parse_quote!(<#argument>)),
        _ => {}
    }
}

/// Calls `f` with the type, and with those that it is made of.
pub(super) fn for_each_inside(ty: &mut Type, f: &mut impl FnMut(&mut Type)) {
    f(ty);
    match ty {
        Type::Group(group) => for_each_inside(&mut group.elem, f),
        Type::Paren(paren) => for_each_inside(&mut paren.elem, f),
        Type::Reference(reference) => for_each_inside(&mut reference.elem, f),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| for_each_inside(ty, f)),
        Type::Path(path) => {
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(list) = &mut segment.arguments else { continue };
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        for_each_inside(ty, f);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Whether [`add_argument`] would add one.
pub(super) fn takes_argument(ty: &Type) -> bool {
    let mut with = ty.clone();
    add_argument(&mut with, &quote!(_));
    with != *ty
}

/// `'a` of `&mut Channel<'a>`.
pub(super) fn lifetime_inside(ty: &mut Type) -> Option<&mut Lifetime> {
    let PathArguments::AngleBracketed(list) = &mut last_segment(ty)?.arguments else { return None };
    list.args.iter_mut().find_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) if lifetime.ident != "_" => Some(lifetime),
        _ => None,
    })
}

/// How often a lifetime is in `tokens`.
pub(super) fn mentions(tokens: TokenStream, lifetime: &Lifetime) -> usize {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let in_one = |(position, token): (usize, &TokenTree)| match token {
        TokenTree::Group(group) => mentions(group.stream(), lifetime),
        TokenTree::Ident(ident) if *ident == lifetime.ident => {
            usize::from(position > 0 && is_quote(&tokens[position - 1]))
        }
        _ => 0,
    };
    tokens.iter().enumerate().map(in_one).sum()
}

fn last_segment(ty: &mut Type) -> Option<&mut PathSegment> {
    match ty {
        Type::Group(group) => last_segment(&mut group.elem),
        Type::Paren(paren) => last_segment(&mut paren.elem),
        Type::Reference(reference) => last_segment(&mut reference.elem),
        Type::Path(path) => path.path.segments.last_mut(),
        _ => None,
    }
}

/// `fn f(...) -> impl Future<...>`.
pub(super) fn is_future(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::ImplTrait(opaque) = plain(ty) else { return false };
    opaque.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "Future")
        }
        _ => false,
    })
}

/// The return type, if it can stand elsewhere as well.
pub(super) fn on_its_own(output: &ReturnType) -> Option<Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let can_stand = !matches!(plain(ty), Type::Never(_)) && !is_opaque(ty) && borrow(ty).is_none();
    can_stand.then(|| (**ty).clone())
}

/// Whether there is an `impl Trait` or a `_` in it: a type that nobody else can name.
pub(super) fn is_opaque(ty: &Type) -> bool {
    fn any_in(tokens: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        tokens.iter().enumerate().any(|(position, token)| match token {
            TokenTree::Ident(ident) if ident == "impl" => true,
            // That of `'_` is none.
            TokenTree::Ident(ident) => ident == "_" && !(position > 0 && is_quote(&tokens[position - 1])),
            TokenTree::Group(group) => any_in(group.stream()),
            _ => false,
        })
    }
    any_in(ty.to_token_stream())
}

/// A type of which there are references only, as far as can be seen.
pub(super) fn is_unsized(ty: &Type) -> bool {
    match plain(ty) {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    }
}

/// What no alias makes a `Result`.
pub(super) fn is_no_result(ty: &Type) -> bool {
    match plain(ty) {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "Option"),
        Type::Macro(_) | Type::Verbatim(_) => false,
        _ => true,
    }
}

/// `T` and `E` of `Result<T, E>`.
pub(super) fn of_result(ty: &Type) -> Option<(Type, Type)> {
    let Type::Path(path) = plain(ty) else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    match list.args.iter().collect::<Vec<_>>()[..] {
        [GenericArgument::Type(value), GenericArgument::Type(error)] => Some((value.clone(), error.clone())),
        _ => None,
    }
}

/// Whether lifetimes may be bound in it, by a `for` or as those of a function's parameters.
pub(super) fn binds_lifetimes(ty: &Type) -> bool {
    fn any_in(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "for" || ident == "fn" || ident.to_string().starts_with("Fn"),
            TokenTree::Group(group) => any_in(group.stream()),
            _ => false,
        })
    }
    any_in(ty.to_token_stream())
}

/// A borrow in what has to live on its own: the `&` or the lifetime.
///
/// Where lifetimes may be bound inside, nothing is said: rustc knows better.
pub(super) fn borrow(ty: &Type) -> Option<TokenStream> {
    if binds_lifetimes(ty) {
        return None;
    }
    let tokens: Vec<TokenTree> = ty.to_token_stream().into_iter().collect();
    tokens.iter().enumerate().find_map(|(position, token)| match (token, tokens.get(position + 1)) {
        (TokenTree::Punct(quote), Some(TokenTree::Ident(name)))
            if quote.as_char() == '\'' && name != "static" =>
        {
            Some([token.clone(), name.clone().into()].into_iter().collect())
        }
        (TokenTree::Punct(and), Some(next)) if and.as_char() == '&' && !is_quote(next) => {
            Some(token.clone().into())
        }
        _ => None,
    })
}

fn is_quote(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'')
}

/// Whether a reference refers to something that itself borrows: `&mut Mine<'_>`.
pub(super) fn borrows_inside(ty: &Type) -> bool {
    reference(ty).is_some_and(|reference| borrow(&reference.elem).is_some())
}
