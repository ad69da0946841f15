use mcp_sub::{
    AnyNotification, Caller, CloseReason, Declares, Flow, Handles, Inbox, Kinds, ListenRequest, Missed,
    PromptsListChanged, Rejection, ResourcesListChanged, ResourcesUpdated, SubscriptionHandler, ToolsListChanged,
};

#[cfg(unix)]
use super::Linked;
#[allow(deprecated)]
use super::Written;
use super::{Files, Installed, Moved, Saved, Seen, Store, Typed};

pub(super) type Channel<'a> = mcp_sub::Channel<'a, AnyNotification>;
pub(super) type Filter<'a, H> = mcp_sub::Filter<'a, H>;

#[allow(deprecated)]
pub enum FilesEvent {
    Installed(Installed),
    Saved(Saved),
    Moved(Moved),
    Written(Written),
    Typed(Typed<u64>),
    #[cfg(unix)]
    Linked(Linked),
}

#[allow(deprecated)]
impl<S: Store> SubscriptionHandler for Files<S> {
    type Event = FilesEvent;
    type State = Seen;
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED
        .union(Kinds::PROMPTS_LIST_CHANGED)
        .union(Kinds::RESOURCES_LIST_CHANGED)
        .union(Kinds::RESOURCES_UPDATED);

    fn kinds(event: &FilesEvent) -> Kinds {
        match event {
            FilesEvent::Installed(_) => Kinds::TOOLS_LIST_CHANGED,
            FilesEvent::Saved(_) => Kinds::RESOURCES_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED),
            FilesEvent::Moved(_) | FilesEvent::Written(_) => Kinds::RESOURCES_UPDATED,
            FilesEvent::Typed(_) => Kinds::PROMPTS_LIST_CHANGED,
            #[cfg(unix)]
            FilesEvent::Linked(_) => Kinds::RESOURCES_LIST_CHANGED,
        }
    }

    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
        inbox: &Inbox<Self>,
    ) -> Result<Seen, Rejection> {
        Self::subscribe(self, filter, request, inbox).await
    }

    fn subscription_capabilities(&self, caller: &Caller) -> Option<Kinds> {
        Some(Self::subscription_capabilities(self, caller))
    }

    async fn handle_event(&self, event: &FilesEvent, channel: &mut Channel<'_>, seen: &mut Seen) -> Flow {
        match event {
            FilesEvent::Installed(event) => self.installed(event, channel),
            FilesEvent::Saved(event) => {
                return self.saved(event, channel, seen).await.unwrap_or_else(Flow::fail);
            }
            FilesEvent::Moved(event) => self.r#move(event, channel),
            FilesEvent::Written(event) => self.written(event, channel).await,
            FilesEvent::Typed(event) => self.typed(event, seen, channel),
            #[cfg(unix)]
            FilesEvent::Linked(event) => return self.linked(event, channel, seen).await,
        }
        Flow::Continue
    }

    async fn handle_lagged(&self, missed: &Missed<'_>, channel: &mut Channel<'_>, seen: &mut Seen) -> Flow {
        match Self::handle_lagged(self, missed, channel, seen).await {
            Ok(()) => Flow::Continue,
            Err(error) => Flow::fail(error),
        }
    }

    async fn handle_close(&self, reason: CloseReason, seen: Seen) {
        Self::handle_close(self, reason, seen).await;
    }
}

impl<S: Store> Declares<ToolsListChanged> for Files<S> {}
impl<S: Store> Declares<PromptsListChanged> for Files<S> {}
impl<S: Store> Declares<ResourcesListChanged> for Files<S> {}
impl<S: Store> Declares<ResourcesUpdated> for Files<S> {}

impl<S: Store> Handles<Installed> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Installed) -> FilesEvent {
        FilesEvent::Installed(event)
    }
}
impl<S: Store> Handles<Saved> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Saved) -> FilesEvent {
        FilesEvent::Saved(event)
    }
}
impl<S: Store> Handles<Moved> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Moved) -> FilesEvent {
        FilesEvent::Moved(event)
    }
}
#[allow(deprecated)]
impl<S: Store> Handles<Written> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Written) -> FilesEvent {
        FilesEvent::Written(event)
    }
}
impl<S: Store> Handles<Typed<u64>> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Typed<u64>) -> FilesEvent {
        FilesEvent::Typed(event)
    }
}
#[cfg(unix)]
impl<S: Store> Handles<Linked> for Files<S> {
    type Events = FilesEvent;
    fn into_event(event: Linked) -> FilesEvent {
        FilesEvent::Linked(event)
    }
}
