//! The server side of MCP `subscriptions/listen`.

#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod builder;
mod channel;
mod ending;
mod filter;
mod frame;
mod handler;
mod hub;
mod kind;
mod limits;
mod listen;
mod outbox;
mod pending;
mod protocol;
mod registry;
mod rejection;
mod settings;
mod stream;
mod subscription;
mod subscriptions;
mod sync;
mod transport;

pub use builder::Builder;
pub use channel::{AnyNotification, Channel, Emits, MethodWithoutEmits};
pub use ending::{CloseReason, Flow, IntoFlow};
pub use filter::{Declares, Filter};
pub use handler::{HandledBy, Handles, SubscriptionHandler};
pub use hub::Hub;
pub use kind::{
    Kinds, Notification, PromptsListChanged, ResourcesListChanged, ResourcesUpdated, ToolsListChanged,
};
pub use limits::Limits;
pub use listen::ListenRequest;
pub use mcp_sub_macros::{emits, subscription_handler};
pub use protocol::id::RequestId;
pub use registry::Shutdown;
pub use rejection::{Rejection, ReservedCode};
pub use subscriptions::Subscriptions;

/// Streamable HTTP: what [`Subscriptions::http`] and [`Subscriptions::layer`] give.
pub mod http {
    pub use crate::transport::http::{Body, Http, Layered, RequestBody};
}
