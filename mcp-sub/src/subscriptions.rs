//! A server's subscriptions: the handle that applications hold.

use std::{borrow::Cow, fmt, future::Future, sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use crate::{
    caller::Caller,
    caught::Caught,
    ending::CloseReason,
    filter::{Filter, Honoured},
    frame::{Frames, Framing},
    handle::SubscriptionHandle,
    handler::{HandledBy, SubscriptionHandler},
    hub::{Hub, Registration},
    inbox::Inbox,
    kind::Kinds,
    listen::ListenRequest,
    protocol::{filter::RequestedFilter, id::RequestId},
    registry::{Closer, EventStream, Permit, Registry, Shutdown, subscribe_timed_out},
    rejection::Rejection,
    settings::Settings,
    span,
    stats::Stats,
    subscription::{Accepted, Subscription},
    sync::catch_unwind,
};

/// The server side of `subscriptions/listen` for one handler. Cheap to clone; all clones are the same server.
///
/// It is served over HTTP [alone](Self::http), as a [layer](Self::layer) over an MCP server that exists, over
/// [stdio](Self::stdio) or any other pair of byte streams, and inside an rmcp server (feature `rmcp`). Changes go out with
/// [`publish`](Self::publish) and [`publish_for`](Self::publish_for), from anywhere.
///
/// When the last clone is gone, services included, nobody can publish any more: open streams get their result and end.
pub struct Subscriptions<H: SubscriptionHandler> {
    inner: Arc<Inner<H>>,
}

struct Inner<H: SubscriptionHandler> {
    handler: Arc<H>,
    hub: Hub<H>,
    settings: Arc<Settings>,
    registry: Arc<Registry>,
    #[cfg(feature = "rmcp")]
    rmcp: crate::rmcp::Kept<H>,
}

/// What a caller is told that there is.
#[derive(Clone, Copy)]
pub(crate) struct Capabilities {
    pub(crate) kinds: Kinds,
    pub(crate) depend_on_caller: bool,
}

/// Room for one more stream.
pub(crate) struct Admission {
    permit: Permit,
    closer: Closer,
}

impl Admission {
    /// Lets `connection` know of the stream's `handle_close`.
    pub(crate) fn of(self, connection: &TaskTracker) -> Self {
        Self { closer: self.closer.of(connection), ..self }
    }
}

/// What may be granted to one listen, and is listened to from now on.
pub(crate) struct Offered<H: SubscriptionHandler> {
    registration: Registration<H::Event>,
    honoured: Arc<Honoured>,
}

#[cfg(feature = "rmcp")]
impl<H: SubscriptionHandler> Offered<H> {
    pub(crate) fn honoured(&self) -> &Honoured {
        &self.honoured
    }
}

/// A listen that a transport has read and checked.
pub(crate) struct Listen {
    pub(crate) id: RequestId,
    pub(crate) caller: Caller,
    pub(crate) filter: RequestedFilter,
    pub(crate) framing: &'static Framing,
}

impl<H: SubscriptionHandler> Subscriptions<H> {
    pub(crate) fn new(handler: H, hub: Hub<H>, settings: Settings) -> Self {
        let registry = Registry::new(settings.limits.clone());
        let (handler, settings) = (Arc::new(handler), Arc::new(settings));
        Self {
            inner: Arc::new(Inner {
                handler,
                hub,
                settings,
                registry,
                #[cfg(feature = "rmcp")]
                rmcp: crate::rmcp::Kept::default(),
            }),
        }
    }

    /// Offers an event to every subscription that honours a kind which the event's method declares. Returns to how many.
    ///
    /// From any thread; never waits. Publish *after* the new state can be read: a client reads it as soon as it is told.
    ///
    /// Where a stream has no room for the event, because its client is slow, the event's method is **not called** for it.
    /// The stream is told afterwards, once, of all that the event can have changed: the kinds that the method declares,
    /// and for `resources_updated` every URI that it honours. So who may hear of what is decided in
    /// [`subscribe`](SubscriptionHandler::subscribe), not in a method; or also in
    /// [`handle_lagged`](SubscriptionHandler::handle_lagged), which is asked then.
    ///
    /// ```
    /// # use mcp_sub::{Channel, Filter, Rejection, subscription_handler, Subscriptions};
    /// # pub struct Workspace;
    /// # #[subscription_handler]
    /// # impl Workspace {
    /// #     fn subscribe(&self) -> Result<(), Rejection> { Ok(()) }
    /// #     #[emits(tools_list_changed)]
    /// #     fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) { channel.tools_list_changed(); }
    /// # }
    /// pub struct ToolInstalled;
    ///
    /// let subscriptions = Subscriptions::builder(Workspace).build();
    /// assert_eq!(subscriptions.publish(ToolInstalled), 0, "nobody listens yet");
    /// ```
    pub fn publish<Ev: HandledBy<H>>(&self, event: Ev) -> usize {
        self.inner.hub.publish(event)
    }

    /// Offers an event about one resource: to every subscription that honours `uri`, and to every one that honours another
    /// kind which the event's method declares. Returns to how many.
    ///
    /// Otherwise as [`publish`](Self::publish), but it visits only those who asked for that resource, however many others
    /// listen, and where a stream has no room, `uri` is the only one that it is told of. URIs are equal if all their bytes
    /// are.
    ///
    /// An event about several resources is published once for each of them, or with `publish`: who asked for another URI
    /// than this one is not offered it.
    pub fn publish_for<Ev: HandledBy<H>>(&self, uri: impl AsRef<str>, event: Ev) -> usize {
        self.inner.hub.publish_for(uri, event)
    }

    /// The source of events behind [`publish`](Self::publish).
    #[must_use]
    pub fn hub(&self) -> &Hub<H> {
        &self.inner.hub
    }

    /// The handler that this server was built with.
    #[must_use]
    pub fn handler(&self) -> &H {
        &self.inner.handler
    }

    /// How many streams are open, those whose `subscribe` still runs included.
    #[must_use]
    pub fn open_streams(&self) -> usize {
        self.inner.registry.open_streams()
    }

    /// What this server has done since it was built. It costs a moment for each open stream.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.registry.stats()
    }

    /// Ends all subscriptions of one [principal](crate::Builder::principal), those included whose `subscribe` still runs: when
    /// its rights are taken away. Returns how many.
    ///
    /// Each ends as by [`SubscriptionHandle::end`](crate::SubscriptionHandle::end): what was published before is told, then
    /// the client gets the graceful result. It may listen again: `subscribe` decides.
    ///
    /// A listen that is on its way has perhaps been authenticated and not been admitted yet, and is not among them. So
    /// change the rights first, then call this, and let `subscribe` and `subscription_capabilities` look the rights up
    /// where they are changed, by the name of the principal: not take them from what authentication put into the
    /// request.
    pub fn end_all(&self, principal: &str, reason: impl Into<Cow<'static, str>>) -> usize {
        self.inner.registry.end_all(principal, &CloseReason::Stopped(reason.into()))
    }

    /// Ends all streams: refuses new ones (503), gives each open one its result within `budget`, cuts those that do not
    /// take it, and waits for `handle_close` of all.
    ///
    /// Streams are given nine tenths of the budget; the rest is for the `handle_close` of those that were cut. Calling
    /// it again, or twice at once, is no error.
    ///
    /// Call it before the HTTP server's own graceful shutdown, which waits for open responses, and before the runtime
    /// ends. With axum:
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use mcp_sub::{SubscriptionHandler, Subscriptions};
    /// # async fn serve<H: SubscriptionHandler>(subscriptions: Subscriptions<H>) -> std::io::Result<()> {
    /// let app = axum::Router::new().route_service("/mcp", subscriptions.http());
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    /// let stop = async move {
    ///     tokio::signal::ctrl_c().await.ok();
    ///     subscriptions.shutdown(Duration::from_secs(5)).await;
    /// };
    /// axum::serve(listener, app).with_graceful_shutdown(stop).await
    /// # }
    /// ```
    ///
    /// A client that takes nothing keeps its connection, and so the HTTP server, after its stream was cut. `mcp_sub::serve`
    /// (feature `serve`) does all of this, and ends such connections as well.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, new listens stay refused and open streams still get their result, but none is cut.
    pub async fn shutdown(&self, budget: Duration) -> Shutdown {
        self.inner.registry.shutdown(budget).await
    }

    /// A request was refused: if that was at a limit, it is counted.
    pub(crate) fn refused(&self, rejection: &Rejection) {
        if let Some(limit) = rejection.limit() {
            self.inner.registry.refused(limit);
        }
    }

    /// Waits for what a listen needs, while the shutdown's budget lasts.
    pub(crate) async fn decide<T>(&self, future: impl Future<Output = T>) -> Result<T, Rejection> {
        self.inner.registry.decide(future).await
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.inner.settings
    }

    /// What is kept between the calls of an rmcp server.
    #[cfg(feature = "rmcp")]
    pub(crate) fn rmcp(&self) -> &crate::rmcp::Kept<H> {
        &self.inner.rmcp
    }

    /// What `caller` is told that there is, and whether another caller may be told otherwise.
    pub(crate) fn capabilities(&self, caller: &Caller) -> Result<Capabilities, Rejection> {
        let asked = catch_unwind(|| self.handler().subscription_capabilities(caller));
        let kinds = asked.map_err(|_| Rejection::failed("`subscription_capabilities` panicked"))?;
        Ok(Capabilities {
            kinds: kinds.map_or(H::DECLARED, |kinds| kinds.intersection(H::DECLARED)),
            depend_on_caller: kinds.is_some(),
        })
    }

    /// Makes room for one more stream, or says what forbids it.
    pub(crate) fn admit(&self, caller: &Caller) -> Result<Admission, Rejection> {
        let Inner { settings, registry, .. } = &*self.inner;
        let principal = catch_unwind(|| settings.principal.as_ref().and_then(|of| of(caller)));
        let principal = principal.map_err(|_| Rejection::failed("the function of `principal` panicked"))?;
        let Some(closer) = registry.closer() else {
            return Err(Rejection::failed("subscriptions are served inside a tokio runtime only"));
        };
        Ok(Admission { permit: registry.admit(principal)?, closer })
    }

    /// Registers what a listen asks for, as far as there can be such a thing: from here on nothing is lost that is
    /// published. `allowed` is what this caller can be granted at most.
    pub(crate) fn register(&self, admission: Admission, mut listen: Listen, allowed: Kinds) -> Registered<H> {
        let offered = self.offer(&mut listen.filter, allowed);
        self.register_offered(offered, admission, listen)
    }

    /// The first half of it, before it is known who asks.
    pub(crate) fn offer(&self, filter: &mut RequestedFilter, allowed: Kinds) -> Offered<H> {
        filter.retain_kinds(H::DECLARED.intersection(allowed));
        let honoured = Arc::new(Honoured::new(filter.clone()));
        let registration = self.inner.hub.register(honoured.clone(), self.settings().limits.slot);
        Offered { registration, honoured }
    }

    /// The second half. The filter of the listen is within what was offered.
    pub(crate) fn register_offered(
        &self,
        Offered { registration, honoured: offered }: Offered<H>,
        admission: Admission,
        listen: Listen,
    ) -> Registered<H> {
        let Admission { permit, closer } = admission;
        let Listen { id, caller, filter, framing } = listen;
        let span = span::of(permit.key(), &id, &caller, permit.principal());
        permit.handle().opened(registration.slot());
        let request = ListenRequest::new(id, caller, permit.handle().clone());
        let subscriptions = self.clone();
        Registered { subscriptions, permit, closer, request, filter, offered, registration, framing, span }
    }
}

