//! The attributes of the crate `mcp-sub`, which re-exports them: depend on that one.
//!
//! An attribute goes through four stages. `parse` reads the block into the `model`, `check` looks at what takes more
//! than one method to see, and `expand` writes the output and cannot fail. All report to one list of `errors`, so that a
//! build shows every mistake, and whatever is wrong, the user's block comes out, with its helper attributes removed.

#![forbid(unsafe_code)]

mod block;
mod check;
mod errors;
mod expand;
mod model;
mod names;
mod parse;
mod spans;
#[cfg(test)]
mod tests;
mod unused;

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// Makes a type a `SubscriptionHandler`: the server side of `subscriptions/listen`, from one inherent `impl` block.
///
/// ```
/// use mcp_sub::{Channel, CloseReason, Filter, ListenRequest, Rejection, Subscriptions, subscription_handler};
///
/// pub struct ToolInstalled;
/// pub struct FileSaved {
///     pub uri: String,
/// }
///
/// /// What belongs to one subscription.
/// pub struct Viewer {
///     name: String,
///     updates: usize,
/// }
///
/// pub struct Workspace {
///     public: String,
/// }
///
/// #[subscription_handler]
/// impl Workspace {
///     async fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<Viewer, Rejection> {
///         let name = request.extension::<String>().cloned().ok_or_else(Rejection::unauthorized)?;
///         filter.retain_resources(|uri| uri.starts_with(&self.public));
///         Ok(Viewer { name, updates: 0 })
///     }
///
///     #[emits(tools_list_changed)]
///     fn tool_installed(&self, _: &ToolInstalled, channel: &mut Channel<'_>) {
///         channel.tools_list_changed();
///     }
///
///     #[emits(resources_updated)]
///     async fn file_saved(&self, event: &FileSaved, channel: &mut Channel<'_>, viewer: &mut Viewer) {
///         viewer.updates += 1;
///         channel.resources_updated(&event.uri);
///     }
///
///     async fn handle_close(&self, reason: CloseReason, viewer: Viewer) {
///         println!("{} had {} updates: {reason}", viewer.name, viewer.updates);
///     }
/// }
///
/// let workspace = Workspace { public: String::from("file:///public/") };
/// let subscriptions = Subscriptions::builder(workspace).build();
/// subscriptions.publish(ToolInstalled);
/// ```
///
/// # Methods
///
/// Each may be a `fn` or an `async fn`, of any visibility, and takes `&self`. The attribute recognises a parameter by the
/// last segment of its type, as it is written: it cannot see through an alias of `Channel` or `Filter`. The parameters
/// after the event may come in any order. All that is not named here stays as it is. One block has all of them.
///
/// ## `subscribe`: accept, narrow or reject
///
/// Required. Runs before the acknowledgement, so nothing can be sent from it, and the filter can only shrink.
///
/// | parameter | |
/// |---|---|
/// | `filter: &mut Filter<'_>` | optional: what the client asked for, and the handler declares |
/// | `request: &ListenRequest` | optional: who asks |
///
/// Returns `Result<STATE, E>`, or an alias of one, with `E: Into<Rejection>`. The `STATE` belongs to the subscription. It
/// is `Send + 'static`, and as visible as the handler. If it is a function or a closure that takes references, an alias
/// must not hide that: write `Result<STATE, E>` out.
///
/// ## `#[emits(...)]`: turn an event into notifications
///
/// One method for each type of event. The list declares what the method may send; together, the lists are the
/// capabilities that the server advertises. The words are `tools_list_changed`, `prompts_list_changed`,
/// `resources_list_changed` and `resources_updated`, as are the methods of the channel.
///
/// | parameter | |
/// |---|---|
/// | `event: &EVENT` | first: the type is `Send + Sync + 'static`, and need not be `Clone`: one value serves all subscriptions |
/// | `channel: &mut Channel<'_>` | required |
/// | `state: &mut STATE` | optional |
///
/// Returns nothing, a `Flow`, or a `Result` of either whose error is `Display`. A `fn` may also return
/// `impl Future<Output = …> + Send` of one of these.
///
/// Sending what is not in the list does not compile. Listing what is never sent is a warning, `dead_code`, unless the
/// channel is passed on: what happens there is not known. `#[expect(dead_code)]` on the method says that it is meant so.
///
/// ## `handle_close`: the subscription has ended
///
/// Optional. Runs exactly once for each subscription that `subscribe` accepted.
///
/// | parameter | |
/// |---|---|
/// | `reason: CloseReason` | optional |
/// | `state: STATE` | optional, by value |
///
/// Returns nothing.
///
/// # Helpers
///
/// A function that sends says what it sends, and one that narrows is for any handler, or for those that declare the kind
/// that it asks about:
///
/// ```
/// use mcp_sub::{Channel, Declares, Emits, Filter, PromptsListChanged, ToolsListChanged};
///
/// fn tell<E: Emits<ToolsListChanged> + Emits<PromptsListChanged>>(channel: &mut Channel<'_, E>) {
///     channel.tools_list_changed();
///     channel.prompts_list_changed();
/// }
///
/// fn narrow<H: Declares<ToolsListChanged>>(filter: &mut Filter<'_, H>) {
///     filter.decline::<ToolsListChanged>();
/// }
/// ```
///
/// # Options
///
/// - `crate = path::to::mcp_sub`: where the crate is, if it is not `::mcp_sub`.
/// - `event = Name`: a name for the enum of the events, which is otherwise hidden and known as
///   `<Handler as SubscriptionHandler>::Event`. It has one variant for each method, with the name of the method; of a generic
///   handler also a hidden one, which cannot be made.
///
/// ```
/// # use mcp_sub as renamed;
/// use renamed::{Channel, Rejection, SubscriptionHandler, subscription_handler};
///
/// pub struct Installed(pub String);
///
/// pub struct Tools;
///
/// #[subscription_handler(crate = renamed, event = ToolsEvent)]
/// impl Tools {
///     fn subscribe(&self) -> Result<(), Rejection> {
///         Ok(())
///     }
///
///     #[emits(tools_list_changed)]
///     fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
///         channel.tools_list_changed();
///     }
/// }
///
/// let ToolsEvent::installed(event) = ToolsEvent::installed(Installed(String::from("grep")));
/// assert_eq!(event.0, "grep");
/// ```
///
/// # Two versions of the crate
///
/// A handler is one for the version of `mcp-sub` that its own crate depends on. If a build has two, rustc says of the
/// handler that it is none where the other is in use; `cargo tree --duplicates` shows who asks for it.
///
/// # Conditional compilation
///
/// A method may have `#[cfg(...)]`: what is generated for it, its events and its share of the capabilities included, is
/// compiled when it is. Two methods may have one name, or one event, if they are never compiled together.
/// `#[emits(...)]` itself cannot be inside a `cfg_attr`.
///
/// # What is generated
///
/// <details>
/// <summary>For <code>Workspace</code> above, but for attributes and absolute paths</summary>
///
/// ```ignore
/// const _: () = {
///     pub enum Event {
///         tool_installed(ToolInstalled),
///         file_saved(FileSaved),
///     }
///
///     // The `E` of each method's `Channel<'_, E>`: a type with the name of the method, which errors then show.
///     mod markers {
///         pub enum tool_installed {}
///         pub enum file_saved {}
///     }
///     impl Emits<ToolsListChanged> for markers::tool_installed {}
///     impl Emits<ResourcesUpdated> for markers::file_saved {}
///
///     // What a filter of this handler can be asked about.
///     impl Declares<ToolsListChanged> for Workspace {}
///     impl Declares<ResourcesUpdated> for Workspace {}
///
///     impl SubscriptionHandler for Workspace {
///         type Event = Event;
///         type State = Viewer;
///         const DECLARED: Kinds = Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED);
///
///         fn kinds(event: &Event) -> Kinds {
///             match event {
///                 Event::tool_installed(_) => Kinds::TOOLS_LIST_CHANGED,
///                 Event::file_saved(_) => Kinds::RESOURCES_UPDATED,
///             }
///         }
///
///         async fn subscribe(
///             &self,
///             filter: &mut Filter<'_, Self>,
///             request: &ListenRequest,
///         ) -> Result<Viewer, Rejection> {
///             Self::subscribe(self, filter, request).await.map_err(Into::into)
///         }
///
///         async fn handle_event(
///             &self,
///             event: &Event,
///             channel: &mut Channel<'_, AnyNotification>,
///             state: &mut Viewer,
///         ) -> Flow {
///             match event {
///                 Event::tool_installed(event) => {
///                     Self::tool_installed(self, event, &mut channel.narrowed()).into_flow()
///                 }
///                 Event::file_saved(event) => {
///                     Self::file_saved(self, event, &mut channel.narrowed(), state).await.into_flow()
///                 }
///             }
///         }
///
///         async fn handle_close(&self, reason: CloseReason, state: Viewer) {
///             Self::handle_close(self, reason, state).await;
///         }
///     }
///
///     // What `publish` takes.
///     impl Handles<ToolInstalled> for Workspace {
///         type Events = Event;
///
///         fn into_event(event: ToolInstalled) -> Event {
///             Event::tool_installed(event)
///         }
///     }
///     impl Handles<FileSaved> for Workspace { /* likewise */ }
/// };
/// ```
///
/// In the block itself, `Channel<'_>` becomes `Channel<'_, E>` with the method's `E`, and `Filter<'_>` becomes
/// `Filter<'_, Self>`. A second argument that is there already stays.
///
/// </details>
#[proc_macro_attribute]
pub fn subscription_handler(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    run(options.into(), &item.into()).into()
}

