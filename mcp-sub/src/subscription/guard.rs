//! What ends with a subscription, however it ends.

use std::{sync::Arc, time::Instant};

use tracing::{Instrument, Span};

use super::Shared;
use crate::{
    ending::CloseReason,
    handler::SubscriptionHandler,
    hub::Registration,
    registry::{Closer, Permit},
    span,
    sync::lock,
};

/// Owns what a subscription has, and closes it exactly once.
pub(super) struct Guard<H: SubscriptionHandler> {
    pub(super) handler: Arc<H>,
    pub(super) state: Option<H::State>,
    pub(super) shared: Arc<Shared>,
    pub(super) closer: Closer,
    pub(super) opened: Instant,
    pub(super) registration: Registration<H::Event>,
    pub(super) permit: Permit,
    pub(super) span: Span,
}

impl<H: SubscriptionHandler> Drop for Guard<H> {
    fn drop(&mut self) {
        // Whoever took the future and dropped it has said why; the runtime, if it did so, has not.
        self.shared.end(CloseReason::Disconnected);
        let reason = lock(&self.shared.ended).clone().unwrap_or(CloseReason::Disconnected);
        let (id, open) = (self.shared.outbox.id(), self.opened.elapsed());
        span::ended(&self.span, &reason, open, self.shared.outbox.counters().counts());
        // With the id, since who logs no more than warnings has no spans either.
        self.span.in_scope(|| match &reason {
            CloseReason::Failed(_) | CloseReason::Panicked => {
                tracing::error!(%id, %reason, ?open, "subscription failed");
            }
            CloseReason::Stalled => tracing::warn!(%id, %reason, ?open, "subscription ended"),
            _ => tracing::info!(%reason, "subscription ended"),
        });
        // Room first: whoever is told of this end, by `handle_close` or by a handle, may listen again at once.
        let _closing = self.closer.hold();
        self.permit.close(reason.clone());
        if let Some(state) = self.state.take() {
            let handler = self.handler.clone();
            let close = async move { handler.handle_close(reason, state).await };
            self.closer.spawn(close.instrument(self.span.clone()));
        }
        self.registration.slot().close();
    }
}
