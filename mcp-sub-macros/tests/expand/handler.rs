impl<S: Store> Files<S>
where
    S: Clone,
{
    /// Before the acknowledgement.
    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        inbox: &Inbox<Self>,
        request: &ListenRequest,
    ) -> Answer<Seen> {
        filter.retain_resources(|uri| self.store.readable(uri));
        Ok(Seen::of(request))
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
    #[cfg(unix)]
    async fn saved(
        &self,
        event: &Saved<Self>,
        seen: &mut Seen,
        #[cfg(not(doc))]
        channel: &mut Channel<'_, <Self as ::mcp_sub::__private::Marked<1>>::Marker>,
        #[cfg(doc)]
        channel: &mut Channel<'_>,
    ) -> Flow {
        channel.resources_updated(event.uri());
        seen.files += 1;
        Flow::Continue
    }
    fn helper<E>(
        &self,
        channel: &mut Channel<'_, E>,
        filter: &mut Filter<'_, Self>,
        inbox: &Inbox<Self>,
    ) {}
    fn subscription_capabilities(&self, caller: &Caller) -> Kinds {
        self.kinds(caller)
    }
    async fn handle_lagged(
        &self,
        missed: &Missed<'_>,
        seen: &mut Seen,
        #[cfg(not(doc))]
        channel: &mut Channel<'_, <Self as ::mcp_sub::__private::MarkedLagged>::Marker>,
        #[cfg(doc)]
        channel: &mut Channel<'_>,
    ) -> Flow {
        channel.catch_up(missed);
        seen.lagged()
    }
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
    type_alias_bounds,
)]
const _: () = {
    use ::mcp_sub as __mcp_sub;
    type __Handler<S: Store> where S: Clone = Files<S>;
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
        pub enum handle_lagged {}
    }
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ToolsListChanged> for __method::tool_installed {}
    #[cfg(unix)]
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ResourcesUpdated> for __method::saved {}
    #[cfg(unix)]
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ResourcesListChanged> for __method::saved {}
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::__private::Marked<0> for __Handler<S>
    where
        S: Clone,
    {
        type Marker = __method::tool_installed;
    }
    #[cfg(unix)]
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::__private::Marked<1> for __Handler<S>
    where
        S: Clone,
    {
        type Marker = __method::saved;
    }
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ToolsListChanged> for __method::handle_lagged {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ResourcesListChanged> for __method::handle_lagged {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl __mcp_sub::Emits<__mcp_sub::ResourcesUpdated> for __method::handle_lagged {}
    #[doc(hidden)]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::__private::MarkedLagged for __Handler<S>
    where
        S: Clone,
    {
        type Marker = __method::handle_lagged;
    }
    #[automatically_derived]
    impl<S: Store> __mcp_sub::Declares<__mcp_sub::ToolsListChanged> for __Handler<S>
    where
        S: Clone,
    {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::Declares<__mcp_sub::ResourcesListChanged> for __Handler<S>
    where
        S: Clone,
    {}
    #[cfg(any(all(unix)))]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::Declares<__mcp_sub::ResourcesUpdated> for __Handler<S>
    where
        S: Clone,
    {}
    #[automatically_derived]
    impl<S: Store> __mcp_sub::SubscriptionHandler for __Handler<S>
    where
        S: Clone,
        Self: __mcp_sub::__private::Shared,
        for<'__a> __SubscriptionEvent<S>: __mcp_sub::__private::Shared,
        <Answer<
            Seen,
        > as __mcp_sub::__private::Subscribed>::State: __mcp_sub::__private::Owned,
        <Answer<
            Seen,
        > as __mcp_sub::__private::Subscribed>::Error: __mcp_sub::__private::Refusal,
    {
        type Event = __SubscriptionEvent<S>;
        type State = <Answer<Seen> as __mcp_sub::__private::Subscribed>::State;
        const DECLARED: __mcp_sub::Kinds = {
            let __kinds = __mcp_sub::Kinds::NONE;
            let __kinds = __kinds.union(__mcp_sub::Kinds::TOOLS_LIST_CHANGED);
            #[cfg(unix)]
            let __kinds = __kinds
                .union(
                    __mcp_sub::Kinds::RESOURCES_UPDATED
                        .union(__mcp_sub::Kinds::RESOURCES_LIST_CHANGED),
                );
            __kinds
        };
        fn kinds(__event: &__SubscriptionEvent<S>) -> __mcp_sub::Kinds {
            match *__event {
                __SubscriptionEvent::tool_installed(_) => {
                    __mcp_sub::Kinds::TOOLS_LIST_CHANGED
                }
                #[cfg(unix)]
                __SubscriptionEvent::saved(_) => {
                    __mcp_sub::Kinds::RESOURCES_UPDATED
                        .union(__mcp_sub::Kinds::RESOURCES_LIST_CHANGED)
                }
                __SubscriptionEvent::__Generic(ref __never, _) => match *__never {}
            }
        }
        async fn subscribe(
            &self,
            __filter: &mut __mcp_sub::Filter<'_, Self>,
            __request: &__mcp_sub::ListenRequest,
            __inbox: &__mcp_sub::Inbox<Self>,
        ) -> __mcp_sub::__private::Subscription<Self::State> {
            __mcp_sub::__private::Subscribed::into_result(
                Self::subscribe(self, __filter, __inbox, __request).await,
            )
        }
        fn subscription_capabilities(
            &self,
            __caller: &__mcp_sub::Caller,
        ) -> __mcp_sub::__private::Option<__mcp_sub::Kinds> {
            __mcp_sub::__private::Some(
                <Kinds as __mcp_sub::__private::Capabilities>::into_kinds(
                    Self::subscription_capabilities(self, &(*__caller)),
                ),
            )
        }
        fn handle_event(
            &self,
            __event: &__SubscriptionEvent<S>,
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
                    #[cfg(unix)]
                    __SubscriptionEvent::saved(ref __event) => {
                        <Flow as __mcp_sub::IntoFlow>::into_flow(
                            __mcp_sub::__private::method_future(
                                    Self::saved(
                                        self,
                                        &(*__event),
                                        &mut (*__state),
                                        &mut (__channel.narrowed()),
                                    ),
                                )
                                .await,
                        )
                    }
                    __SubscriptionEvent::__Generic(ref __never, _) => match *__never {}
                }
            }
        }
        fn handle_lagged(
            &self,
            __missed: &__mcp_sub::Missed<'_>,
            __channel: &mut __mcp_sub::Channel<'_, __mcp_sub::AnyNotification>,
            __state: &mut Self::State,
        ) -> impl __mcp_sub::__private::Future<
            Output = __mcp_sub::Flow,
        > + __mcp_sub::__private::Send {
            async move {
                <Flow as __mcp_sub::IntoFlow>::into_flow(
                    __mcp_sub::__private::method_future(
                            Self::handle_lagged(
                                self,
                                &(*__missed),
                                &mut (*__state),
                                &mut (__channel.narrowed()),
                            ),
                        )
                        .await,
                )
            }
        }
        fn handle_close(
            &self,
            __reason: __mcp_sub::CloseReason,
            __state: Self::State,
        ) -> impl __mcp_sub::__private::Future<
            Output = (),
        > + __mcp_sub::__private::Send {
            Self::handle_close(self, __reason, __state)
        }
    }
    #[automatically_derived]
    impl<S: Store> __mcp_sub::Handles<ToolInstalled> for __Handler<S>
    where
        S: Clone,
        ToolInstalled: __mcp_sub::__private::Shared,
    {
        type Events = __SubscriptionEvent<S>;
        fn into_event(__event: ToolInstalled) -> __SubscriptionEvent<S> {
            __SubscriptionEvent::tool_installed(__event)
        }
    }
    #[cfg(unix)]
    #[automatically_derived]
    impl<S: Store> __mcp_sub::Handles<Saved<Self>> for __Handler<S>
    where
        S: Clone,
        Saved<Self>: __mcp_sub::__private::Owned,
    {
        type Events = __SubscriptionEvent<S>;
        fn into_event(__event: Saved<Self>) -> __SubscriptionEvent<S> {
            __SubscriptionEvent::saved(__event)
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
