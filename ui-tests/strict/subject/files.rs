//! A handler as one would write it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_sub::{Caller, CloseReason, Flow, Inbox, Kinds, ListenRequest, Missed, Rejection};

use mcp_sub::{Channel, Filter, subscription_handler};

/// Where files come from.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Whether a file may be read.
    fn readable(&self, uri: &str) -> bool;
    /// Reads it again.
    fn refresh(&self, uri: &str) -> impl core::future::Future<Output = Result<u64, Unreadable>> + Send;
}

/// A file that is not there.
#[derive(Clone, Copy, Debug)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unreadable")
    }
}

/// A tool was installed.
#[derive(Debug)]
pub struct Installed;

/// A file was saved.
#[derive(Debug)]
pub struct Saved {
    /// Which one.
    pub uri: String,
}

/// A file was moved.
#[derive(Debug)]
pub struct Moved(pub String, pub String);

/// What older programs say.
#[deprecated(since = "0.2.0", note = "say `Saved`")]
#[derive(Debug)]
pub struct Written(pub String);

/// A file has another type.
#[derive(Debug)]
pub struct Typed<T>(pub T);

/// Only on some systems.
#[cfg(unix)]
#[derive(Debug)]
pub struct Linked;

/// What one subscription has seen.
#[derive(Debug)]
pub struct Seen {
    files: u64,
    agent: Option<String>,
}

/// Serves files.
#[derive(Debug)]
pub struct Files<S> {
    store: S,
    closed: AtomicU64,
}

#[subscription_handler(event = FilesEvent)]
impl<S> Files<S>
where
    S: Store,
{
    /// The most files that one subscription hears of.
    pub const MOST: u64 = 1000;

    /// Serves those of `store`.
    #[must_use]
    pub const fn new(store: S) -> Self {
        Self { store, closed: AtomicU64::new(0) }
    }

    /// Before the acknowledgement.
    async fn subscribe(
        &self,
        filter: &mut Filter<'_, Self>,
        request: &ListenRequest,
        inbox: &Inbox<Self>,
    ) -> Result<Seen, Rejection> {
        let agent = request.headers().get("user-agent").and_then(|agent| agent.to_str().ok());
        let asked: Vec<String> = filter.resources().map(ToOwned::to_owned).collect();
        for uri in &asked {
            drop(self.store.refresh(uri).await);
        }
        filter.retain_resources(|uri| self.store.readable(uri));
        if filter.is_empty() {
            Err(Rejection::unauthorized())
        } else {
            inbox.send(Installed);
            Ok(Seen { files: 0, agent: agent.map(ToOwned::to_owned) })
        }
    }

    /// A new tool.
    #[emits(tools_list_changed)]
    #[inline]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        if self.closed.load(Ordering::Relaxed) < Self::MOST {
            channel.tools_list_changed();
        }
    }

    /// A file.
    #[emits(resources_updated, resources_list_changed)]
    pub async fn saved(
        &self,
        event: &Saved,
        channel: &mut Channel<'_>,
        seen: &mut Seen,
    ) -> Result<Flow, Unreadable> {
        if self.store.refresh(&event.uri).await? == 0 {
            channel.resources_list_changed();
        }
        channel.resources_updated(&event.uri);
        seen.files = seen.files.saturating_add(1);
        Ok(if seen.files > Self::MOST { Flow::stop("enough") } else { Flow::Continue })
    }

    #[emits(resources_updated)]
    fn r#move(&self, r#in: &Moved, r#try: &mut Channel<'_>) {
        if self.store.readable(&r#in.0) {
            r#try.resources_updated(&r#in.0);
        }
        r#try.resources_updated(&r#in.1);
    }

    /// What older programs say.
    #[deprecated(since = "0.2.0", note = "say `Saved`")]
    #[emits(resources_updated)]
    async fn written(&self, event: &Written, channel: &mut Channel<'_>) {
        if self.store.refresh(&event.0).await.is_ok() {
            channel.resources_updated(&event.0);
        }
    }

    /// The state first.
    #[allow(clippy::unused_self, reason = "it is a method like the others")]
    #[emits(prompts_list_changed)]
    fn typed(&self, event: &Typed<u64>, seen: &mut Seen, channel: &mut Channel<'_>) {
        seen.files = seen.files.max(event.0);
        channel.prompts_list_changed();
    }

    /// Only on some systems.
    #[cfg(unix)]
    #[emits(resources_list_changed)]
    async fn linked(&self, _event: &Linked, channel: &mut Channel<'_>, seen: &mut Seen) -> Flow {
        if self.store.refresh("file:///link").await.is_ok_and(|size| size > seen.files) {
            channel.resources_list_changed();
        }
        Flow::Continue
    }

    /// Those who closed once hear of nothing else.
    fn subscription_capabilities(&self, _: &Caller) -> Kinds {
        if self.closed.load(Ordering::Relaxed) == 0 { Kinds::TOOLS_LIST_CHANGED } else { Kinds::NONE }
    }

    /// What the store still has.
    async fn handle_lagged(
        &self,
        missed: &Missed<'_>,
        channel: &mut Channel<'_>,
        seen: &mut Seen,
    ) -> Result<(), Unreadable> {
        for uri in missed.resources() {
            seen.files = seen.files.max(self.store.refresh(uri).await?);
            channel.resources_updated(uri);
        }
        channel.tools_list_changed();
        Ok(())
    }

    /// The end.
    async fn handle_close(&self, reason: CloseReason, seen: Seen) {
        if matches!(reason, CloseReason::Disconnected) {
            let _ = self.store.refresh("file:///").await.map(|size| size.max(seen.files));
        }
        drop(seen.agent);
        self.closed.fetch_add(1, Ordering::Relaxed);
    }
}
