use mcp_sub::{
    AnyNotification, CloseReason, Declares, Flow, Handles, Inbox, IntoFlow, Kinds, ListenRequest, Rejection,
    ResourcesUpdated, SubscriptionHandler, ToolsListChanged,
};

use super::{Event, Faulty, Seen};

pub(super) type Channel<'a> = mcp_sub::Channel<'a, AnyNotification>;
pub(super) type Filter<'a> = mcp_sub::Filter<'a, Faulty>;

pub enum FaultyEvent {
    E0(Event<0>),
    E1(Event<1>),
    E2(Event<2>),
    E3(Event<3>),
    E4(Event<4>),
    E5(Event<5>),
    E6(Event<6>),
    E7(Event<7>),
    E8(Event<8>),
    E9(Event<9>),
    E10(Event<10>),
}

impl SubscriptionHandler for Faulty {
    type Event = FaultyEvent;
    type State = Seen;
    const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);

    fn kinds(event: &FaultyEvent) -> Kinds {
        match event {
            FaultyEvent::E1(_) => Kinds::RESOURCES_UPDATED,
            _ => Kinds::TOOLS_LIST_CHANGED,
        }
    }

    async fn subscribe(
        &self,
        filter: &mut Filter<'_>,
        request: &ListenRequest,
        _: &Inbox<Self>,
    ) -> Result<Seen, Rejection> {
        Self::subscribe(self, filter, request).await
    }

    async fn handle_event(&self, event: &FaultyEvent, channel: &mut Channel<'_>, seen: &mut Seen) -> Flow {
        match event {
            FaultyEvent::E0(event) => self.unused_things(event, channel).into_flow(),
            FaultyEvent::E1(event) => self.waits_for_nothing(event, channel, seen).await.into_flow(),
            FaultyEvent::E2(event) => self.goes_on_after_the_end(event, channel).into_flow(),
            FaultyEvent::E3(event) => self.unwraps(event, channel).await.into_flow(),
            FaultyEvent::E4(event) => self.not_written_yet(event, channel).into_flow(),
            FaultyEvent::E5(event) => self.never_ends(event, channel).await.into_flow(),
            FaultyEvent::E6(event) => self.undocumented(event, channel).into_flow(),
            FaultyEvent::E7(event) => self.BadName(event, channel).into_flow(),
            FaultyEvent::E8(event) => self.takes_its_own_time(event, channel).into_flow(),
            FaultyEvent::E9(event) => self.gives_a_future(event, channel).await.into_flow(),
            FaultyEvent::E10(event) => self.assigns(event, channel, seen).await.into_flow(),
        }
    }

    async fn handle_close(&self, reason: CloseReason, seen: Seen) {
        Self::handle_close(self, reason, seen).await;
    }
}

impl Declares<ToolsListChanged> for Faulty {}
impl Declares<ResourcesUpdated> for Faulty {}

impl Handles<Event<0>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<0>) -> FaultyEvent {
        FaultyEvent::E0(event)
    }
}
impl Handles<Event<1>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<1>) -> FaultyEvent {
        FaultyEvent::E1(event)
    }
}
impl Handles<Event<2>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<2>) -> FaultyEvent {
        FaultyEvent::E2(event)
    }
}
impl Handles<Event<3>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<3>) -> FaultyEvent {
        FaultyEvent::E3(event)
    }
}
impl Handles<Event<4>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<4>) -> FaultyEvent {
        FaultyEvent::E4(event)
    }
}
impl Handles<Event<5>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<5>) -> FaultyEvent {
        FaultyEvent::E5(event)
    }
}
impl Handles<Event<6>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<6>) -> FaultyEvent {
        FaultyEvent::E6(event)
    }
}
impl Handles<Event<7>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<7>) -> FaultyEvent {
        FaultyEvent::E7(event)
    }
}
impl Handles<Event<8>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<8>) -> FaultyEvent {
        FaultyEvent::E8(event)
    }
}
impl Handles<Event<9>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<9>) -> FaultyEvent {
        FaultyEvent::E9(event)
    }
}
impl Handles<Event<10>> for Faulty {
    type Events = FaultyEvent;
    fn into_event(event: Event<10>) -> FaultyEvent {
        FaultyEvent::E10(event)
    }
}
