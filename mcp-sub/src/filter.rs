//! From what a client requested to what the server honours. On the way it can only shrink.

use std::{fmt, marker::PhantomData, sync::Arc};

use tokio::time::Instant;

use crate::{
    kind::{Kinds, Notification, ResourcesUpdated},
    protocol::filter::RequestedFilter,
};

/// The notifications that a subscription may carry. Never changes: narrowing makes another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Honoured {
    kinds: Kinds,
    uris: Box<[Arc<str>]>,
    /// Positions in `uris`, in the order of their texts.
    sorted: Box<[u32]>,
}

impl Honoured {
    pub(crate) fn new(filter: RequestedFilter) -> Self {
        let RequestedFilter { kinds, uris } = filter;
        let count = u32::try_from(uris.len()).expect("a listen has fewer URIs than its body has bytes");
        let mut sorted: Box<[u32]> = (0..count).collect();
        sorted.sort_unstable_by(|&a, &b| uris[a as usize].cmp(&uris[b as usize]));
        Self { kinds, uris: uris.into(), sorted }
    }

    pub(crate) fn kinds(&self) -> Kinds {
        self.kinds
    }

    pub(crate) fn uris(&self) -> &[Arc<str>] {
        &self.uris
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Where `uri` is in [`uris`](Self::uris).
    pub(crate) fn position(&self, uri: &str) -> Option<usize> {
        let found = self.sorted.binary_search_by(|&position| (*self.uris[position as usize]).cmp(uri));
        found.ok().map(|found| self.sorted[found] as usize)
    }

    /// Whether an event concerns this subscription: one whose method declares `kinds`, published for `uri`.
    pub(crate) fn concerned(&self, kinds: Kinds, uri: Option<&str>) -> bool {
        let common = self.kinds.intersection(kinds);
        match uri {
            Some(uri) if common == Kinds::RESOURCES_UPDATED => self.position(uri).is_some(),
            _ => !common.is_empty(),
        }
    }
}

/// `H: Declares<N>`: some method of the handler `H` may emit `N`, so a [`Filter`] of `H` can be asked about it.
///
/// [`#[subscription_handler]`](macro@crate::subscription_handler) implements it, once for each kind in the block. By
/// hand, implement it for the kinds in [`DECLARED`](crate::SubscriptionHandler::DECLARED).
#[diagnostic::on_unimplemented(
    message = "`{Self}` declares no `{N}`",
    label = "no method of `{Self}` emits this",
    note = "a filter holds only what the `#[emits(...)]` of its handler list: there is nothing to ask, keep or decline"
)]
pub trait Declares<N: Notification> {}

/// What a client asked for, lent to [`subscribe`](crate::SubscriptionHandler::subscribe), which can only take away from it.
///
/// At first it holds what the client requested and the handler declares. What is left when `subscribe` returns is
/// acknowledged, and nothing else is ever written to that client.
///
/// There is no way to make one, to copy one, or to add to one. A kind that the handler `H` does not declare cannot be
/// asked about: such code does not compile. Inside a block with [`#[subscription_handler]`](macro@crate::subscription_handler)
/// write `&mut Filter<'_>`; a function of your own that narrows takes `&mut Filter<'_, H>`:
///
/// ```
/// use mcp_sub::{Declares, Filter, ResourcesUpdated};
///
/// fn only_public<H: Declares<ResourcesUpdated>>(filter: &mut Filter<'_, H>) {
///     filter.retain_resources(|uri| uri.starts_with("file:///public/"));
/// }
/// ```
///
/// Specification: [Subscriptions, Notification Filter][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter
pub struct Filter<'s, H> {
    left: &'s mut RequestedFilter,
    expiry: Option<Instant>,
    // Invariant in `'s`: one that was kept from another request does not fit in the place of this one.
    _request: PhantomData<fn(&'s ()) -> &'s ()>,
    _handler: PhantomData<fn() -> H>,
}

impl<'s, H> Filter<'s, H> {
    pub(crate) fn new(left: &'s mut RequestedFilter) -> Self {
        Self { left, expiry: None, _request: PhantomData, _handler: PhantomData }
    }

    pub(crate) fn expiry(&self) -> Option<Instant> {
        self.expiry
    }
}

