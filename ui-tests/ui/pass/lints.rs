//! Generated code is quiet under the strictest lints.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub,
    unnameable_types,
    unused,
    unused_qualifications,
    unused_lifetimes,
    unused_import_braces,
    unused_results,
    single_use_lifetimes,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    variant_size_differences,
    rust_2018_idioms,
    rust_2021_compatibility,
    non_ascii_idents,
    trivial_casts,
    keyword_idents,
    meta_variable_misuse,
    redundant_lifetimes,
    unit_bindings,
    impl_trait_redundant_captures
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery, clippy::cargo)]
#![allow(clippy::cargo_common_metadata, clippy::multiple_crate_versions)]
// These see what an author writes, with the attribute or without it.
#![allow(
    clippy::missing_const_for_fn,
    clippy::result_large_err,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps
)]

use mcp_sub::{Channel, CloseReason, Filter, ListenRequest, Rejection, subscription_handler};

/// An event.
#[derive(Debug, Clone, Copy)]
pub struct ToolInstalled;

/// A large one.
#[derive(Debug)]
pub struct Large {
    /// How large.
    pub content: [u8; 4096],
}

/// One that nobody should use.
#[deprecated = "it is old"]
#[derive(Debug, Clone, Copy)]
pub struct Old;

/// An event that is nobody else's.
struct Private;

/// A bound.
pub trait Store: Send + Sync + 'static {
    /// Reads.
    fn readable(&self, uri: &str) -> bool;
}

/// A handler.
#[derive(Debug)]
pub struct Files<S> {
    store: S,
}

/// What belongs to a subscription.
#[derive(Debug)]
pub struct Seen {
    files: Vec<u8>,
}

/// Its block.
#[subscription_handler]
impl<S: Store> Files<S> {
    /// Makes one.
    pub const fn new(store: S) -> Self {
        Self { store }
    }

    #[allow(clippy::unused_async, clippy::unnecessary_wraps)]
    async fn subscribe(&self, filter: &mut Filter<'_>, _: &ListenRequest) -> Result<Seen, Rejection> {
        filter.retain_resources(|uri| self.store.readable(uri));
        Ok(Seen { files: Vec::new() })
    }

    /// Public and documented.
    #[emits(tools_list_changed)]
    pub fn tool_installed(&self, _event: &ToolInstalled, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    async fn large(&self, event: &Large, channel: &mut Channel<'_>, seen: &mut Seen) {
        if self.store.readable("file:///") && event.content.len() > seen.files.len() {
            tokio_yield().await;
            channel.resources_updated("file:///");
        }
        seen.files.push(0);
    }

    #[emits(prompts_list_changed)]
    #[allow(deprecated)]
    #[expect(clippy::unused_self, reason = "it is only for show")]
    fn old(&self, _: &Old, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[deprecated = "it is old too"]
    #[emits(prompts_list_changed)]
    #[allow(clippy::unused_self)]
    fn private(&self, _: &Private, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[allow(dead_code, clippy::unused_self)]
    #[emits(resources_list_changed)]
    fn never_sent(&self, _: &u8, _: &mut Channel<'_>) {}

    #[emits(tools_list_changed)]
    #[allow(clippy::unused_self)]
    fn not_written_yet(&self, _: &u16, _channel: &mut Channel<'_>) {
        unimplemented!()
    }

    #[allow(clippy::unused_async, clippy::unused_self)]
    async fn handle_close(&self, _: CloseReason, _: Seen) {}
}

/// One whose events have a name.
#[derive(Debug, Clone, Copy)]
pub struct Named;

#[subscription_handler(event = NamedEvent)]
#[allow(clippy::unused_self, clippy::unnecessary_wraps)]
impl Named {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn private(&self, _: &Private, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

async fn tokio_yield() {
    std::future::ready(()).await;
}

fn main() {
    let _ = (Named, Private, Large { content: [0; 4096] }, Files::<Always>::new(Always));
}

struct Always;
impl Store for Always {
    fn readable(&self, _: &str) -> bool {
        true
    }
}
