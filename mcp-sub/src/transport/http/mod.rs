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
#[cfg(feature = "serve")]
mod socket;
mod source;

pub use self::{alone::Http, body::Body, layer::Layered};
#[cfg(feature = "serve")]
pub use self::{
    serve::{Serve, serve},
    socket::SocketOptions,
};
