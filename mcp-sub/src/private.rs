//! What the attribute's code names. No promise of compatibility: the two crates are released together.

pub use core::{
    convert::Infallible,
    future::{Future, ready},
    marker::{PhantomData, Send},
    option::Option::{self, Some},
};

use crate::{kind::Kinds, rejection::Rejection};

/// The future of one method, as one that is `Send`: what is not is reported here, at the method, and nowhere else.
pub fn method_future<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    future
}

/// The marker type of the method at a position in its block, for its `Channel<'_, E>`.
///
/// By position, so that it is known even where two methods take the same event, which is reported elsewhere.
pub trait Marked<const POSITION: usize> {
    type Marker;
}

/// The marker type of `handle_lagged`.
pub trait MarkedLagged {
    type Marker;
}

/// What handlers and events are: one value serves all subscriptions, from any thread, for as long as they are open.
pub trait Shared: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Shared for T {}

/// What a state is: it belongs to one subscription, which may go from thread to thread.
pub trait Owned: Send + 'static {}
impl<T: Send + 'static> Owned for T {}

#[cfg(feature = "relay")]
pub use relayed::{Decoded, Encoded, EncodedEvent, RelayedEvent};

/// What the option `relay` needs.
#[cfg(feature = "relay")]
mod relayed {
    use serde::{Serialize, de::DeserializeOwned};

    pub use crate::relay::EncodedEvent;
    use crate::relay::EventError;

    pub type Encoded = Result<EncodedEvent<'static>, EventError>;
    pub type Decoded<E> = Option<Result<E, EventError>>;

    /// An event that goes to other processes.
    #[diagnostic::on_unimplemented(
        message = "the event `{Self}` cannot go to other processes",
        label = "not `Serialize` and `DeserializeOwned`",
        note = "put `#[derive(serde::Serialize, serde::Deserialize)]` on it"
    )]
    pub trait RelayedEvent: Sized {
        fn encode(&self, name: &'static str) -> Encoded;
        fn decode(encoded: &EncodedEvent<'_>) -> Result<Self, EventError>;
    }

    #[diagnostic::do_not_recommend]
    impl<T: Serialize + DeserializeOwned> RelayedEvent for T {
        fn encode(&self, name: &'static str) -> Encoded {
            EncodedEvent::of(name, self)
        }

        fn decode(encoded: &EncodedEvent<'_>) -> Result<Self, EventError> {
            encoded.value()
        }
    }
}

/// What `subscription_capabilities` of the block returns.
#[diagnostic::on_unimplemented(
    message = "`subscription_capabilities` cannot return `{Self}`",
    label = "not `Kinds`"
)]
pub trait Capabilities {
    fn into_kinds(self) -> Kinds;
}

impl Capabilities for Kinds {
    fn into_kinds(self) -> Kinds {
        self
    }
}

/// What `subscribe` of the trait returns.
pub type Subscription<S> = Result<S, Rejection>;

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
