//! The server side of MCP `subscriptions/listen`.

#![forbid(unsafe_code)]

mod channel;
mod ending;
mod filter;
mod frame;
mod handler;
mod kind;
mod listen;
mod outbox;
mod pending;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod protocol;
mod rejection;
mod sync;

pub use channel::{AnyNotification, Channel, Emits, MethodWithoutEmits};
pub use ending::{CloseReason, Flow, IntoFlow};
pub use filter::{Declares, Filter};
pub use handler::{HandledBy, Handles, SubscriptionHandler};
pub use kind::{Kinds, Notification, PromptsListChanged, ResourcesListChanged, ResourcesUpdated, ToolsListChanged};
pub use listen::ListenRequest;
pub use mcp_sub_macros::subscription_handler;
pub use protocol::id::RequestId;
pub use rejection::{Rejection, ReservedCode};