/// A listen that misses nothing any more, and that its handler has not decided about.
pub(crate) struct Registered<H: SubscriptionHandler> {
    subscriptions: Subscriptions<H>,
    permit: Permit,
    closer: Closer,
    request: ListenRequest,
    filter: RequestedFilter,
    offered: Arc<Honoured>,
    registration: Registration<H::Event>,
    framing: &'static Framing,
    span: Span,
}

impl<H: SubscriptionHandler> Registered<H> {
    pub(crate) fn id(&self) -> &RequestId {
        self.request.id()
    }

    pub(crate) fn handle(&self) -> SubscriptionHandle {
        self.permit.handle().clone()
    }

    /// Decides and starts. `carried` is what this place can serve at all.
    pub(crate) async fn open(self, carried: Kinds) -> Result<EventStream, Rejection> {
        let Self { subscriptions, permit, closer, request, mut filter, offered, registration, framing, span } =
            self;
        let Inner { handler, settings, registry, .. } = &*subscriptions.inner;
        filter.retain_kinds(carried);
        let inbox = Inbox::new(registration.slot());
        let subscribe = subscribe(&**handler, &mut filter, &request, &inbox).instrument(span.clone());
        let subscribe = tokio::time::timeout(settings.limits.subscribe_timeout, subscribe);
        let decided = registry.decide(subscribe).await?.map_err(|_| subscribe_timed_out())?;
        let (state, expiry) = decided.inspect_err(|_| registry.rejected()).map_err(Rejection::of_handler)?;
        // It can only have shrunk: if as much is left, all is.
        let unchanged = filter.kinds == offered.kinds() && filter.uris.len() == offered.uris().len();
        let honoured = if unchanged {
            offered
        } else {
            let left = Arc::new(Honoured::new(filter));
            registration.narrow(left.clone());
            left
        };
        let frames = Frames { id: request.id().clone(), framing, server_info: settings.server_info.clone() };
        let key = permit.key();
        let stream = Subscription::start(Accepted {
            handler: handler.clone(),
            state,
            frames,
            honoured,
            registration,
            permit,
            closer,
            hold_empty: settings.hold_empty,
            windows: settings.windows,
            span,
        });
        Ok(registry.watch(key, stream, expiry))
    }
}

/// Asks the handler: its state, and when the stream expires. A panic is an internal error to this client, and harms nobody else.
async fn subscribe<H: SubscriptionHandler>(
    handler: &H,
    filter: &mut RequestedFilter,
    request: &ListenRequest,
    inbox: &Inbox<H>,
) -> Result<(H::State, Option<Instant>), Rejection> {
    let mut filter = Filter::new(filter);
    let decided = Caught::new(async { handler.subscribe(&mut filter, request, inbox).await }).await;
    let state = decided.unwrap_or_else(|_| Err(Rejection::failed("`subscribe` panicked")))?;
    Ok((state, filter.expiry()))
}

impl<H: SubscriptionHandler> Clone for Subscriptions<H> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<H: SubscriptionHandler> fmt::Debug for Subscriptions<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriptions").field("open_streams", &self.open_streams()).finish_non_exhaustive()
    }
}

impl<H: SubscriptionHandler> Drop for Inner<H> {
    fn drop(&mut self) {
        self.registry.release();
    }
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests;
