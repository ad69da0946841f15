//! Who sends a request, as far as it says.

use std::fmt;

use http::{Extensions, HeaderMap};
use serde_json::{Map, Value};

use crate::protocol::meta;

/// Who sends a request: of a `subscriptions/listen`, or of a `server/discover` that asks what this server has.
///
/// Handed to [`subscription_capabilities`](crate::SubscriptionHandler::subscription_capabilities) and to
/// [`Builder::principal`](crate::Builder::principal), and part of a [`ListenRequest`](crate::ListenRequest).
pub struct Caller {
    headers: HeaderMap,
    extensions: Extensions,
    meta: Map<String, Value>,
}

impl Caller {
    pub(crate) fn new(headers: HeaderMap, extensions: Extensions, meta: Map<String, Value>) -> Self {
        Self { headers, extensions, meta }
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
        self.meta.get(meta::CLIENT_INFO)
    }

    /// The `ClientCapabilities` that the client declares for this request.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<&Value> {
        self.meta.get(meta::CLIENT_CAPABILITIES)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the headers: they carry credentials.
        f.debug_struct("Caller").field("client_info", &self.client_info()).finish_non_exhaustive()
    }
}
