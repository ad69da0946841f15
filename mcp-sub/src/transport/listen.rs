//! `subscriptions/listen`, whatever it came by.

use http::StatusCode;
use tokio_util::task::TaskTracker;

use crate::{
    caller::Caller,
    frame::Framing,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{filter::RequestedFilter, id::RequestId, request::Request},
    rejection::Rejection,
    subscriptions::{Admission, Listen, Registered, Subscriptions},
};

/// A listen that can be answered here, and for which there is room.
pub(super) struct Admitted {
    id: RequestId,
    filter: RequestedFilter,
    admission: Admission,
}

impl Admitted {
    /// Reads what the request asks for, and makes room for it. In that order: what is wrong takes no room.
    pub(super) fn of<H: SubscriptionHandler>(
        subscriptions: &Subscriptions<H>,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Self, Rejection> {
        let notifications = request.params.as_ref().and_then(|params| params.get("notifications"));
        let filter = RequestedFilter::of(notifications, subscriptions.settings().limits.filter())
            .map_err(|error| Rejection::from_error(StatusCode::BAD_REQUEST, error))?;
        Ok(Self { id: request.id.clone(), filter, admission: subscriptions.admit(caller)? })
    }

    /// Lets a connection that outlives its streams know of their `handle_close`.
    pub(super) fn of_connection(self, connection: &TaskTracker) -> Self {
        Self { admission: self.admission.of(connection), ..self }
    }

    /// From here on it misses nothing. `told` is what the caller is told that there is.
    pub(super) fn register<H: SubscriptionHandler>(
        self,
        subscriptions: &Subscriptions<H>,
        caller: Caller,
        framing: &'static Framing,
        told: Kinds,
    ) -> Registered<H> {
        let Self { id, filter, admission } = self;
        subscriptions.register(admission, Listen { id, caller, filter, framing }, told)
    }
}
