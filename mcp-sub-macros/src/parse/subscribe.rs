//! `subscribe`.

use syn::{ReturnType, Signature, Type, parse_quote};

use super::{
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Checked, Subscribe, SubscribeArgument},
};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Subscribe {
    let callee = signature::callee(errors, method);
    let mut arguments = Vec::new();
    for parameter in signature::parameters(&mut method.sig) {
        let found = match types::referenced_name(&parameter.ty) {
            Some(name) if name == "Channel" => {
                errors.at(
                    &parameter.ty,
                    "`subscribe` runs before the acknowledgement, when nothing may be sent: there is no channel yet",
                );
                signature::unbound_channel(&mut parameter.ty, site);
                continue;
            }
            Some(name) if name == "Filter" && types::is_reference(&parameter.ty, true) => {
                SubscribeArgument::Filter
            }
            Some(name) if name == "ListenRequest" && types::is_reference(&parameter.ty, false) => {
                SubscribeArgument::Request
            }
            _ => {
                errors.at(
                    &parameter.ty,
                    "unexpected parameter: `subscribe` takes `filter: &mut Filter<'_>` and `request: &ListenRequest`",
                );
                signature::typed_filter(&mut parameter.ty);
                continue;
            }
        };
        if arguments.contains(&found) {
            errors.at(&parameter.ty, "`subscribe` has this parameter already");
        }
        signature::typed_filter(&mut parameter.ty);
        arguments.push(found);
    }
    let output = output(errors, &method.sig, site);
    Subscribe { callee, arguments, checked: checked(&output), output }
}

/// An alias has to be checked as a whole. That bound comes before the impl that says what the state is, wherever rustc
/// cannot tell that the two are the same, as for a type that binds lifetimes.
fn checked(output: &Type) -> Checked {
    match types::error_of_result(output) {
        Some(error) => Checked::Error(Box::new(error)),
        None if types::binds_lifetimes(output) => Checked::Nothing,
        None => Checked::Whole,
    }
}

fn output(errors: &Errors, sig: &Signature, Site { krate, .. }: Site<'_>) -> Type {
    match &sig.output {
        ReturnType::Default => errors.at(
            &sig.ident,
            "`subscribe` returns `Result<STATE, Rejection>`\n\
            help: the `STATE` is what belongs to one subscription: the other methods get it as `&mut STATE`",
        ),
        ReturnType::Type(_, ty) => {
            if types::is_opaque(ty) {
                errors
                    .at(ty, "`subscribe` returns `Result<STATE, Rejection>`, from an `async fn` or an `fn`");
            } else if let Some(borrow) = types::borrow(ty) {
                errors.at(borrow, "the state of a subscription outlives `subscribe`: it has to be `'static`");
            } else {
                return (**ty).clone();
            }
        }
    }
    parse_quote!(#krate::__private::Result<(), #krate::Rejection>)
}
