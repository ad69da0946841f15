//! The wire of MCP revision 2026-07-28, as far as subscriptions need it. Pure data, no I/O.

pub(crate) mod error;
pub(crate) mod filter;
pub(crate) mod id;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod request;

/// The one protocol revision that is served.
pub(crate) const VERSION: &str = "2026-07-28";

pub(crate) const LISTEN: &str = "subscriptions/listen";
pub(crate) const DISCOVER: &str = "server/discover";
pub(crate) const CANCELLED: &str = "notifications/cancelled";

/// Requests of older revisions that this one does not have. A server of both may answer them to whoever asks.
pub(crate) const REMOVED: [&str; 4] =
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Keys of `_meta` that the specification reserves.
pub(crate) mod meta {
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
}
