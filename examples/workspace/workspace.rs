//! Who is told what.

use mcp_sub::{Channel, Filter, Rejection, Subscriptions, subscription_handler};
use tokio::task::block_in_place;

use crate::{changes::Changes, files::Files, uri};

/// A directory whose files are resources.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) files: Files,
}

/// A file has new content.
pub(crate) struct FileSaved {
    pub(crate) uri: String,
}

/// Files came or went.
pub(crate) struct FilesChanged;

#[subscription_handler]
impl Workspace {
    /// Anyone may listen, to files that are there. The disk is asked, which blocks.
    fn subscribe(&self, filter: &mut Filter<'_>) -> Result<(), Rejection> {
        block_in_place(|| filter.retain_resources(|uri| self.files.can_read(uri)));
        Ok(())
    }

    #[emits(resources_updated)]
    fn file_saved(&self, event: &FileSaved, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }

    #[emits(resources_list_changed)]
    fn files_changed(&self, _: &FilesChanged, channel: &mut Channel<'_>) {
        channel.resources_list_changed();
    }
}

/// Tells everyone concerned.
pub(crate) fn publish(subscriptions: &Subscriptions<Workspace>, changes: Changes) {
    if changes.list {
        subscriptions.publish(FilesChanged);
    }
    for path in changes.saved {
        let uri = uri::encode(&path);
        subscriptions.publish_for(uri.clone(), FileSaved { uri });
    }
}
