//! Ways to serve subscriptions.

pub(crate) mod http;