impl<H> Filter<'_, H> {
    /// Whether the client asked for `N`, and it was not declined yet. For [`ResourcesUpdated`]: at least one URI.
    #[must_use]
    pub fn wants<N: Notification>(&self) -> bool
    where
        H: Declares<N>,
    {
        self.left.kinds.intersects(N::KIND)
    }

    /// Takes `N` away: it will not be acknowledged, and never be sent. For [`ResourcesUpdated`]: all URIs.
    pub fn decline<N: Notification>(&mut self)
    where
        H: Declares<N>,
    {
        self.left.retain_kinds(self.left.kinds.difference(N::KIND));
    }

    /// The URIs whose updates the client asked for and that were not taken away yet, in the order of its request.
    pub fn resources(&self) -> impl Iterator<Item = &str>
    where
        H: Declares<ResourcesUpdated>,
    {
        self.left.uris.iter().map(|uri| &**uri)
    }

    /// Keeps only the URIs for which `keep` says `true`.
    ///
    /// Leave out those that do not exist and those that this caller may not see: to the client both look the same. Where
    /// nothing is left at all, the subscription is completed at once: keep a URI that a client waits for, or set
    /// [`hold_empty`](crate::Builder::hold_empty).
    ///
    /// Where deciding has to wait, decide about all of [`resources`](Self::resources) first:
    ///
    /// ```
    /// # use std::collections::HashSet;
    /// # use mcp_sub::{Declares, Filter, ResourcesUpdated};
    /// # async fn readable(uris: Vec<String>) -> HashSet<String> { uris.into_iter().collect() }
    /// async fn narrow<H: Declares<ResourcesUpdated>>(filter: &mut Filter<'_, H>) {
    ///     let asked: Vec<String> = filter.resources().map(Into::into).collect();
    ///     let readable: HashSet<String> = readable(asked).await;
    ///     filter.retain_resources(|uri| readable.contains(uri));
    /// }
    /// ```
    pub fn retain_resources(&mut self, keep: impl FnMut(&str) -> bool)
    where
        H: Declares<ResourcesUpdated>,
    {
        self.left.retain_uris(keep);
    }

    /// Ends the subscription at `expiry`, as [`CloseReason::Expired`](crate::CloseReason::Expired): when the credentials of
    /// its caller expire. Of several, the earliest stands. From then on nothing is told, not even what was published
    /// before and not taken yet. A time that is over already leaves the acknowledgement, and the error.
    ///
    /// ```
    /// # use std::time::{Duration, Instant, SystemTime};
    /// # use mcp_sub::Filter;
    /// fn until<H>(filter: &mut Filter<'_, H>, token_expires: SystemTime) {
    ///     let left = token_expires.duration_since(SystemTime::now()).unwrap_or_default();
    ///     filter.set_expiry(Instant::now() + left);
    /// }
    /// ```
    pub fn set_expiry(&mut self, expiry: impl Into<Instant>) {
        self.expiry = self.expiry.into_iter().chain([expiry.into()]).min();
    }

    /// Whether nothing is left. Such a subscription is acknowledged with nothing in it, and completed at once.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.kinds.is_empty()
    }
}

impl<H> fmt::Debug for Filter<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("kinds", &self.left.kinds).field("uris", &self.left.uris).finish()
    }
}

/// Implemented by nothing: gives a send in `subscribe` an error of its own.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`subscribe` runs before the acknowledgement, when nothing may be sent",
    label = "no notification may precede the acknowledgement",
    note = "send from a method with `#[emits(...)]`: those run once the subscription is acknowledged"
)]
pub trait AfterAcknowledgement {}

