//! The one home of every setting.

use std::{fmt, time::Duration};

use serde_json::json;

use crate::{
    caller::Caller,
    handler::SubscriptionHandler,
    hub::Hub,
    kind::Kinds,
    limits::Limits,
    settings::{Hosts, Settings},
    subscriptions::Subscriptions,
};

/// Builds [`Subscriptions`]. Every setting has its home here.
#[must_use]
pub struct Builder<H: SubscriptionHandler> {
    handler: H,
    hub: Hub<H>,
    settings: Settings,
}

impl<H: SubscriptionHandler> Subscriptions<H> {
    /// Begins a server with `handler`. [`build`](Builder::build) with nothing set serves on loopback, with the default
    /// [`Limits`].
    pub fn builder(handler: H) -> Builder<H> {
        Builder { handler, hub: Hub::new(), settings: Settings::default() }
    }
}

impl<H: SubscriptionHandler> Builder<H> {
    /// The name and version that `server/discover` and the results of streams carry. Default: none. Under a
    /// [layer](Subscriptions::layer), `server/discover` has those of the inner server: say the same here.
    pub fn server_info(mut self, name: &str, version: &str) -> Self {
        self.settings.server_info = Some(json!({ "name": name, "version": version }).to_string().into());
        self
    }

    /// How a model uses this server, for `server/discover`. Default: nothing. A [layer](Subscriptions::layer) leaves
    /// this to the inner server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.instructions = Some(instructions.into());
        self
    }

    /// Every bound. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// After how much silence an SSE comment is sent, so that no one on the way takes the connection for dead; `None`
    /// switches it off, and so does a duration of zero. Default: 15 s.
    pub fn keep_alive(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.settings.keep_alive = interval.into().filter(|interval| !interval.is_zero());
        self
    }

    /// The hosts, as in `files.example` or `files.example:8443`, that a request may name in `Host`; without a port, any
    /// port does. Default: those on loopback. This replaces it.
    pub fn allowed_hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.settings.hosts = Hosts::Listed(hosts.into_iter().map(Into::into).collect());
        self
    }

    /// Takes requests for any host: for a server behind a proxy that has checked it. `Origin` is still checked.
    pub fn any_host(mut self) -> Self {
        self.settings.hosts = Hosts::Any;
        self
    }

    /// The origins, as in `https://app.example`, whose pages may send requests. Requests without an `Origin` come from
    /// no page, and are always taken. Default: those on loopback. This replaces it.
    ///
    /// Specification: [Streamable HTTP, Security][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-&-endpoint
    pub fn allowed_origins<S: Into<String>>(mut self, origins: impl IntoIterator<Item = S>) -> Self {
        self.settings.origins = Some(origins.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps a stream that honours nothing open, for clients that would otherwise come back in a loop. Default: it is
    /// acknowledged with nothing in it, and completed.
    pub fn hold_empty(mut self, hold: bool) -> Self {
        self.settings.hold_empty = hold;
        self
    }

    /// Where messages share a channel, as on [stdio](Subscriptions::stdio), sends `notifications/cancelled` before the
    /// response that ends a stream. Default: the response alone, which every client takes for the end.
    ///
    /// The specification asks for the one on its page about [cancellation][cancellation], for the other on that about
    /// [subscriptions][closure]. This is for clients that wait for the first.
    ///
    /// [cancellation]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#behavior-requirements
    /// [closure]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
    pub fn stdio_cancelled(mut self, send: bool) -> Self {
        self.settings.stdio_cancelled = send;
        self
    }

    /// Says who a caller is, from what authentication has put into the request: the name that
    /// [`Limits::streams_per_principal`] counts by and [`Subscriptions::end_all`] ends by. Default: nobody is anyone.
    ///
    /// It runs for each listen, on the thread that serves it: it has to be quick.
    ///
    /// ```
    /// # use mcp_sub::{Limits, ListChanges, Subscriptions};
    /// #[derive(Clone)]
    /// struct User(String);
    ///
    /// let subscriptions = Subscriptions::builder(ListChanges::new().tools())
    ///     .principal(|caller| caller.extension::<User>().map(|user| user.0.clone()))
    ///     .limits(Limits::default().with_streams_per_principal(10))
    ///     .build();
    /// subscriptions.end_all("alice", "her account was closed");
    /// ```
    pub fn principal(
        mut self,
        principal: impl Fn(&Caller) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.principal = Some(Box::new(principal));
        self
    }

    /// Shares `hub` with other servers of this process: what is published on one of them reaches the subscriptions of
    /// all. Default: a hub of its own.
    ///
    /// ```
    /// # use mcp_sub::{Hub, ListChanges, Subscriptions, ToolsListChanged};
    /// let hub = Hub::new();
    /// let public = Subscriptions::builder(ListChanges::new().tools()).with_hub(hub.clone()).build();
    /// let internal = Subscriptions::builder(ListChanges::new().tools()).with_hub(hub.clone()).build();
    /// hub.publish(ToolsListChanged);
    /// ```
    pub fn with_hub(mut self, hub: Hub<H>) -> Self {
        self.hub = hub;
        self
    }

    /// How long lies at least between two notifications of the same thing on one stream: of the list of a kind in
    /// `kinds`, or, with [`RESOURCES_UPDATED`](Kinds::RESOURCES_UPDATED), of one URI. Default: no time at all. May be
    /// called for several kinds, one after the other; zero switches it off.
    ///
    /// The first notification goes out at once. Further ones within `window` of it are held, and go out as one when the
    /// window ends, which begins the next window. So a client lists once per window in a storm of changes, and hears of
    /// the last one at most `window` late. Other kinds and other URIs do not wait, methods are called as ever, and what
    /// is held when a stream ends is sent before its ending.
    ///
    /// With a window, each URI that a stream is told of costs it some 100 bytes more.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use mcp_sub::{Kinds, SubscriptionHandler, Subscriptions};
    /// # fn build<H: SubscriptionHandler>(handler: H) -> Subscriptions<H> {
    /// Subscriptions::builder(handler)
    ///     .coalesce(Kinds::TOOLS_LIST_CHANGED.union(Kinds::PROMPTS_LIST_CHANGED), Duration::from_millis(500))
    ///     .coalesce(Kinds::RESOURCES_UPDATED, Duration::from_millis(50))
    ///     .build()
    /// # }
    /// ```
    pub fn coalesce(mut self, kinds: Kinds, window: Duration) -> Self {
        self.settings.windows.set(kinds, window);
        self
    }

    /// The server, ready to be served.
    pub fn build(self) -> Subscriptions<H> {
        let Settings { principal, limits, .. } = &self.settings;
        if limits.streams_per_principal.is_some() && principal.is_none() {
            tracing::warn!("`streams_per_principal` limits nobody: `principal` does not say who a caller is");
        }
        Subscriptions::new(self.handler, self.hub, self.settings)
    }
}

impl<H: SubscriptionHandler> fmt::Debug for Builder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
