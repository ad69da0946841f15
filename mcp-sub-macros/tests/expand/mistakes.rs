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
    type_alias_bounds,
)]
const _: () = {
    use ::mcp_sub as __mcp_sub;
    type __Handler = Files;
    pub enum __SubscriptionEvent {
        tool_installed(ToolInstalled),
    }
    #[automatically_derived]
    impl __mcp_sub::SubscriptionHandler for __Handler
    where
        Self: __mcp_sub::__private::Shared,
        for<'__a> __SubscriptionEvent: __mcp_sub::__private::Shared,
    {
        type Event = __SubscriptionEvent;
        type State = ();
        const DECLARED: __mcp_sub::Kinds = {
            let __kinds = __mcp_sub::Kinds::NONE;
            let __kinds = __kinds.union(__mcp_sub::Kinds::NONE);
            __kinds
        };
        fn kinds(_: &Self::Event) -> __mcp_sub::Kinds {
            __mcp_sub::Kinds::NONE
        }
        async fn subscribe(
            &self,
            _: &mut __mcp_sub::Filter<'_, Self>,
            _: &__mcp_sub::ListenRequest,
            _: &__mcp_sub::Inbox<Self>,
        ) -> ::core::result::Result<Self::State, __mcp_sub::Rejection> {
            loop {}
        }
        async fn handle_event(
            &self,
            _: &Self::Event,
            _: &mut __mcp_sub::Channel<'_, __mcp_sub::AnyNotification>,
            _: &mut Self::State,
        ) -> __mcp_sub::Flow {
            loop {}
        }
    }
    type __event_tool_installed = ToolInstalled;
    #[automatically_derived]
    impl __mcp_sub::Handles<__event_tool_installed> for __Handler
    where
        __event_tool_installed: __mcp_sub::__private::Shared,
    {
        type Events = __SubscriptionEvent;
        fn into_event(_: ToolInstalled) -> __SubscriptionEvent {
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
