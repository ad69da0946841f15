//! Ways to serve subscriptions.

mod discover;
pub(crate) mod http;
mod listen;
mod merge;
mod race;
pub(crate) mod stdio;