/// The names that a send has after the acknowledgement. Nobody can call these.
#[doc(hidden)]
impl<H> Filter<'_, H> {
    pub fn tools_list_changed(&mut self)
    where
        Self: AfterAcknowledgement,
    {
    }
    pub fn prompts_list_changed(&mut self)
    where
        Self: AfterAcknowledgement,
    {
    }
    pub fn resources_list_changed(&mut self)
    where
        Self: AfterAcknowledgement,
    {
    }
    pub fn resources_updated(&mut self, _uri: impl AsRef<str>)
    where
        Self: AfterAcknowledgement,
    {
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kind::{PromptsListChanged, ResourcesListChanged, ToolsListChanged};

    struct Everything;
    impl Declares<ToolsListChanged> for Everything {}
    impl Declares<PromptsListChanged> for Everything {}
    impl Declares<ResourcesListChanged> for Everything {}
    impl Declares<ResourcesUpdated> for Everything {}

    fn requested(kinds: u8, uris: &[u8]) -> RequestedFilter {
        let kinds =
            (0..3).filter(|bit| kinds & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
        let uris: Vec<Arc<str>> = uris.iter().map(|uri| format!("x:{uri}").into()).collect();
        let updates = if uris.is_empty() { Kinds::NONE } else { Kinds::RESOURCES_UPDATED };
        RequestedFilter { kinds: kinds.union(updates), uris }
    }

    /// All that a handler can do to a filter.
    #[derive(Clone, Debug)]
    enum Step {
        Decline(usize),
        RetainIf(u8),
    }

    fn apply(filter: &mut Filter<'_, Everything>, step: &Step) {
        match step {
            Step::Decline(0) => filter.decline::<ToolsListChanged>(),
            Step::Decline(1) => filter.decline::<PromptsListChanged>(),
            Step::Decline(2) => filter.decline::<ResourcesListChanged>(),
            Step::Decline(_) => filter.decline::<ResourcesUpdated>(),
            Step::RetainIf(digit) => filter.retain_resources(|uri| uri.as_bytes()[2] != *digit),
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![(0..4_usize).prop_map(Step::Decline), (b'0'..=b'9').prop_map(Step::RetainIf)];
        proptest::collection::vec(step, 0..4)
    }

    proptest! {
        /// Promise 2, as algebra: whatever a handler does, what is honoured was requested and declared.
        #[test]
        fn promise_2_honoured_is_within_requested_and_declared(
            kinds in 0..8_u8,
            uris in proptest::collection::btree_set(any::<u8>(), 0..12),
            declared in 0..16_u8,
            steps in steps(),
        ) {
            let uris: Vec<u8> = uris.into_iter().collect();
            let declared = (0..4).filter(|bit| declared & (1 << bit) != 0).map(Kinds::at).fold(Kinds::NONE, Kinds::union);
            let requested = requested(kinds, &uris);
            let mut left = requested.clone();
            left.retain_kinds(declared);
            let mut before = Honoured::new(left.clone());
            for step in &steps {
                apply(&mut Filter::new(&mut left), step);
                let after = Honoured::new(left.clone());
                prop_assert!(before.kinds().contains(after.kinds()), "a step only takes away");
                prop_assert!(after.uris().iter().all(|uri| before.position(uri).is_some()));
                before = after;
            }
            prop_assert!(requested.kinds.intersection(declared).contains(before.kinds()));
            prop_assert!(before.uris().iter().all(|uri| requested.uris.contains(uri)));
            prop_assert_eq!(before.kinds().contains(Kinds::RESOURCES_UPDATED), !before.uris().is_empty());
            for index in 0..4 {
                let kind = Kinds::at(index);
                prop_assert_eq!(before.concerned(kind, None), before.kinds().contains(kind));
            }
        }

        /// A URI is honoured exactly if it is in the list, byte for byte.
        #[test]
        fn a_uri_is_found_where_it_stands(uris in proptest::collection::btree_set("[a-c:]{0,4}", 0..20), other in "[a-c:]{0,4}") {
            let uris: Vec<Arc<str>> = uris.into_iter().rev().map(Into::into).collect();
            let honoured = Honoured::new(RequestedFilter { kinds: Kinds::NONE, uris: uris.clone() });
            for (position, uri) in uris.iter().enumerate() {
                prop_assert_eq!(honoured.position(uri), Some(position));
            }
            prop_assert_eq!(honoured.position(&other).is_some(), uris.iter().any(|uri| **uri == *other));
        }
    }

    #[test]
    fn an_event_for_a_uri_concerns_who_honours_it_or_another_declared_kind() {
        let honoured = Honoured::new(requested(0b100, &[1]));
        let both = Kinds::RESOURCES_UPDATED.union(Kinds::RESOURCES_LIST_CHANGED);
        assert!(honoured.concerned(Kinds::RESOURCES_UPDATED, Some("x:1")));
        assert!(!honoured.concerned(Kinds::RESOURCES_UPDATED, Some("x:2")));
        assert!(honoured.concerned(Kinds::RESOURCES_UPDATED, None));
        assert!(honoured.concerned(both, Some("x:2")));
        assert!(!honoured.concerned(Kinds::TOOLS_LIST_CHANGED, None));
    }

    #[test]
    fn a_filter_tells_what_is_left() {
        let mut left = requested(0b1, &[1, 2]);
        let mut filter = Filter::<Everything>::new(&mut left);
        assert!(filter.wants::<ToolsListChanged>() && !filter.wants::<PromptsListChanged>());
        assert_eq!(filter.resources().collect::<Vec<_>>(), ["x:1", "x:2"]);
        filter.retain_resources(|_| false);
        assert!(!filter.wants::<ResourcesUpdated>() && !filter.is_empty());
        filter.decline::<ToolsListChanged>();
        assert!(filter.is_empty());
    }
}
