//! The notification kinds that a subscription can carry, as values and as types.
//!
//! What the protocol says of a kind stands in the one table below. This file knows nobody.

use std::fmt;

/// What the protocol says of one kind.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The name in `#[emits(...)]`, and of the method of [`Channel`](crate::Channel).
    pub(crate) name: &'static str,
    /// The JSON-RPC method of the notification.
    pub(crate) method: &'static str,
    /// The member of the filter that asks for it.
    pub(crate) field: &'static str,
    /// The server capability that advertises it, and the flag in there.
    pub(crate) family: &'static str,
    pub(crate) flag: &'static str,
}

mod sealed {
    pub trait Sealed {}
}

/// A notification that a subscription can carry, as a type: [`ToolsListChanged`], [`PromptsListChanged`],
/// [`ResourcesListChanged`] or [`ResourcesUpdated`].
///
/// Sealed: the protocol fixes them.
///
/// Specification: [Subscriptions, Notification Filter][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter
pub trait Notification: sealed::Sealed {
    /// The set of this one kind.
    const KIND: Kinds;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $ty:ident, $constant:ident = $index:literal, $kind:expr;)*) => {
        pub(crate) const KINDS: [Kind; [$($index),*].len()] = [$($kind),*];

        impl Kinds {
            $($(#[$doc])* pub const $constant: Self = Self(1 << $index);)*
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $ty;
            impl sealed::Sealed for $ty {}
            impl Notification for $ty {
                const KIND: Kinds = Kinds::$constant;
            }
        )*
    };
}

kinds! {
    /// The list of tools changed: `notifications/tools/list_changed`.
    ToolsListChanged, TOOLS_LIST_CHANGED = 0, Kind {
        name: "tools_list_changed",
        method: "notifications/tools/list_changed",
        field: "toolsListChanged",
        family: "tools",
        flag: "listChanged",
    };
    /// The list of prompts changed: `notifications/prompts/list_changed`.
    PromptsListChanged, PROMPTS_LIST_CHANGED = 1, Kind {
        name: "prompts_list_changed",
        method: "notifications/prompts/list_changed",
        field: "promptsListChanged",
        family: "prompts",
        flag: "listChanged",
    };
    /// The list of resources, or of resource templates, changed: `notifications/resources/list_changed`.
    ResourcesListChanged, RESOURCES_LIST_CHANGED = 2, Kind {
        name: "resources_list_changed",
        method: "notifications/resources/list_changed",
        field: "resourcesListChanged",
        family: "resources",
        flag: "listChanged",
    };
    /// One resource changed: `notifications/resources/updated`.
    ResourcesUpdated, RESOURCES_UPDATED = 3, Kind {
        name: "resources_updated",
        method: "notifications/resources/updated",
        field: "resourceSubscriptions",
        family: "resources",
        flag: "subscribe",
    };
}

/// A set of notification kinds: a capability map in one byte.
///
/// ```
/// use mcp_sub::Kinds;
///
/// const LISTS: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::PROMPTS_LIST_CHANGED);
/// assert!(LISTS.contains(Kinds::TOOLS_LIST_CHANGED));
/// assert!(!LISTS.contains(Kinds::RESOURCES_UPDATED));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Every kind.
    pub const ALL: Self = Self((1 << KINDS.len()) - 1);

    /// The kinds in `self` or in `other`.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kinds in `self` and in `other`.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The kinds in `self` and not in `other`.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of `other` is in `self`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether something of `other` is in `self`.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no kind in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set of the kind at `index` in [`KINDS`].
    pub(crate) const fn at(index: usize) -> Self {
        Self(1 << index)
    }

    /// The indices into [`KINDS`], in order.
    pub(crate) fn indices(self) -> impl Iterator<Item = usize> {
        (0..KINDS.len()).filter(move |&index| self.intersects(Self::at(index)))
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.indices().map(|index| KINDS[index].name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_shown_by_the_names_of_its_kinds() {
        let set = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
        assert_eq!(format!("{set:?}"), r#"{"tools_list_changed", "resources_updated"}"#);
        assert_eq!(Kinds::NONE.indices().count(), 0);
    }

    #[test]
    fn the_table_is_in_the_order_of_its_indices() {
        assert_eq!(KINDS[ToolsListChanged::KIND.indices().next().unwrap()].name, "tools_list_changed");
        assert_eq!(KINDS[PromptsListChanged::KIND.indices().next().unwrap()].name, "prompts_list_changed");
        assert_eq!(
            KINDS[ResourcesListChanged::KIND.indices().next().unwrap()].name,
            "resources_list_changed"
        );
        assert_eq!(KINDS[ResourcesUpdated::KIND.indices().next().unwrap()].name, "resources_updated");
    }
}
