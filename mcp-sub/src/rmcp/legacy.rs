//! Clients of 2025-11-25, from the same handler (feature `legacy`).

use ::rmcp::{
    ErrorData, RoleServer,
    model::{
        RequestMetaObject, SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestMethod, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::json;

mod session;

pub(super) use self::session::Sessions;
use self::session::Telling;
use super::{convert, early::BARE};
use crate::{
    caller::Caller,
    ending::CloseReason,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::{error::Error, filter::RequestedFilter, id::RequestId},
    registry::EventStream,
    rejection::Rejection,
    subscriptions::{Listen, Subscriptions},
};

/// Serves clients of 2025-11-25 inside an rmcp server, from the same handler. From [`Subscriptions::legacy`].
///
/// One line in each of three methods of a `ServerHandler`. Their names are deprecated in rmcp, as these methods are in the
/// protocol:
///
/// ```
/// # use mcp_sub::{ListChanges, Subscriptions};
/// use rmcp::{
///     ErrorData, RoleServer, ServerHandler,
///     model::{SubscribeRequestParams, UnsubscribeRequestParams},
///     service::{NotificationContext, RequestContext},
/// };
///
/// # struct Server {
/// #     subscriptions: Subscriptions<ListChanges<true>>,
/// # }
/// #[allow(deprecated)]
/// impl ServerHandler for Server {
///     // ... and those of `mcp_sub::rmcp`
///
///     async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
///         self.subscriptions.legacy().on_initialized(context).await;
///     }
///
///     async fn subscribe(
///         &self,
///         request: SubscribeRequestParams,
///         context: RequestContext<RoleServer>,
///     ) -> Result<(), ErrorData> {
///         self.subscriptions.legacy().subscribe(request, context).await
///     }
///
///     async fn unsubscribe(
///         &self,
///         request: UnsubscribeRequestParams,
///         context: RequestContext<RoleServer>,
///     ) -> Result<(), ErrorData> {
///         self.subscriptions.legacy().unsubscribe(&request, &context)
///     }
/// }
/// ```
///
/// A session has one subscription for all list changes, and one for each resource. Each is asked for as a listen is: by
/// [`subscribe`](SubscriptionHandler::subscribe), with a state of its own, within [`Limits`](crate::Limits), ended by its
/// handle, its expiry or a shutdown, and closed once by [`handle_close`](SubscriptionHandler::handle_close). They carry no
/// subscription id. They are the session's, and no other session can end them.
///
/// rmcp tells nobody when a session ends: it is looked at every second, and what the session had is closed then, as
/// [`Disconnected`](CloseReason::Disconnected). What a client unsubscribes is closed as
/// [`Cancelled`](CloseReason::Cancelled). rmcp writes these notifications to the
/// session's GET stream, and keeps the last ones for a client that has none yet.
///
/// Where a connection that began with `initialize` also listens, as of 2026-07-28, what that listen honours is told there
/// alone, for as long as it is open.
///
/// Specification: [Resources, 2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions).
#[derive(Debug)]
pub struct Legacy<'a, H: SubscriptionHandler>(&'a Subscriptions<H>);

impl<H: SubscriptionHandler> Subscriptions<H> {
    /// Serves clients of 2025-11-25 as well, inside an rmcp server.
    #[must_use]
    pub fn legacy(&self) -> Legacy<'_, H> {
        Legacy(self)
    }
}

impl<H: SubscriptionHandler> Legacy<'_, H> {
    /// For `ServerHandler::on_initialized`: from now on the session is told of list changes.
    ///
    /// If that is refused, the session hears of none, and the log says why: nobody asked who could be told.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the session hears of none.
    pub async fn on_initialized(self, context: NotificationContext<RoleServer>) {
        let caller = convert::caller(&RequestMetaObject::default(), &context.extensions, &context.peer);
        let kinds = Kinds::ALL.difference(Kinds::RESOURCES_UPDATED);
        let filter = RequestedFilter { kinds, uris: Vec::new() };
        match self.open(RequestId::unknown(), caller, filter).await {
            Ok(stream) if stream.honoured().is_empty() => stream.abort(CloseReason::Completed),
            Ok(stream) => self.sessions().tell_lists(&context.peer, self.telling(stream)),
            Err(rejection) => {
                self.0.refused(&rejection);
                tracing::warn!(%rejection, "a session of an older revision is told of no list changes");
            }
        }
    }

    /// For `ServerHandler::subscribe`: from now on the session is told when the resource changes. Once, however often it
    /// asks.
    ///
    /// # Errors
    ///
    /// A URI that the handler's [`subscribe`](SubscriptionHandler::subscribe) takes away is refused like one that is not
    /// known, and a rejection and a limit with their own code and `data`. Where the handler never tells of resources, there is
    /// no such method.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, nothing was subscribed to.
    pub async fn subscribe(
        self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !H::DECLARED.contains(Kinds::RESOURCES_UPDATED) {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        let uri = request.uri;
        let refused = |rejection| {
            self.0.refused(&rejection);
            convert::error(rejection)
        };
        let limits = &self.0.settings().limits;
        let id = convert::id(&context.id, limits).map_err(refused)?;
        let filter = SubscriptionFilter::builder().resource_subscription(&uri).build();
        let filter = convert::requested(&filter, limits).map_err(refused)?;
        let sessions = self.sessions();
        if sessions.tells(&context.peer, &uri) {
            return Ok(());
        }
        let most = limits.uris;
        let too_many = || {
            let message = format!("this session has {most} subscriptions, and may have no more");
            let error = Error::invalid_params(message).with_data(json!({ "limit": "uris" }));
            refused(Rejection::from_error(http::StatusCode::BAD_REQUEST, error))
        };
        if sessions.count(&context.peer) >= most {
            return Err(too_many());
        }
        let caller = convert::caller(&context.meta, &context.extensions, &context.peer);
        let stream = self.open(id, caller, filter).await.map_err(refused)?;
        if stream.honoured().is_empty() {
            stream.abort(CloseReason::Completed);
            return Err(ErrorData::resource_not_found("resource not found", Some(json!({ "uri": uri }))));
        }
        sessions.tell_resource(&context.peer, uri, self.telling(stream), most).map_err(|telling| {
            telling.stream.abort(CloseReason::Completed);
            too_many()
        })
    }

    /// For `ServerHandler::unsubscribe`: from now on the session is not told of the resource any more. Where it was not,
    /// nothing changes.
    ///
    /// # Errors
    ///
    /// Where the handler never tells of resources, there is no such method.
    pub fn unsubscribe(
        self,
        request: &UnsubscribeRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !H::DECLARED.contains(Kinds::RESOURCES_UPDATED) {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        self.sessions().forget_resource(&context.peer, &request.uri);
        Ok(())
    }

    async fn open(
        &self,
        id: RequestId,
        caller: Caller,
        filter: RequestedFilter,
    ) -> Result<EventStream, Rejection> {
        let allowed = self.0.capabilities(&caller)?.kinds;
        let admission = self.0.admit(&caller)?;
        let listen = Listen { id, caller, filter, framing: &BARE };
        self.0.register(admission, listen, allowed).open(Kinds::ALL).await
    }

    fn telling(&self, stream: EventStream) -> Telling {
        Telling { stream, write_timeout: self.0.settings().limits.write_timeout }
    }

    fn sessions(&self) -> &std::sync::Arc<Sessions> {
        &self.0.rmcp().sessions
    }
}
