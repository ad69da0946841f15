//! The promises, over real sockets: what a client sees, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

mod acknowledgement;
mod bare_hyper;
mod callers;
mod changes;
mod checks;
mod closing;
mod compression;
mod discover;
mod ending;
mod front_door;
mod honoured;
mod http2;
mod in_process;
mod inbox;
mod inner;
mod inside;
mod isolation;
mod keep_alive;
mod layer;
mod legacy;
mod limits;
mod log;
mod older;
mod panics;
mod reasons;
mod refusals;
mod rmcp;
mod rmcp_decides;
mod rmcp_inside;
mod robustness;
mod serve;
mod shutdown;
mod sockets;
mod stdio;
mod through;
