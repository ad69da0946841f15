//! What the attribute's code names. No promise of compatibility: the two crates are released together.

use std::future::Future;

pub use core::{
    future::{Ready, ready},
    marker::{PhantomData, Send},
    result::Result,
};

use crate::{channel::Channel, ending::IntoFlow, handler::SubscriptionHandler, rejection::Rejection};

/// One method with `#[emits(...)]`, for the marker type `M` of its name.
///
/// The future is opaque here, and `Send` by declaration, so that one that is not is reported at the method, and once.
pub trait Method<M>: SubscriptionHandler {
    type Input;
    fn call(
        &self,
        event: &Self::Input,
        channel: &mut Channel<'_, M>,
        state: &mut Self::State,
    ) -> impl Future<Output: IntoFlow> + Send;
}

/// The return type of `subscribe`, through any alias.
#[diagnostic::on_unimplemented(
    message = "`subscribe` cannot return `{Self}`",
    label = "not a `Result<STATE, impl Into<Rejection>>`",
    note = "the `STATE` is what belongs to one subscription: the other methods get it as `&mut STATE`"
)]
pub trait Subscribed {
    type State;
    fn into_result(self) -> Result<Self::State, Rejection>;
}

impl<S, E: Into<Rejection>> Subscribed for Result<S, E> {
    type State = S;
    fn into_result(self) -> Result<S, Rejection> {
        self.map_err(Into::into)
    }
}
