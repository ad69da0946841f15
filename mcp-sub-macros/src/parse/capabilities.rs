//! `subscription_capabilities`.

use syn::{ReturnType, Type};

use super::{
    signature::{self, Site},
    types,
};
use crate::{block::Method, errors::Errors, model::Capabilities, spans::Ends};

pub(super) fn parse(errors: &Errors, method: &mut Method, site: Site<'_>) -> Capabilities {
    let callee = signature::callee(errors, method, site);
    if let Some(token) = &method.sig.asyncness {
        errors.at(token, WAITS);
    }
    let mut parameter = None;
    for found in signature::parameters(&mut method.sig) {
        let is_caller = types::is_reference(&found.ty, false)
            && types::referenced_name(&found.ty).is_some_and(|name| name == "Caller");
        if is_caller && parameter.is_none() {
            parameter = Some(Ends::of(&found.ty));
        } else {
            errors.at(&found.ty, "unexpected parameter: `subscription_capabilities` takes `caller: &Caller`");
            signature::give_arguments(&mut found.ty, site);
        }
    }
    let output = match &method.sig.output {
        ReturnType::Default => {
            errors.at(&method.sig.ident, "`subscription_capabilities` returns `Kinds`");
            None
        }
        ReturnType::Type(_, ty) if types::is_future(&method.sig.output) => {
            errors.at(ty, WAITS);
            None
        }
        ReturnType::Type(_, ty) if is_no_kinds(ty) => {
            errors.at(ty, "`subscription_capabilities` returns `Kinds`");
            None
        }
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    Capabilities { callee, parameter, output }
}

const WAITS: &str = "`subscription_capabilities` cannot wait: it answers each request from what is there, \
    in an `fn` that returns `Kinds`";

/// What no alias makes `Kinds`. Of another path it is rustc that knows.
fn is_no_kinds(ty: &Type) -> bool {
    types::is_no_result(ty) || types::is_opaque(ty) || types::of_result(ty).is_some()
}
