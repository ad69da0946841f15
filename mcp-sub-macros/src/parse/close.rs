//! `handle_close`.

use syn::{ReturnType, Type};

use super::{
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Close, CloseArgument},
    spans::Ends,
};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Close {
    let callee = signature::callee(errors, method, site);
    let mut arguments = Vec::new();
    let (mut reason, mut state) = (false, false);
    for parameter in signature::parameters(&mut method.sig) {
        let place = Ends::of(&parameter.ty);
        let name = types::referenced_name(&parameter.ty);
        if name.as_ref().is_some_and(|name| name == "Channel") {
            errors.at(
                &parameter.ty,
                "`handle_close` runs when the subscription has ended: there is no channel any more",
            );
            signature::unbound_channel(&mut parameter.ty, site);
        } else if types::is(&parameter.ty, "CloseReason") && !reason {
            reason = true;
            arguments.push(CloseArgument::Reason(place));
        } else if types::reference(&parameter.ty).is_none()
            && !name.as_ref().is_some_and(signature::is_ours)
            && !state
        {
            state = true;
            arguments.push(CloseArgument::State(parameter.ty.clone()));
        } else {
            errors.at(
                &parameter.ty,
                format_args!(
                    "unexpected parameter: `handle_close` takes `reason: CloseReason` and `state: STATE`, by value{}",
                    signature::where_it_is(name.as_ref()),
                ),
            );
            signature::give_arguments(&mut parameter.ty, site);
        }
    }
    if let ReturnType::Type(_, ty) = &method.sig.output
        && !matches!(types::plain(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        let text = if types::is_future(&method.sig.output) {
            "`handle_close` returns nothing: where it waits, it is an `async fn`"
        } else {
            "`handle_close` returns nothing: nobody is left to be told"
        };
        errors.at(ty, text);
    }
    Close { callee, arguments }
}
