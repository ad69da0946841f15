//! Inside an [rmcp](https://docs.rs/rmcp) server, under rmcp's own transports (feature `rmcp`).
//!
//! Two lines of a `ServerHandler` hand listens over, and one says what is there to listen to:
//!
//! ```
//! use mcp_sub::{ListChanges, Subscriptions};
//! use rmcp::{
//!     ErrorData, ServerHandler,
//!     model::{ServerCapabilities, ServerConfig, SubscriptionFilter},
//!     service::SubscriptionContext,
//! };
//!
//! #[derive(Clone)]
//! struct Server {
//!     subscriptions: Subscriptions<ListChanges<true>>,
//! }
//!
//! impl ServerHandler for Server {
//!     fn get_info(&self) -> ServerConfig {
//!         let capabilities = ServerCapabilities::builder().enable_tools().build();
//!         ServerConfig::new(self.subscriptions.advertise(capabilities))
//!     }
//!
//!     fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
//!         self.subscriptions.accepted_subscription_filter(requested)
//!     }
//!
//!     async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
//!         self.subscriptions.listen(context).await
//!     }
//! }
//!
//! let subscriptions = Subscriptions::builder(ListChanges::new().tools()).build();
//! let server = Server { subscriptions };
//! # let advertised = server.get_info().capabilities.tools.unwrap();
//! # assert_eq!(advertised.list_changed, Some(true));
//! ```
//!
//! Every clone of the server has to hold a clone of the same [`Subscriptions`](crate::Subscriptions): rmcp makes a server
//! for each session, and for each request of this revision.
//!
//! # What rmcp decides
//!
//! Filters, catch-up, coalescing, limits, handles, expiry and shutdown are as elsewhere. What rmcp writes itself is not:
//!
//! **The acknowledgement.** rmcp asks `accepted_subscription_filter` what to acknowledge, before it says who asks and
//! without waiting; then it writes the acknowledgement; then it calls `listen`.
//!
//! - Where who asks makes no difference
//!   ([`DEPENDS_ON_CALLER`](crate::SubscriptionHandler::DEPENDS_ON_CALLER) is `false` and no
//!   [`principal`](crate::Builder::principal) is set), `subscribe` runs in the first of the two, so what is acknowledged is
//!   what it left. If it has to wait there it is dropped, and runs in the second, as below. In the log such a subscription has
//!   the id `null`: rmcp has not said that either.
//! - Where it makes a difference, or has to wait, `subscribe` runs in `listen`. **It may accept or reject, and what it
//!   takes away comes too late**: the client was promised it. Such a stream ends at once with the error `-32603`,
//!   `data.reason` `narrowed`, rather than go on with less than was acknowledged; the log says so. The same holds where
//!   [`subscription_capabilities`](crate::SubscriptionHandler::subscription_capabilities) gives a caller less than all.
//!   A client that asks for what it may have is served.
//!
//! So a handler that narrows by who asks belongs in front of rmcp, where what was honoured is acknowledged:
//! [`Subscriptions::layer`](crate::Subscriptions::layer), or [`Stdio::over`](crate::stdio::Stdio::over). These lines can stay:
//! listens do not reach them then, and sessions of 2025-11-25 (feature `legacy`) do.
//!
//! **Refusals.** An error can only follow an acknowledgement. A listen that is wrong or that a limit forbids is therefore
//! acknowledged with nothing in it, or what was asked for where a limit is about the caller, and then gets its error, with the
//! code and the `data` that it has elsewhere. There is no HTTP status.
//!
//! **Who asks.** [`Caller::headers`](crate::Caller::headers) and [`Caller::extension`](crate::Caller::extension) are those of
//! the HTTP request, in which a `tower` layer around rmcp's service puts the identity. On stdio there are none.
//!
//! **The end.** rmcp writes the result, with the `serverInfo` of `get_info`.
//! [`shutdown`](crate::Subscriptions::shutdown) counts a stream as completed when rmcp has its end; so after it, let rmcp's own
//! transport finish. A cancelled listen and a client that went away look the same:
//! [`CloseReason::Disconnected`](crate::CloseReason::Disconnected). When the input of stdio ends, rmcp waits five seconds for
//! open requests, listens included, and says nothing on their streams any more.
//!
//! **Keep-alive, hosts, origins** and the size of a body are settings of rmcp's transport.
//!
//! Specification: [Subscriptions](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).

mod convert;
mod deliver;
mod early;
#[cfg(feature = "legacy")]
mod legacy;
mod listen;

#[cfg(feature = "legacy")]
pub use self::legacy::Legacy;
pub(crate) use self::listen::Kept;
