//! Streamable HTTP, as a `tower` service and as a layer over one.
//!
//! Specification: [Streamable HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http).

mod accept;
mod alone;
mod answer;
mod body;
mod events;
mod gate;
mod inner;
mod layer;
mod listen;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "sockets")]
mod socket;
mod source;

#[cfg(feature = "serve")]
pub use self::serve::{Serve, serve};
#[cfg(feature = "sockets")]
pub use self::socket::SocketOptions;
pub use self::{alone::Http, body::Body, layer::Layered};
