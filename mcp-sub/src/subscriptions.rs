//! A server's subscriptions: the handle that applications hold.

use std::{
    fmt,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use crate::{
    filter::{Filter, Honoured},
    frame::{Frames, Framing},
    handler::{HandledBy, SubscriptionHandler},
    hub::Hub,
    kind::Kinds,
    listen::ListenRequest,
    protocol::filter::RequestedFilter,
    registry::{EventStream, Registry, Shutdown, subscribe_timed_out},
    rejection::Rejection,
    settings::Settings,
    subscription::{Accepted, Subscription},
};

/// The server side of `subscriptions/listen` for one handler. Cheap to clone; all clones are the same server.
///
/// It is served over HTTP [alone](Self::http), or as a [layer](Self::layer) over an MCP server that exists. Changes go
/// out with [`publish`](Self::publish) and [`publish_for`](Self::publish_for), from anywhere.
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
}

/// A listen that a transport has read and checked.
pub(crate) struct Listen {
    pub(crate) request: ListenRequest,
    pub(crate) filter: RequestedFilter,
    pub(crate) framing: Framing,
}

impl<H: SubscriptionHandler> Subscriptions<H> {
    pub(crate) fn new(handler: H, settings: Settings) -> Self {
        let registry = Registry::new(settings.limits.streams, settings.limits.write_timeout);
        let (handler, settings) = (Arc::new(handler), Arc::new(settings));
        Self { inner: Arc::new(Inner { handler, hub: Hub::new(), settings, registry }) }
    }

    /// Tells every subscription that honours a kind which the event's method declares. Returns how many.
    ///
    /// From any thread; never waits. Publish *after* the new state can be read: a client reads it as soon as it is told.
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

    /// Tells every subscription that honours `uri`, and every one that honours another kind which the event's method
    /// declares. Returns how many.
    ///
    /// So an event that changes one resource visits those who asked for that resource, however many others listen. URIs
    /// are equal if all their bytes are.
    ///
    /// From any thread; never waits. Publish *after* the new state can be read.
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

    /// Ends all streams: refuses new ones (503), gives each open one its result within `budget`, cuts those that do not
    /// take it, and waits for `handle_close` of all.
    ///
    /// Streams are given nine tenths of the budget; the rest is for the `handle_close` of those that were cut. Calling
    /// it again, or twice at once, is no error.
    ///
    /// Call it before the HTTP server's own graceful shutdown, which waits for open responses, and before the runtime
    /// ends.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, new listens stay refused and open streams still get their result, but none is cut.
    pub async fn shutdown(&self, budget: Duration) -> Shutdown {
        self.inner.registry.shutdown(budget).await
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.inner.settings
    }

    /// Admits, decides and starts. `allowed` is what this place can serve at all.
    pub(crate) async fn open(&self, listen: Listen, allowed: Kinds) -> Result<EventStream, Rejection> {
        let Inner { handler, hub, settings, registry } = &*self.inner;
        let Listen { request, mut filter, framing } = listen;
        let Some(closer) = registry.closer() else {
            tracing::error!("subscriptions are served inside a tokio runtime only");
            return Err(Rejection::default());
        };
        let permit = registry.admit()?;
        filter.retain_kinds(H::DECLARED.intersection(allowed));
        let offered = Arc::new(Honoured::new(filter.clone()));
        // Before `subscribe`, so that nothing is lost that is published meanwhile.
        let registration = hub.register(offered.clone(), settings.limits.slot);
        let subscribe = subscribe(&**handler, &mut filter, &request);
        let subscribe = tokio::time::timeout(settings.limits.subscribe_timeout, subscribe);
        let state = registry.decide(subscribe).await?.map_err(|_| subscribe_timed_out())??;
        let left = Honoured::new(filter);
        let honoured = if left == *offered {
            offered
        } else {
            let left = Arc::new(left);
            registration.narrow(left.clone());
            left
        };
        let frames = Frames { id: request.id().clone(), framing, server_info: settings.server_info.clone() };
        let stream = Subscription::start(Accepted {
            handler: handler.clone(),
            state,
            frames,
            honoured,
            registration,
            permit,
            closer,
            hold_empty: settings.hold_empty,
        });
        Ok(registry.watch(stream))
    }
}

/// Asks the handler. A panic is an internal error to this client, and harms nobody else.
async fn subscribe<H: SubscriptionHandler>(
    handler: &H,
    filter: &mut RequestedFilter,
    request: &ListenRequest,
) -> Result<H::State, Rejection> {
    let mut filter = Filter::new(filter);
    let mut deciding = pin!(async { handler.subscribe(&mut filter, request).await });
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| deciding.as_mut().poll(cx))).unwrap_or_else(|_| {
            tracing::error!(id = %request.id(), "`subscribe` panicked");
            Poll::Ready(Err(Rejection::default()))
        })
    })
    .await
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
mod tests;
