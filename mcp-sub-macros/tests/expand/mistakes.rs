impl Files {
    fn tool_installed(
        &self,
        _: &ToolInstalled,
        channel: &mut Channel<'_, ::mcp_sub::AnyNotification>,
    ) {
        channel.tools_list_changed();
    }
    fn saved(&mut self, channel: &mut Channel<'_, ::mcp_sub::AnyNotification>) {
        channel.resources_updated("file:///");
    }
    fn helper(&self) {}
}
#[allow(
    deprecated,
    non_camel_case_types,
    missing_copy_implementations,
    missing_debug_implementations,
    private_bounds,
    private_interfaces,
    unnameable_types,
    unreachable_pub,
)]
const _: () = {
    pub enum __SubscriptionEvent {
        tool_installed(ToolInstalled),
    }
    #[automatically_derived]
    impl ::mcp_sub::SubscriptionHandler for Files
    where
        Files: ::mcp_sub::__private::Shared,
        ToolInstalled: ::mcp_sub::__private::Shared,
    {
        type Event = __SubscriptionEvent;
        type State = ();
        const DECLARED: ::mcp_sub::Kinds = ::mcp_sub::Kinds::NONE;
        fn kinds(_: &Self::Event) -> ::mcp_sub::Kinds {
            ::mcp_sub::Kinds::NONE
        }
        async fn subscribe(
            &self,
            _: &mut ::mcp_sub::Filter<'_, Self>,
            _: &::mcp_sub::ListenRequest,
        ) -> ::mcp_sub::__private::Result<Self::State, ::mcp_sub::Rejection> {
            loop {}
        }
        async fn handle_event(
            &self,
            _: &Self::Event,
            _: &mut ::mcp_sub::Channel<'_, ::mcp_sub::AnyNotification>,
            _: &mut Self::State,
        ) -> ::mcp_sub::Flow {
            loop {}
        }
    }
    #[automatically_derived]
    impl ::mcp_sub::Handles<ToolInstalled> for Files
    where
        for<'__a> Files: ::mcp_sub::SubscriptionHandler<Event = __SubscriptionEvent>,
    {
        fn into_event(_: ToolInstalled) -> Self::Event {
            loop {}
        }
    }
};
::core::compile_error! {
    "unknown notification `tool_list_changed`; did you mean `tools_list_changed`?"
}
::core::compile_error! {
    "expected `&self`: one handler serves all subscriptions; what changes belongs in the state of one, or behind a lock"
}
::core::compile_error! {
    "the event comes first: `saved(&self, event: &EVENT, ...)`"
}
::core::compile_error! {
    "no method `subscribe` in this block: one block has all the methods of a handler\nhelp: add `async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<STATE, Rejection>`"
}
