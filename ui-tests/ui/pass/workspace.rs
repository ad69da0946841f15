//! The handler of the documentation, whole.
#![deny(warnings)]

use mcp_sub::{
    Channel, CloseReason, Filter, Flow, Handles, Kinds, ListenRequest, Rejection, ResourcesUpdated,
    SubscriptionHandler, subscription_handler,
};

pub struct ToolInstalled;
pub struct FileSaved {
    pub uri: String,
}
pub struct Renamed;

#[derive(Clone)]
pub struct Viewer;

impl Viewer {
    fn may_read(&self, uri: &str) -> bool {
        uri.starts_with("file:///public/")
    }
}

pub struct Workspace;

#[subscription_handler]
impl Workspace {
    async fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<Viewer, Rejection> {
        let viewer = request.extension::<Viewer>().cloned().ok_or_else(Rejection::unauthorized)?;
        filter.retain_resources(|uri| viewer.may_read(uri));
        if filter.wants::<ResourcesUpdated>() {
            filter.decline::<ResourcesUpdated>();
        }
        Ok(viewer)
    }

    #[emits(tools_list_changed)]
    fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated, resources_list_changed)]
    async fn file_saved(&self, event: &FileSaved, channel: &mut Channel<'_>, viewer: &mut Viewer) {
        if viewer.may_read(&event.uri) {
            channel.resources_updated(&event.uri);
            channel.resources_list_changed();
        }
    }

    #[emits(resources_list_changed)]
    async fn renamed(
        &self,
        _: &Renamed,
        viewer: &mut Viewer,
        channel: &mut Channel<'_>,
    ) -> Result<Flow, std::fmt::Error> {
        if viewer.may_read("file:///public/") {
            channel.resources_list_changed();
            return Ok(Flow::stop("renamed"));
        }
        Err(std::fmt::Error)
    }

    async fn handle_close(&self, reason: CloseReason, viewer: Viewer) {
        drop((reason, viewer));
    }
}

fn main() {
    fn takes<Ev>() -> Kinds
    where
        Workspace: Handles<Ev>,
    {
        Workspace::DECLARED
    }
    let declared =
        Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED).union(Kinds::RESOURCES_LIST_CHANGED);
    assert_eq!(takes::<ToolInstalled>(), declared);
    assert_eq!(takes::<FileSaved>(), declared);
    let event = <Workspace as Handles<Renamed>>::into_event(Renamed);
    assert_eq!(Workspace::kinds(&event), Kinds::RESOURCES_LIST_CHANGED);
}
