//! Who asks, and with what.

use std::fmt;

use http::{Extensions, HeaderMap};
use serde_json::{Map, Value};

use crate::protocol::{id::RequestId, meta};

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
    headers: HeaderMap,
    extensions: Extensions,
    meta: Map<String, Value>,
}

impl ListenRequest {
    pub(crate) fn new(
        id: RequestId,
        headers: HeaderMap,
        extensions: Extensions,
        meta: Map<String, Value>,
    ) -> Self {
        Self { id, headers, extensions, meta }
    }

    /// The id of the request, which is the id of the subscription. Only unique within one connection.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// The headers of the HTTP request. Empty on a transport that has none.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// What the layers around this server found out about the caller, such as its identity.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// The member `_meta` of the request.
    #[must_use]
    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// The `Implementation` that the client says it is. Self-reported: for display and logs, never for rights.
    #[must_use]
    pub fn client_info(&self) -> Option<&Value> {
        self.meta().get(meta::CLIENT_INFO)
    }

    /// The `ClientCapabilities` that the client declares for this request.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<&Value> {
        self.meta().get(meta::CLIENT_CAPABILITIES)
    }
}

impl fmt::Debug for ListenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the headers: they carry credentials.
        f.debug_struct("ListenRequest").field("id", &self.id).finish_non_exhaustive()
    }
}
