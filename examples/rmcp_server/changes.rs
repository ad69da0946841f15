//! Who is told what.

use mcp_sub::{Channel, Filter, Rejection, subscription_handler};

use crate::store::note_name;

/// A tool was installed or uninstalled.
pub(crate) struct ToolsChanged;

/// There is a note that was not there before.
pub(crate) struct NoteAdded;

/// A note has a new text.
pub(crate) struct NoteWritten {
    pub(crate) uri: String,
}

/// Everyone is told of everything.
pub(crate) struct Changes;

#[subscription_handler]
impl Changes {
    /// Notes that are not there yet can be waited for. It does not ask who listens, so rmcp acknowledges what it leaves.
    fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        filter.retain_resources(|uri| note_name(uri).is_some());
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tools_changed(&self, _: &ToolsChanged, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_list_changed)]
    fn note_added(&self, _: &NoteAdded, channel: &mut Channel<'_>) {
        channel.resources_list_changed();
    }

    #[emits(resources_updated)]
    fn note_written(&self, event: &NoteWritten, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }
}