/// Declares what a method may send, in a block with [`#[subscription_handler]`](macro@subscription_handler), which reads
/// it. Anywhere else it is an error.
#[proc_macro_attribute]
pub fn emits(_: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let text = "`#[emits(...)]` needs `#[subscription_handler]` on the `impl` block, and is read there by this name only";
    let report = syn::Error::new(Span::call_site(), text).into_compile_error();
    let item = TokenStream::from(item);
    // What is in the body would add that the channel may carry nothing.
    let item = block::without_body(item.clone()).unwrap_or(item);
    quote!(#item #report).into()
}

/// On `proc_macro2`, so that tests call it without a compiler.
fn run(options: TokenStream, item: &TokenStream) -> TokenStream {
    let errors = errors::Errors::default();
    let mut block = match syn::parse2::<block::Block>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            match block::not_an_impl(item.clone()) {
                Some(token) => errors.at(token, "`#[subscription_handler]` goes on an inherent `impl` block"),
                None => errors.push(error),
            }
            let report = errors.finish();
            return quote!(#item #report);
        }
    };
    let mut handler = parse::handler(&errors, options, &mut block);
    check::handler(&errors, &mut handler);
    match errors.finish() {
        None => expand::handler(&block, &handler),
        Some(report) => expand::fallback(&block, &handler, &report),
    }
}
