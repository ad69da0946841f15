//! Where a tool says what has changed, and who listens to it.

use mcp_sub::Subscriptions;

use crate::{
    bare::Listeners,
    watched::{PromptsChanged, ResourceUpdated, ResourcesChanged, ToolsChanged, Watched},
};

/// All listen under this name, so that all can be ended.
pub(crate) const EVERYONE: &str = "everyone";

#[derive(Clone)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// Who does the subscriptions.
#[derive(Clone)]
pub(crate) enum Changes {
    Layer(Subscriptions<Watched>),
    Bare(Listeners),
}

impl Changes {
    pub(crate) fn announce(&self, change: Change) {
        match self {
            Self::Bare(listeners) => listeners.announce(change),
            Self::Layer(subscriptions) => {
                match change {
                    Change::Tools => subscriptions.publish(ToolsChanged),
                    Change::Prompts => subscriptions.publish(PromptsChanged),
                    Change::Resources => subscriptions.publish(ResourcesChanged),
                    Change::Resource(uri) => subscriptions.publish_for(uri.clone(), ResourceUpdated { uri }),
                };
            }
        }
    }

    /// How many listen.
    pub(crate) fn open(&self) -> usize {
        match self {
            Self::Layer(subscriptions) => subscriptions.open_streams(),
            Self::Bare(listeners) => listeners.open(),
        }
    }

    /// Ends the subscriptions of all. They may listen again.
    pub(crate) fn end_all(&self) {
        match self {
            Self::Layer(subscriptions) => {
                subscriptions.end_all(EVERYONE, "a tool was called that ends all");
            }
            Self::Bare(listeners) => listeners.end_all(),
        }
    }
}
