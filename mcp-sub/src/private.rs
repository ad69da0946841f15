//! What the attribute's code names. No promise of compatibility: the two crates are released together.

pub use core::{
    convert::{Infallible, Into},
    future::{Future, ready},
    marker::{PhantomData, Send},
    result::Result,
};

use crate::{channel::Channel, ending::IntoFlow, rejection::Rejection};

/// One method with `#[emits(...)]`, for the marker type `M` of its name and the event `Ev`.
///
/// The future is opaque here, and `Send` by declaration, so that one that is not is reported at the method, and once.
pub trait Method<M, Ev>: Stated {
    fn call(
        &self,
        event: &Ev,
        channel: &mut Channel<'_, M>,
        state: &mut Self::State,
    ) -> impl Future<Output: IntoFlow> + Send;
}

/// The state of a handler, whether or not that can be one.
pub trait Stated {
    type State;
}

/// The marker type of the method at a position in its block, for its `Channel<'_, E>`.
///
/// By position, so that it is known even where two methods take the same event, which is reported elsewhere.
pub trait Marked<const POSITION: usize> {
    type Marker;
}

/// What handlers and events are: one value serves all subscriptions, from any thread, for as long as they are open.
pub trait Shared: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Shared for T {}

/// What a state is: it belongs to one subscription, which may go from thread to thread.
pub trait Owned: Send + 'static {}
impl<T: Send + 'static> Owned for T {}

/// The return type of `subscribe`, through any alias.
#[diagnostic::on_unimplemented(
    message = "`subscribe` cannot return `{Self}`",
    label = "not a `Result<STATE, impl Into<Rejection>>`",
    note = "the `STATE` is what belongs to one subscription: the other methods get it as `&mut STATE`"
)]
pub trait Subscribed {
    type State;
    type Error;
    fn into_result(self) -> Result<Self::State, Rejection>
    where
        Self::Error: Refusal;
}

#[diagnostic::do_not_recommend]
impl<S, E> Subscribed for Result<S, E> {
    type State = S;
    type Error = E;
    fn into_result(self) -> Result<S, Rejection>
    where
        E: Refusal,
    {
        self.map_err(Refusal::into_rejection)
    }
}

/// The error of `subscribe`. Apart from [`Subscribed`], so that the state is known whatever the error is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a `Rejection`",
    label = "an error of `subscribe` has to be `Into<Rejection>`",
    note = "use `map_err`, or an `impl From<{Self}> for Rejection` if the error type is yours"
)]
pub trait Refusal {
    fn into_rejection(self) -> Rejection;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Rejection>> Refusal for E {
    fn into_rejection(self) -> Rejection {
        self.into()
    }
}
