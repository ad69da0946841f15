//! Who asks, and with what.

use std::fmt;

use http::HeaderMap;
use serde_json::{Map, Value};

use crate::{caller::Caller, handle::SubscriptionHandle, protocol::id::RequestId};

/// The `subscriptions/listen` request that a subscription starts with, lent to
/// [`subscribe`](crate::SubscriptionHandler::subscribe).
///
/// It is gone when `subscribe` returns: copy what the subscription needs into its state.
///
/// Specification: [Subscriptions, Opening a Stream][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#opening-a-stream
pub struct ListenRequest {
    id: RequestId,
    caller: Caller,
    handle: SubscriptionHandle,
}

impl ListenRequest {
    pub(crate) fn new(id: RequestId, caller: Caller, handle: SubscriptionHandle) -> Self {
        Self { id, caller, handle }
    }

    /// The id of the request, which is the id of the subscription. Only unique within one connection.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Who asks.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// By which the subscription can be ended from outside. It can be kept.
    #[must_use]
    pub fn handle(&self) -> SubscriptionHandle {
        self.handle.clone()
    }

    /// [`Caller::headers`].
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.caller.headers()
    }

    /// [`Caller::extension`].
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.caller.extension()
    }

    /// [`Caller::meta`].
    #[must_use]
    pub fn meta(&self) -> &Map<String, Value> {
        self.caller.meta()
    }

    /// [`Caller::client_info`].
    #[must_use]
    pub fn client_info(&self) -> Option<&Value> {
        self.caller.client_info()
    }

    /// [`Caller::client_capabilities`].
    #[must_use]
    pub fn client_capabilities(&self) -> Option<&Value> {
        self.caller.client_capabilities()
    }
}

impl fmt::Debug for ListenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenRequest")
            .field("id", &self.id)
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}
