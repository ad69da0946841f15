//! The two lines of a `ServerHandler`.

use ::rmcp::{
    ErrorData,
    model::{ServerCapabilities, SubscriptionFilter},
    service::{SubscriptionContext, SubscriptionSendError},
};

use super::{
    convert,
    deliver::deliver,
    early::{self, BARE, Early, Waiting},
};
use crate::{
    ending::CloseReason,
    filter::Honoured,
    handler::SubscriptionHandler,
    kind::Kinds,
    protocol::filter::RequestedFilter,
    registry::EventStream,
    rejection::Rejection,
    subscriptions::{Listen, Offered, Subscriptions},
};

/// What is kept between the calls of an rmcp server.
pub(crate) struct Kept<H: SubscriptionHandler> {
    pub(super) waiting: Waiting<H>,
    #[cfg(feature = "legacy")]
    pub(super) sessions: std::sync::Arc<super::legacy::Sessions>,
}

impl<H: SubscriptionHandler> Default for Kept<H> {
    fn default() -> Self {
        Self {
            waiting: Waiting::default(),
            #[cfg(feature = "legacy")]
            sessions: std::sync::Arc::default(),
        }
    }
}

/// Inside an rmcp server: see [`rmcp`](crate::rmcp).
impl<H: SubscriptionHandler> Subscriptions<H> {
    /// For `ServerHandler::get_info`: sets the flags of the kinds that the handler declares, in the families that
    /// `capabilities` has, such as tools. Where it declares none, there is no flag.
    ///
    /// rmcp acknowledges nothing that `get_info` does not advertise.
    #[must_use]
    pub fn advertise(&self, capabilities: ServerCapabilities) -> ServerCapabilities {
        convert::advertise(capabilities, H::DECLARED)
    }

    /// For `ServerHandler::accepted_subscription_filter`: what rmcp is to acknowledge. Always `Some`.
    ///
    /// Called in the task that calls [`listen`](Self::listen) next, as rmcp does. The listener is registered from here on,
    /// so that nothing is lost that is published after the acknowledgement.
    #[must_use]
    pub fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let early = early::decide(self, requested);
        let accepted = match &early {
            Early::Refused(_) => SubscriptionFilter::new(),
            Early::Opened(stream) => convert::accepted(stream.honoured()),
            Early::Offered(offered) => convert::accepted(offered.honoured()),
        };
        self.rmcp().waiting.put(early);
        Some(accepted)
    }

    /// For `ServerHandler::listen`: tells the client what happens, until the stream ends.
    ///
    /// # Errors
    ///
    /// Why the listen was refused, or why its stream failed: an error of rmcp's with our code and `data`.
    ///
    /// # Cancel safety
    ///
    /// When the request is cancelled, or the future dropped, the client is taken to have gone away.
    pub async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let early = self.rmcp().waiting.take();
        let serving = async {
            let stream = self.opened(early, &context).await.map_err(|rejection| {
                self.refused(&rejection);
                convert::error(rejection)
            })?;
            self.serve(&stream, &context).await
        };
        // Nobody is told the outcome of a request that was cancelled.
        context.request_context().ct.run_until_cancelled(serving).await.unwrap_or(Ok(()))
    }

    async fn opened(
        &self,
        early: Option<Early<H>>,
        context: &SubscriptionContext,
    ) -> Result<EventStream, Rejection> {
        match early {
            None => Err(Rejection::failed("`listen` was called without `accepted_subscription_filter`")),
            Some(Early::Refused(rejection)) => Err(rejection),
            Some(Early::Opened(stream)) => Ok(stream),
            Some(Early::Offered(offered)) => self.asked(offered, context).await,
        }
    }

    /// Decides, now that it is known who asks.
    async fn asked(
        &self,
        offered: Offered<H>,
        context: &SubscriptionContext,
    ) -> Result<EventStream, Rejection> {
        let request = context.request_context();
        let limits = &self.settings().limits;
        let caller = convert::caller(&request.meta, &request.extensions, &request.peer);
        let id = convert::id(&request.id, limits)?;
        let mut filter = convert::requested(context.accepted(), limits)?;
        filter.retain_kinds(self.capabilities(&caller)?.kinds);
        let admission = self.admit(&caller)?;
        let listen = Listen { id, caller, filter, framing: &BARE };
        self.register_offered(offered, admission, listen).open(Kinds::ALL).await
    }

    async fn serve(&self, stream: &EventStream, context: &SubscriptionContext) -> Result<(), ErrorData> {
        let acknowledged =
            convert::requested(context.accepted(), &self.settings().limits).map_err(convert::error)?;
        if is_less(stream.honoured(), &acknowledged) {
            let text = "the acknowledgement promised more than this caller can be told of";
            stream.abort(CloseReason::Failed(format!("narrowed: {text}; see `mcp_sub::rmcp`")));
            return Err(convert::failed("narrowed", text));
        }
        #[cfg(feature = "legacy")]
        let _listening = self.rmcp().sessions.listening(&context.request_context().peer, stream.honoured());
        let sink = context.sink();
        let ended = deliver(stream, self.settings().limits.write_timeout, |_, notification| {
            Some(async {
                match sink.send(notification).await {
                    // What the server does not advertise was not acknowledged, whatever is declared.
                    Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => true,
                    Err(_) => false,
                }
            })
        });
        ended.await.map_or(Ok(()), convert::ending)
    }
}

/// Whether less is honoured than was acknowledged.
fn is_less(honoured: &Honoured, acknowledged: &RequestedFilter) -> bool {
    !honoured.kinds().contains(acknowledged.kinds)
        || acknowledged.uris.iter().any(|uri| honoured.position(uri).is_none())
}
