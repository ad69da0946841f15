impl<S: Store> Files<S>
where
    S: Clone,
{
    /// Before the acknowledgement.
    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
    ) -> Answer<Seen> {
        filter.retain_resources(|uri| self.store.readable(uri));
        Ok(Seen::of(request))
    }
    fn tool_installed(
        &self,
        _: &ToolInstalled,
        channel: &mut Channel<'_, <Self as ::mcp_sub::__private::Marked<0>>::Marker>,
    ) {
        channel.tools_list_changed();
    }
    #[cfg(unix)]
    async fn saved(
        &self,
        event: &Saved<Self>,
        seen: &mut Seen,
        channel: &mut Channel<'_, <Self as ::mcp_sub::__private::Marked<1>>::Marker>,
    ) -> Flow {
        channel.resources_updated(event.uri());
        seen.files += 1;
        Flow::Continue
    }
    fn helper<E>(&self, channel: &mut Channel<'_, E>, filter: &mut Filter<'_, Self>) {}
    async fn handle_close(&self, reason: CloseReason, seen: Seen) {}
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
    pub enum __SubscriptionEvent<S: Store>
    where
        S: Clone,
    {
        tool_installed(ToolInstalled),
        #[cfg(unix)]
        saved(Saved<Files<S>>),
        #[doc(hidden)]
        __Generic(
            ::mcp_sub::__private::Infallible,
            ::mcp_sub::__private::PhantomData<fn() -> Files<S>>,
        ),
    }
    #[allow(dead_code)]
    mod __method {
        pub enum tool_installed {}
        #[cfg(unix)]
        pub enum saved {}
    }
    #[automatically_derived]
    impl ::mcp_sub::Emits<::mcp_sub::ToolsListChanged> for __method::tool_installed {}
    #[cfg(unix)]
    #[automatically_derived]
    impl ::mcp_sub::Emits<::mcp_sub::ResourcesUpdated> for __method::saved {}
    #[cfg(unix)]
    #[automatically_derived]
    impl ::mcp_sub::Emits<::mcp_sub::ResourcesListChanged> for __method::saved {}
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::__private::Marked<0> for Files<S>
    where
        S: Clone,
    {
        type Marker = __method::tool_installed;
    }
    #[cfg(unix)]
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::__private::Marked<1> for Files<S>
    where
        S: Clone,
    {
        type Marker = __method::saved;
    }
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::Declares<::mcp_sub::ToolsListChanged> for Files<S>
    where
        S: Clone,
    {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::Declares<::mcp_sub::ResourcesListChanged> for Files<S>
    where
        S: Clone,
    {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::Declares<::mcp_sub::ResourcesUpdated> for Files<S>
    where
        S: Clone,
    {}
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::__private::Stated for Files<S>
    where
        S: Clone,
    {
        type State = <Answer<Seen> as ::mcp_sub::__private::Subscribed>::State;
    }
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::SubscriptionHandler for Files<S>
    where
        S: Clone,
        Files<S>: ::mcp_sub::__private::Shared,
        <Answer<
            Seen,
        > as ::mcp_sub::__private::Subscribed>::State: ::mcp_sub::__private::Owned,
        <Answer<
            Seen,
        > as ::mcp_sub::__private::Subscribed>::Error: ::mcp_sub::__private::Refusal,
        ToolInstalled: ::mcp_sub::__private::Shared,
    {
        type Event = __SubscriptionEvent<S>;
        type State = <Self as ::mcp_sub::__private::Stated>::State;
        const DECLARED: ::mcp_sub::Kinds = {
            let __kinds = ::mcp_sub::Kinds::NONE;
            let __kinds = __kinds.union(::mcp_sub::Kinds::TOOLS_LIST_CHANGED);
            #[cfg(unix)]
            let __kinds = __kinds
                .union(
                    ::mcp_sub::Kinds::RESOURCES_UPDATED
                        .union(::mcp_sub::Kinds::RESOURCES_LIST_CHANGED),
                );
            __kinds
        };
        fn kinds(__event: &Self::Event) -> ::mcp_sub::Kinds {
            match *__event {
                __SubscriptionEvent::tool_installed(_) => {
                    ::mcp_sub::Kinds::TOOLS_LIST_CHANGED
                }
                #[cfg(unix)]
                __SubscriptionEvent::saved(_) => {
                    ::mcp_sub::Kinds::RESOURCES_UPDATED
                        .union(::mcp_sub::Kinds::RESOURCES_LIST_CHANGED)
                }
                __SubscriptionEvent::__Generic(ref __never, _) => match *__never {}
            }
        }
        async fn subscribe(
            &self,
            __filter: &mut ::mcp_sub::Filter<'_, Self>,
            __request: &::mcp_sub::ListenRequest,
        ) -> ::mcp_sub::__private::Result<Self::State, ::mcp_sub::Rejection> {
            ::mcp_sub::__private::Subscribed::into_result(
                Self::subscribe(self, __filter, __request).await,
            )
        }
        fn handle_event(
            &self,
            __event: &Self::Event,
            __channel: &mut ::mcp_sub::Channel<'_, ::mcp_sub::AnyNotification>,
            __state: &mut Self::State,
        ) -> impl ::mcp_sub::__private::Future<
            Output = ::mcp_sub::Flow,
        > + ::mcp_sub::__private::Send {
            async move {
                match *__event {
                    __SubscriptionEvent::tool_installed(ref __event) => {
                        ::mcp_sub::IntoFlow::into_flow(
                            <Self as ::mcp_sub::__private::Method<
                                __method::tool_installed,
                                ToolInstalled,
                            >>::call(self, __event, &mut __channel.narrowed(), __state)
                                .await,
                        )
                    }
                    #[cfg(unix)]
                    __SubscriptionEvent::saved(ref __event) => {
                        ::mcp_sub::IntoFlow::into_flow(
                            <Self as ::mcp_sub::__private::Method<
                                __method::saved,
                                Saved<Self>,
                            >>::call(self, __event, &mut __channel.narrowed(), __state)
                                .await,
                        )
                    }
                    __SubscriptionEvent::__Generic(ref __never, _) => match *__never {}
                }
            }
        }
        fn handle_close(
            &self,
            __reason: ::mcp_sub::CloseReason,
            __state: Self::State,
        ) -> impl ::mcp_sub::__private::Future<
            Output = (),
        > + ::mcp_sub::__private::Send {
            Self::handle_close(self, __reason, __state)
        }
    }
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::Handles<ToolInstalled> for Files<S>
    where
        S: Clone,
        for<'__a> Files<
            S,
        >: ::mcp_sub::SubscriptionHandler<Event = __SubscriptionEvent<S>>,
    {
        fn into_event(__event: ToolInstalled) -> Self::Event {
            __SubscriptionEvent::tool_installed(__event)
        }
    }
    #[cfg(unix)]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::Handles<Saved<Self>> for Files<S>
    where
        S: Clone,
        for<'__a> Files<
            S,
        >: ::mcp_sub::SubscriptionHandler<Event = __SubscriptionEvent<S>>,
    {
        fn into_event(__event: Saved<Self>) -> Self::Event {
            __SubscriptionEvent::saved(__event)
        }
    }
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::__private::Method<__method::tool_installed, ToolInstalled>
    for Files<S>
    where
        S: Clone,
        Files<S>: ::mcp_sub::__private::Shared,
        <Answer<
            Seen,
        > as ::mcp_sub::__private::Subscribed>::State: ::mcp_sub::__private::Owned,
        ToolInstalled: ::mcp_sub::__private::Shared,
    {
        fn call(
            &self,
            __event: &ToolInstalled,
            __channel: &mut ::mcp_sub::Channel<'_, __method::tool_installed>,
            __state: &mut Self::State,
        ) -> impl ::mcp_sub::__private::Future<
            Output: ::mcp_sub::IntoFlow,
        > + ::mcp_sub::__private::Send {
            ::mcp_sub::__private::ready(
                ::mcp_sub::IntoFlow::into_flow(
                    Self::tool_installed(self, __event, __channel),
                ),
            )
        }
    }
    #[cfg(unix)]
    #[automatically_derived]
    impl<S: Store> ::mcp_sub::__private::Method<__method::saved, Saved<Self>>
    for Files<S>
    where
        S: Clone,
        Files<S>: ::mcp_sub::__private::Shared,
        <Answer<
            Seen,
        > as ::mcp_sub::__private::Subscribed>::State: ::mcp_sub::__private::Owned,
        Saved<Self>: ::mcp_sub::__private::Shared,
    {
        fn call(
            &self,
            __event: &Saved<Self>,
            __channel: &mut ::mcp_sub::Channel<'_, __method::saved>,
            __state: &mut Self::State,
        ) -> impl ::mcp_sub::__private::Future<
            Output: ::mcp_sub::IntoFlow,
        > + ::mcp_sub::__private::Send {
            Self::saved(self, __event, &mut *__state, __channel)
        }
    }
    #[cfg(unix)]
    #[allow(clippy::unused_self, clippy::missing_const_for_fn)]
    const _: () = {
        #[allow(dead_code)]
        struct __Unsent;
        impl __Unsent {
            fn resources_list_changed(&self) {}
        }
    };
};
