#[cfg(unix)]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }
    fn tool_installed(
        &self,
        _: &ToolInstalled,
        channel: &mut Channel<
            '_,
            <Self as facade::mcp_sub::__private::Marked<0>>::Marker,
        >,
    ) {
        channel.tools_list_changed();
    }
}
#[cfg(unix)]
/// An event of [`Files`].
#[allow(
    deprecated,
    missing_copy_implementations,
    missing_debug_implementations,
    non_camel_case_types,
    private_bounds,
    private_interfaces
)]
pub enum FilesEvent {
    /// Taken by the method `tool_installed`.
    tool_installed(ToolInstalled),
}
#[cfg(unix)]
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
    #[allow(dead_code)]
    mod __method {
        pub enum tool_installed {}
    }
    #[automatically_derived]
    impl facade::mcp_sub::Emits<facade::mcp_sub::ToolsListChanged>
    for __method::tool_installed {}
    #[doc(hidden)]
    #[automatically_derived]
    impl facade::mcp_sub::__private::Marked<0> for Files {
        type Marker = __method::tool_installed;
    }
    #[automatically_derived]
    impl facade::mcp_sub::Declares<facade::mcp_sub::ToolsListChanged> for Files {}
    #[doc(hidden)]
    #[automatically_derived]
    impl facade::mcp_sub::__private::Stated for Files {
        type State = <Result<
            (),
            Rejection,
        > as facade::mcp_sub::__private::Subscribed>::State;
    }
    #[cfg(not(doc))]
    #[automatically_derived]
    impl facade::mcp_sub::SubscriptionHandler for Files
    where
        Files: facade::mcp_sub::__private::Shared,
        <Result<
            (),
            Rejection,
        > as facade::mcp_sub::__private::Subscribed>::State: facade::mcp_sub::__private::Owned,
        <Result<
            (),
            Rejection,
        > as facade::mcp_sub::__private::Subscribed>::Error: facade::mcp_sub::__private::Refusal,
        ToolInstalled: facade::mcp_sub::__private::Shared,
    {
        type Event = FilesEvent;
        type State = <Self as facade::mcp_sub::__private::Stated>::State;
        const DECLARED: facade::mcp_sub::Kinds = {
            let __kinds = facade::mcp_sub::Kinds::NONE;
            let __kinds = __kinds.union(facade::mcp_sub::Kinds::TOOLS_LIST_CHANGED);
            __kinds
        };
        fn kinds(__event: &Self::Event) -> facade::mcp_sub::Kinds {
            match *__event {
                FilesEvent::tool_installed(_) => {
                    facade::mcp_sub::Kinds::TOOLS_LIST_CHANGED
                }
            }
        }
        async fn subscribe(
            &self,
            __filter: &mut facade::mcp_sub::Filter<'_, Self>,
            __request: &facade::mcp_sub::ListenRequest,
        ) -> facade::mcp_sub::__private::Result<
            Self::State,
            facade::mcp_sub::Rejection,
        > {
            facade::mcp_sub::__private::Subscribed::into_result(Self::subscribe(self))
        }
        fn handle_event(
            &self,
            __event: &Self::Event,
            __channel: &mut facade::mcp_sub::Channel<
                '_,
                facade::mcp_sub::AnyNotification,
            >,
            __state: &mut Self::State,
        ) -> impl facade::mcp_sub::__private::Future<
            Output = facade::mcp_sub::Flow,
        > + facade::mcp_sub::__private::Send {
            async move {
                match *__event {
                    FilesEvent::tool_installed(ref __event) => {
                        facade::mcp_sub::IntoFlow::into_flow(
                            <Self as facade::mcp_sub::__private::Method<
                                __method::tool_installed,
                                ToolInstalled,
                            >>::call(self, __event, &mut __channel.narrowed(), __state)
                                .await,
                        )
                    }
                }
            }
        }
    }
    #[cfg(not(doc))]
    #[automatically_derived]
    impl facade::mcp_sub::Handles<ToolInstalled> for Files
    where
        for<'__a> Files: facade::mcp_sub::SubscriptionHandler<Event = FilesEvent>,
    {
        fn into_event(__event: ToolInstalled) -> Self::Event {
            FilesEvent::tool_installed(__event)
        }
    }
    #[cfg(doc)]
    #[automatically_derived]
    impl facade::mcp_sub::SubscriptionHandler for Files {
        type Event = FilesEvent;
        type State = <Self as facade::mcp_sub::__private::Stated>::State;
        const DECLARED: facade::mcp_sub::Kinds = {
            let __kinds = facade::mcp_sub::Kinds::NONE;
            let __kinds = __kinds.union(facade::mcp_sub::Kinds::TOOLS_LIST_CHANGED);
            __kinds
        };
        fn kinds(__event: &Self::Event) -> facade::mcp_sub::Kinds {
            match *__event {
                FilesEvent::tool_installed(_) => {
                    facade::mcp_sub::Kinds::TOOLS_LIST_CHANGED
                }
            }
        }
        async fn subscribe(
            &self,
            __filter: &mut facade::mcp_sub::Filter<'_, Self>,
            __request: &facade::mcp_sub::ListenRequest,
        ) -> facade::mcp_sub::__private::Result<
            Self::State,
            facade::mcp_sub::Rejection,
        > {
            facade::mcp_sub::__private::Subscribed::into_result(Self::subscribe(self))
        }
        fn handle_event(
            &self,
            __event: &Self::Event,
            __channel: &mut facade::mcp_sub::Channel<
                '_,
                facade::mcp_sub::AnyNotification,
            >,
            __state: &mut Self::State,
        ) -> impl facade::mcp_sub::__private::Future<
            Output = facade::mcp_sub::Flow,
        > + facade::mcp_sub::__private::Send {
            async move {
                match *__event {
                    FilesEvent::tool_installed(ref __event) => {
                        facade::mcp_sub::IntoFlow::into_flow(
                            <Self as facade::mcp_sub::__private::Method<
                                __method::tool_installed,
                                ToolInstalled,
                            >>::call(self, __event, &mut __channel.narrowed(), __state)
                                .await,
                        )
                    }
                }
            }
        }
    }
    #[cfg(doc)]
    #[automatically_derived]
    impl facade::mcp_sub::Handles<ToolInstalled> for Files {
        fn into_event(__event: ToolInstalled) -> Self::Event {
            FilesEvent::tool_installed(__event)
        }
    }
    #[automatically_derived]
    impl facade::mcp_sub::__private::Method<__method::tool_installed, ToolInstalled>
    for Files
    where
        Files: facade::mcp_sub::__private::Shared,
        <Result<
            (),
            Rejection,
        > as facade::mcp_sub::__private::Subscribed>::State: facade::mcp_sub::__private::Owned,
        ToolInstalled: facade::mcp_sub::__private::Shared,
    {
        fn call(
            &self,
            __event: &ToolInstalled,
            __channel: &mut facade::mcp_sub::Channel<'_, __method::tool_installed>,
            __state: &mut Self::State,
        ) -> impl facade::mcp_sub::__private::Future<
            Output: facade::mcp_sub::IntoFlow,
        > + facade::mcp_sub::__private::Send {
            facade::mcp_sub::__private::ready(
                facade::mcp_sub::IntoFlow::into_flow(
                    Self::tool_installed(self, __event, __channel),
                ),
            )
        }
    }
};
