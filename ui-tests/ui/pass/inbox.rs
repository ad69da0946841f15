//! The mailbox of one subscription.
#![deny(warnings)]

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use mcp_sub::{
    Channel, Filter, HandledBy, Inbox, ListenRequest, Rejection, SubscriptionHandler, subscription_handler,
};

pub struct Saved;
struct Moved;

/// A source that may be given away, but not shared.
struct Source<T>(PhantomData<fn() -> T>, std::cell::Cell<u8>);

impl<T> Source<T> {
    fn new() -> Self {
        Self(PhantomData, std::cell::Cell::new(0))
    }
}

impl<T> Stream for Source<T> {
    type Item = T;
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        Poll::Pending
    }
}

struct Files;

/// A state that keeps it.
struct Seen {
    inbox: Inbox<Files>,
}

#[subscription_handler]
impl Files {
    async fn subscribe(
        &self,
        inbox: &Inbox,
        filter: &mut Filter<'_>,
        _: &ListenRequest,
    ) -> Result<Seen, Rejection> {
        filter.retain_resources(|uri| inbox.send_for(uri, Saved));
        inbox.send(Moved);
        inbox.attach(Source::<Saved>::new());
        inbox.attach_or_end(Source::<Moved>::new());
        self.keep(inbox, inbox.clone());
        std::future::ready(()).await;
        Ok(Seen { inbox: inbox.clone() })
    }

    #[emits(resources_updated)]
    async fn saved(&self, _: &Saved, channel: &mut Channel<'_>, seen: &mut Seen) {
        std::future::ready(()).await;
        seen.inbox.send(Moved);
        channel.resources_updated("file:///a");
    }

    #[emits(resources_updated)]
    fn moved(&self, _: &Moved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }

    fn handle_close(&self, seen: Seen) {
        assert!(!seen.inbox.send(Saved));
    }

    /// Not ours, and given its type all the same.
    fn keep(&self, lent: &Inbox, kept: Inbox) {
        println!("{lent:?} {kept:?}");
    }
}

/// Alone, written in full, and of a generic handler.
struct Written<T>(T);
struct Kept<H: SubscriptionHandler>(Inbox<H>);

#[subscription_handler]
impl<T: Clone + Send + Sync + 'static> Written<T> {
    fn subscribe(&self, inbox: &mcp_sub::Inbox<Self>) -> Result<Kept<Self>, Rejection> {
        inbox.send(Box::new(self.0.clone()));
        tell(inbox, Box::new(self.0.clone()));
        Ok(Kept(inbox.clone()))
    }

    #[emits(tools_list_changed)]
    async fn event(&self, _: &Box<T>, channel: &mut Channel<'_>, kept: &mut Kept<Self>) {
        let _ = &kept.0;
        channel.tools_list_changed();
    }
}

fn tell<H: SubscriptionHandler, Ev: HandledBy<H>>(inbox: &Inbox<H>, event: Ev) -> bool {
    inbox.send(event)
}

fn is_handler<H: SubscriptionHandler>(_: &H) {}

fn main() {
    is_handler(&Files);
    is_handler(&Written(0_u8));
}
