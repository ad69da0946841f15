//! `subscribe`.

use syn::{ReturnType, Signature, Type, parse_quote};

use super::{
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Subscribe, SubscribeArgument},
};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Subscribe {
    let callee = signature::callee(errors, method, site);
    signature::loosen(errors, &mut method.sig, "Filter");
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
            Some(name) if name == "Inbox" && types::is_reference(&parameter.ty, false) => {
                SubscribeArgument::Inbox
            }
            _ => {
                errors.at(
                    &parameter.ty,
                    "unexpected parameter: `subscribe` takes `filter: &mut Filter<'_>`, `request: &ListenRequest` and \
                    `inbox: &Inbox`",
                );
                signature::give_arguments(&mut parameter.ty, site);
                if types::referenced_name(&parameter.ty).is_some_and(|name| name == "Filter") {
                    types::make_exclusive(parameter);
                }
                continue;
            }
        };
        if arguments.contains(&found) {
            errors.at(&parameter.ty, "`subscribe` has this parameter already");
        }
        signature::of_handler(&mut parameter.ty);
        arguments.push(found);
    }
    let output = output(errors, &method.sig, site);
    let (state, error) = types::of_result(&output).unzip();
    let may_be_no_result = error.is_none() && !types::binds_lifetimes(&output);
    Subscribe { callee, arguments, output, state, error, may_be_no_result }
}

const RESULT: &str = "`subscribe` returns `Result<STATE, Rejection>`";
const STATE: &str =
    "help: the `STATE` is what belongs to one subscription: the other methods get it as `&mut STATE`";

fn output(errors: &Errors, sig: &Signature, Site { krate, .. }: Site<'_>) -> Type {
    match &sig.output {
        ReturnType::Default => errors.at(&sig.ident, format_args!("{RESULT}\n{STATE}")),
        ReturnType::Type(_, ty) => {
            if types::is_opaque(ty) {
                errors.at(ty, format_args!("{RESULT}, from an `async fn` or an `fn`"));
            } else if types::is_no_result(ty) {
                errors.at(ty, format_args!("{RESULT}\n{STATE}"));
            } else if let Some(borrow) = types::borrow(ty) {
                errors.at(borrow, "the state of a subscription outlives `subscribe`: it has to be `'static`");
            } else {
                return (**ty).clone();
            }
        }
    }
    parse_quote!(#krate::__private::Subscription<()>)
}
