//! `handle_lagged`.

use syn::{Lifetime, Type};

use super::{
    signature::{self, Site},
    types,
};
use crate::{
    block::Method,
    errors::Errors,
    model::{Lagged, LaggedArgument},
    spans::Ends,
};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Lagged {
    let mut callee = signature::callee(errors, method, site);
    callee.is_async |= types::is_future(&method.sig.output);
    signature::loosen(errors, &mut method.sig, "Channel");
    let mut arguments = Vec::new();
    let mut written = None;
    let (mut missed, mut state, mut is_sound) = (false, false, signature::is_whole(&method.sig));
    for parameter in signature::parameters(&mut method.sig) {
        let name = types::referenced_name(&parameter.ty);
        let place = Ends::of(&parameter.ty);
        let is = |ours: &str| name.as_ref().is_some_and(|name| name == ours);
        if is("Channel") {
            if !types::is_reference(&parameter.ty, true) {
                errors.at(&parameter.ty, "expected `&mut Channel<'_>`");
                types::make_exclusive(parameter);
            } else if written.is_some() {
                errors.at(&parameter.ty, "`handle_lagged` has a channel already");
            }
            arguments.push(LaggedArgument::Channel(place));
            written = Some(parameter.clone());
            if site.is_handler {
                signature::lagged_channel(&mut parameter.ty, site);
            } else {
                signature::unbound_channel(&mut parameter.ty, site);
            }
        } else if is("Missed") && types::is_reference(&parameter.ty, false) && !missed {
            missed = true;
            not_static(errors, &mut parameter.ty);
            arguments.push(LaggedArgument::Missed(place));
        } else if types::is_reference(&parameter.ty, true)
            && !name.as_ref().is_some_and(signature::is_ours)
            && !state
        {
            state = true;
            arguments.push(LaggedArgument::State(parameter.ty.clone()));
        } else if is_sound {
            // Only the first: if one is out of place, so may be others.
            is_sound = false;
            errors.at(
                &parameter.ty,
                format_args!(
                    "unexpected parameter: `handle_lagged` takes `missed: &Missed<'_>`, `channel: &mut Channel<'_>` and \
                    `state: &mut STATE`, with the `STATE` of `subscribe`{}",
                    signature::where_it_is(name.as_ref()),
                ),
            );
            signature::give_arguments(&mut parameter.ty, site);
        }
    }
    match written {
        Some(written) if site.is_handler => signature::show_as_written(method, &written),
        None if is_sound => errors.at(
            &callee.ident,
            "`handle_lagged` takes no channel to send on\nhelp: add `channel: &mut Channel<'_>`",
        ),
        _ => {}
    }
    signature::comes_back(errors, &method.sig);
    Lagged { callee, arguments, output: types::on_its_own(&method.sig.output) }
}

fn not_static(errors: &Errors, ty: &mut Type) {
    if let Some(lifetime) = types::lifetime_inside(ty)
        && lifetime.ident == "static"
    {
        errors.at(&*lifetime, "what a method is lent is not `'static`: leave the lifetime out");
        *lifetime = Lifetime::new("'_", lifetime.span());
    }
}
