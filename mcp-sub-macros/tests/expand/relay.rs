impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }
    fn tool_installed(
        &self,
        _: &ToolInstalled,
        #[cfg(not(doc))]
        channel: &mut Channel<'_, <Self as ::mcp_sub::__private::Marked<0>>::Marker>,
        #[cfg(doc)]
        channel: &mut Channel<'_>,
    ) {
        channel.tools_list_changed();
    }
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
    #[allow(dead_code)]
    mod __method {
        pub enum tool_installed {}
    }
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ToolsListChanged> for __method::tool_installed {}
    #[doc(hidden)]
    #[automatically_derived]
    impl __mcp_sub::__private::Marked<0> for __Handler {
        type Marker = __method::tool_installed;
    }
    #[automatically_derived]
    impl __mcp_sub::Declares<__mcp_sub::ToolsListChanged> for __Handler {}
    #[cfg(not(doc))]
    const _: () = {
        #[automatically_derived]
        impl __mcp_sub::SubscriptionHandler for __Handler
        where
            Self: __mcp_sub::__private::Shared,
            for<'__a> __SubscriptionEvent: __mcp_sub::__private::Shared,
            <Result<
                (),
                Rejection,
            > as __mcp_sub::__private::Subscribed>::State: __mcp_sub::__private::Owned,
            Rejection: __mcp_sub::__private::Refusal,
        {
            type Event = __SubscriptionEvent;
            type State = <Result<
                (),
                Rejection,
            > as __mcp_sub::__private::Subscribed>::State;
            const DECLARED: __mcp_sub::Kinds = {
                let __kinds = __mcp_sub::Kinds::NONE;
                let __kinds = __kinds.union(__mcp_sub::Kinds::TOOLS_LIST_CHANGED);
                __kinds
            };
            const DEPENDS_ON_CALLER: bool = false;
            fn kinds(__event: &__SubscriptionEvent) -> __mcp_sub::Kinds {
                match *__event {
                    __SubscriptionEvent::tool_installed(_) => {
                        __mcp_sub::Kinds::TOOLS_LIST_CHANGED
                    }
                }
            }
            async fn subscribe(
                &self,
                __filter: &mut __mcp_sub::Filter<'_, Self>,
                __request: &__mcp_sub::ListenRequest,
                __inbox: &__mcp_sub::Inbox<Self>,
            ) -> __mcp_sub::__private::Subscription<Self::State> {
                __mcp_sub::__private::Subscribed::into_result(Self::subscribe(self))
            }
            fn handle_event(
                &self,
                __event: &__SubscriptionEvent,
                __channel: &mut __mcp_sub::Channel<'_, __mcp_sub::AnyNotification>,
                __state: &mut Self::State,
            ) -> impl __mcp_sub::__private::Future<
                Output = __mcp_sub::Flow,
            > + __mcp_sub::__private::Send {
                async move {
                    match *__event {
                        __SubscriptionEvent::tool_installed(ref __event) => {
                            <_ as __mcp_sub::IntoFlow>::into_flow(
                                Self::tool_installed(
                                    self,
                                    &(*__event),
                                    &mut (__channel.narrowed()),
                                ),
                            )
                        }
                    }
                }
            }
        }
        type __event_tool_installed = ToolInstalled;
        #[automatically_derived]
        impl __mcp_sub::Handles<__event_tool_installed> for __Handler
        where
            __event_tool_installed: __mcp_sub::__private::Shared,
        {
            type Events = __SubscriptionEvent;
            fn into_event(__event: ToolInstalled) -> __SubscriptionEvent {
                __SubscriptionEvent::tool_installed(__event)
            }
        }
        #[automatically_derived]
        impl __mcp_sub::relay::RelayedHandler for __Handler
        where
            ToolInstalled: __mcp_sub::__private::RelayedEvent,
        {
            fn encode(__event: &__SubscriptionEvent) -> __mcp_sub::__private::Encoded {
                match *__event {
                    __SubscriptionEvent::tool_installed(ref __event) => {
                        <ToolInstalled as __mcp_sub::__private::RelayedEvent>::encode(
                            __event,
                            "tool_installed",
                        )
                    }
                }
            }
            fn decode(
                __encoded: &__mcp_sub::__private::EncodedEvent<'_>,
            ) -> __mcp_sub::__private::Decoded<__SubscriptionEvent> {
                match __encoded.name() {
                    "tool_installed" => {
                        __mcp_sub::__private::Some(
                            <ToolInstalled as __mcp_sub::__private::RelayedEvent>::decode(
                                    __encoded,
                                )
                                .map(__SubscriptionEvent::tool_installed),
                        )
                    }
                    _ => __mcp_sub::__private::Option::None,
                }
            }
        }
    };
    #[cfg(doc)]
    const _: () = {
        #[automatically_derived]
        impl __mcp_sub::SubscriptionHandler for __Handler {
            type Event = __SubscriptionEvent;
            type State = ();
            const DECLARED: __mcp_sub::Kinds = {
                let __kinds = __mcp_sub::Kinds::NONE;
                let __kinds = __kinds.union(__mcp_sub::Kinds::TOOLS_LIST_CHANGED);
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
        impl __mcp_sub::Handles<__event_tool_installed> for __Handler {
            type Events = __SubscriptionEvent;
            fn into_event(_: ToolInstalled) -> __SubscriptionEvent {
                loop {}
            }
        }
        #[automatically_derived]
        impl __mcp_sub::relay::RelayedHandler for __Handler {
            fn encode(_: &__SubscriptionEvent) -> __mcp_sub::__private::Encoded {
                loop {}
            }
            fn decode(
                _: &__mcp_sub::__private::EncodedEvent<'_>,
            ) -> __mcp_sub::__private::Decoded<__SubscriptionEvent> {
                loop {}
            }
        }
    };
};
