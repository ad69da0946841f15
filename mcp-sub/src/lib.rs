//! The server side of MCP [`subscriptions/listen`][spec], revision 2026-07-28.
//!
//! A client opens one long-lived stream with a filter of what it wants to hear of. The server acknowledges what it will
//! honour, then tells the client whenever its tools, prompts or resources changed. Annotate one `impl` block, and the
//! rest is done:
//!
//! ```
//! use mcp_sub::{Channel, Filter, Rejection, Subscriptions, subscription_handler};
//!
//! pub struct ToolInstalled;
//! pub struct FileSaved {
//!     pub uri: String,
//! }
//!
//! pub struct Workspace;
//!
//! #[subscription_handler]
//! impl Workspace {
//!     /// Before the acknowledgement: accept, narrow or reject.
//!     fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
//!         filter.retain_resources(|uri| uri.starts_with("file:///public/"));
//!         Ok(())
//!     }
//!
//!     #[emits(tools_list_changed)]
//!     fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) {
//!         channel.tools_list_changed();
//!     }
//!
//!     #[emits(resources_updated)]
//!     async fn file_saved(&self, event: &FileSaved, channel: &mut Channel<'_>) {
//!         channel.resources_updated(&event.uri);
//!     }
//! }
//!
//! let subscriptions = Subscriptions::builder(Workspace).server_info("workspace", "1.0.0").build();
//! // From anywhere, after the new state can be read:
//! subscriptions.publish(ToolInstalled);
//! let uri = String::from("file:///public/notes.md");
//! subscriptions.publish_for(&uri, FileSaved { uri: uri.clone() });
//! // A `tower` service: alone on an endpoint, or as `subscriptions.layer(server)` over an MCP server that exists.
//! let service = subscriptions.http();
//! # let _ = service;
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what the block may contain, and what is generated | [`#[subscription_handler]`](macro@subscription_handler) |
//! | the same by hand | [`SubscriptionHandler`] |
//! | who is asking, and how to refuse | [`ListenRequest`], [`Filter`], [`Rejection`] |
//! | an initial notification, and sources of one subscription's own | [`Inbox`] |
//! | what a method may send, and how it ends a stream | [`Channel`], [`Flow`], [`CloseReason`] |
//! | publishing and shutting down | [`Subscriptions`] |
//! | who a stream belongs to, how long it lasts, how to end it | [`Caller`], [`Filter::set_expiry`], [`SubscriptionHandle`] |
//! | what each caller may be told of | [`SubscriptionHandler::subscription_capabilities`] |
//! | rights that are checked per event | [`SubscriptionHandler::handle_lagged`] |
//! | storms | [`Builder::coalesce`] |
//! | a handler that is there already | [`ListChanges`] |
//! | what was done so far | [`Stats`] |
//! | every setting and every bound | [`Builder`], [`Limits`] |
//! | several replicas of a server | `relay`, with the feature `relay` or `nats` |
//! | serving | [`Subscriptions::http`], [`Subscriptions::layer`], [`Subscriptions::stdio`] |
//! | inside an rmcp server | `rmcp`, with the feature `rmcp`; clients of 2025-11-25 with the feature `legacy` |
//! | a server that ends on time | `serve`, with the feature `serve` |
//! | what a client that stalls may hold | `SocketOptions`, with the feature `sockets` or `serve` |
//!
//! # How it behaves
//!
//! **Order.** The acknowledgement is the first message. What is published while [`subscribe`](SubscriptionHandler::subscribe)
//! runs comes after it. Events of one publisher are handled in the order in which they were published.
//!
//! **Slow clients.** A stream takes no event while its client has not taken the frames before. What is sent twice
//! meanwhile is sent once, and events that do not fit into the stream's slot are told of afterwards: once for each kind
//! and URI, without a call of their methods. Nothing is lost silently, nothing grows, and nobody else waits. So rights
//! belong into `subscribe`: what is left in the filter may be told. Who decides with each event instead writes
//! [`handle_lagged`](SubscriptionHandler::handle_lagged) as well.
//!
//! **Endings.** [`handle_close`](SubscriptionHandler::handle_close) runs exactly once for each subscription that was
//! accepted, with the reason. Errors and panics of a method end its own stream only.
//!
//! **Nothing is replayed.** What was published before a client listened is not told. Clients list after each
//! acknowledgement.
//!
//! **Runtime.** Streams live on tokio, with its timer enabled.
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod builder;
mod caller;
mod caught;
mod channel;
mod ending;
mod filter;
mod frame;
mod handle;
mod handler;
mod hub;
mod inbox;
mod kind;
mod limits;
mod list_changes;
mod listen;
mod missed;
#[cfg(test)]
#[cfg(mcp_sub_loom)]
mod models;
mod outbox;
mod pending;
mod protocol;
mod registry;
mod rejection;
#[cfg(feature = "relay")]
pub mod relay;
#[cfg(feature = "metrics")]
mod report;
#[cfg(feature = "rmcp")]
pub mod rmcp;
mod settings;
mod source;
mod span;
mod stats;
mod stream;
mod subscription;
mod subscriptions;
mod sync;
mod transport;
mod window;

pub use builder::Builder;
pub use caller::Caller;
pub use channel::{AnyNotification, Channel, Emits, MethodWithoutEmits};
pub use ending::{CloseReason, Flow, IntoFlow};
pub use filter::{Declares, Filter};
pub use handle::SubscriptionHandle;
pub use handler::{HandledBy, Handles, SubscriptionHandler};
pub use hub::Hub;
pub use inbox::Inbox;
pub use kind::{
    Kinds, Notification, PromptsListChanged, ResourcesListChanged, ResourcesUpdated, ToolsListChanged,
};
pub use limits::Limits;
pub use list_changes::ListChanges;
pub use listen::ListenRequest;
pub use mcp_sub_macros::{emits, subscription_handler};
pub use missed::Missed;
pub use protocol::id::RequestId;
pub use registry::Shutdown;
pub use rejection::Rejection;
pub use stats::Stats;
pub use subscriptions::Subscriptions;
#[cfg(feature = "sockets")]
pub use transport::http::SocketOptions;
#[cfg(feature = "serve")]
pub use transport::http::{Serve, serve};

/// A channel that messages share: what [`Subscriptions::stdio`] gives.
pub mod stdio {
    pub use crate::transport::stdio::Stdio;
}

/// Streamable HTTP: what [`Subscriptions::http`] and [`Subscriptions::layer`] give.
pub mod http {
    pub use crate::transport::http::{Body, Http, Layered};
}
