//! The crates that are measured.
//!
//! The bodies of the methods are the same in both styles. By hand there is what a good author would write around them:
//! an enum of the events, the trait with a `match`, and an impl of `Handles` for each event.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::Failure;

#[derive(Clone, Copy, PartialEq)]
pub enum Style {
    ByHand,
    Attribute,
}

pub struct Package {
    pub name: String,
    style: Style,
    handlers: usize,
    methods: usize,
}

impl Package {
    pub fn new(name: &str, style: Style, handlers: usize, methods: usize) -> Self {
        Self { name: format!("cost-{name}"), style, handlers, methods }
    }
}

/// Writes a workspace of `packages` into the target directory of this program. Returns its path.
pub fn workspace(checkout: &Path, packages: &[&Package]) -> Result<PathBuf, Failure> {
    // This program is `TARGET/release/compile-cost`.
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program is in no target directory")?;
    let root = target.join("compile-cost");
    for package in packages {
        write_package(&root.join(&package.name), checkout, package)?;
    }
    let members: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    write(&root.join("Cargo.toml"), &format!("[workspace]\nmembers = {members:?}\nresolver = \"3\"\n"))?;
    // The versions of the checkout, so that nothing is asked of a registry.
    fs::copy(checkout.join("Cargo.lock"), root.join("Cargo.lock"))?;
    Ok(root)
}

fn write_package(folder: &Path, checkout: &Path, package: &Package) -> io::Result<()> {
    let Package { name, style, handlers, methods } = package;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nmcp-sub = {{ path = \"{}\" }}\n",
        checkout.join("mcp-sub").display()
    );
    for index in 0..*handlers {
        write(&folder.join(format!("src/handler_{index}.rs")), &handler(*style, *methods))?;
    }
    write(&folder.join("Cargo.toml"), &manifest)?;
    let modules: Vec<String> = (0..*handlers).map(|index| format!("pub mod handler_{index};\n")).collect();
    write(&folder.join("src/lib.rs"), &format!("pub use mcp_sub;\n{}", modules.concat()))
}

/// Leaves a file alone that has this content, since Cargo looks at the time.
fn write(path: &Path, content: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    fs::write(path, content)
}

/// What methods look like: one after the other takes the next of these.
struct Shape {
    emits: &'static [&'static str],
    asynchronous: bool,
    state: bool,
    returns: Returns,
    body: &'static str,
}

#[derive(Clone, Copy)]
enum Returns {
    Nothing,
    Flow,
    Result,
}

const SHAPES: [Shape; 5] = [
    Shape {
        emits: &["tools_list_changed"],
        asynchronous: false,
        state: false,
        returns: Returns::Nothing,
        body: "if event.size < self.limit { channel.tools_list_changed(); }",
    },
    Shape {
        emits: &["resources_updated"],
        asynchronous: true,
        state: true,
        returns: Returns::Nothing,
        body: "seen.files += event.size; channel.resources_updated(&event.uri);",
    },
    Shape {
        emits: &["prompts_list_changed"],
        asynchronous: false,
        state: true,
        returns: Returns::Flow,
        body: "channel.prompts_list_changed();
        if seen.files + event.size > self.limit { Flow::stop(\"enough\") } else { Flow::Continue }",
    },
    Shape {
        emits: &["resources_updated", "resources_list_changed"],
        asynchronous: true,
        state: false,
        returns: Returns::Result,
        body: "let uri = self.resolve(&event.uri).await?;
        channel.resources_updated(uri);
        channel.resources_list_changed();
        Ok(())",
    },
    Shape {
        emits: &["resources_list_changed"],
        asynchronous: true,
        state: true,
        returns: Returns::Nothing,
        body: "if self.resolve(&event.uri).await.is_ok() { seen.files += 1; channel.resources_list_changed(); }",
    },
];

const TYPES: &[(&str, &str)] = &[
    ("tools_list_changed", "ToolsListChanged"),
    ("prompts_list_changed", "PromptsListChanged"),
    ("resources_list_changed", "ResourcesListChanged"),
    ("resources_updated", "ResourcesUpdated"),
];

const SUBSCRIBE: &str = "        if self.root.is_empty() { return Err(Rejection::unauthorized()); }
        filter.retain_resources(|uri| uri.starts_with(&self.root));
        Ok(Seen { files: 0, agent: request.extension::<String>().cloned() })";

const CLOSE: &str = "        drop((reason, seen.agent));";

/// What both styles have: the types, what the methods call, and one call of all that the trait has, so that code is
/// generated for it. As a boxed future, the way the runtime holds it.
const COMMON: &str = "
pub struct Handler { pub root: String, pub limit: u64 }

pub struct Seen { files: u64, agent: Option<String> }

#[derive(Debug)]
pub struct Unreadable;

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(\"cannot be read\")
    }
}

impl Handler {
    async fn resolve(&self, uri: &str) -> Result<String, Unreadable> {
        if uri.starts_with(&self.root) { Ok(uri.to_owned()) } else { Err(Unreadable) }
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub fn subscribe<'a>(
    handler: &'a Handler,
    filter: &'a mut Filter<'a, Handler>,
    request: &'a ListenRequest,
    inbox: &'a Inbox<Handler>,
) -> Boxed<'a, Result<Seen, Rejection>> {
    Box::pin(SubscriptionHandler::subscribe(handler, filter, request, inbox))
}

pub fn handle_event<'a>(
    handler: &'a Handler,
    event: &'a <Handler as SubscriptionHandler>::Event,
    channel: &'a mut Channel<'a, AnyNotification>,
    seen: &'a mut Seen,
) -> Boxed<'a, Flow> {
    Box::pin(SubscriptionHandler::handle_event(handler, event, channel, seen))
}

pub fn handle_close(handler: &Handler, reason: CloseReason, seen: Seen) -> Boxed<'_, ()> {
    Box::pin(SubscriptionHandler::handle_close(handler, reason, seen))
}
";

fn handler(style: Style, methods: usize) -> String {
    let methods: Vec<(usize, &Shape)> = SHAPES.iter().cycle().take(methods).enumerate().collect();
    let (names, handler) = match style {
        Style::ByHand => ("Declares, Handles, Kinds", by_hand(&methods)),
        Style::Attribute => ("subscription_handler", attribute(&methods)),
    };
    let events =
        each(&methods, |index, _| format!("pub struct Event{index} {{ pub uri: String, pub size: u64 }}\n"));
    format!(
        "use std::pin::Pin;
use mcp_sub::{{AnyNotification, Channel, CloseReason, Filter, Flow, Inbox, ListenRequest, Rejection, SubscriptionHandler}};
use mcp_sub::{{{names}}};

{events}{COMMON}{handler}"
    )
}

fn attribute(methods: &[(usize, &Shape)]) -> String {
    let methods = each(methods, |index, shape| {
        format!("    #[emits({})]\n{}", shape.emits.join(", "), method(index, shape, "Channel<'_>"))
    });
    format!(
        "
#[subscription_handler]
impl Handler {{
    async fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<Seen, Rejection> {{
{SUBSCRIBE}
    }}

{methods}
    async fn handle_close(&self, reason: CloseReason, seen: Seen) {{
{CLOSE}
    }}
}}
"
    )
}

fn by_hand(methods: &[(usize, &Shape)]) -> String {
    let own = each(methods, |index, shape| method(index, shape, "Channel<'_, AnyNotification>"));
    let variants = each(methods, |index, _| format!("    Event{index}(Event{index}),\n"));
    let kinds = each(methods, |index, shape| {
        format!("            Event::Event{index}(_) => {},\n", union(shape.emits))
    });
    let arms = each(methods, arm);
    let handles = each(methods, |index, _| {
        format!(
            "
impl Handles<Event{index}> for Handler {{
    type Events = Event;
    fn into_event(event: Event{index}) -> Event {{ Event::Event{index}(event) }}
}}
"
        )
    });

    let mut words: Vec<&str> = methods.iter().flat_map(|(_, shape)| shape.emits).copied().collect();
    words.sort_unstable();
    words.dedup();
    let declared = union(&words);
    let impls: Vec<String> = (TYPES.iter().filter(|(word, _)| words.contains(word)))
        .map(|(_, ty)| format!("impl Declares<mcp_sub::{ty}> for Handler {{}}\n"))
        .collect();
    format!(
        "
impl Handler {{
{own}}}

pub enum Event {{
{variants}}}

impl SubscriptionHandler for Handler {{
    type Event = Event;
    type State = Seen;
    const DECLARED: Kinds = {declared};

    fn kinds(event: &Event) -> Kinds {{
        match event {{
{kinds}        }}
    }}

    async fn subscribe(&self, filter: &mut Filter<'_, Self>, request: &ListenRequest, _: &Inbox<Self>) -> Result<Seen, Rejection> {{
{SUBSCRIBE}
    }}

    async fn handle_event(&self, event: &Event, channel: &mut Channel<'_, AnyNotification>, seen: &mut Seen) -> Flow {{
        match event {{
{arms}        }}
    }}

    async fn handle_close(&self, reason: CloseReason, seen: Seen) {{
{CLOSE}
    }}
}}

{}{handles}",
        impls.concat()
    )
}

fn each(methods: &[(usize, &Shape)], code: impl Fn(usize, &Shape) -> String) -> String {
    methods.iter().map(|(index, shape)| code(*index, shape)).collect()
}

/// A method of the author's own.
fn method(index: usize, shape: &Shape, channel: &str) -> String {
    let asynchronous = if shape.asynchronous { "async " } else { "" };
    let state = if shape.state { ", seen: &mut Seen" } else { "" };
    let returns = match shape.returns {
        Returns::Nothing => "",
        Returns::Flow => " -> Flow",
        Returns::Result => " -> Result<(), Unreadable>",
    };
    let body = shape.body;
    format!(
        "    {asynchronous}fn event_{index}(&self, event: &Event{index}, channel: &mut {channel}{state}){returns} {{
        {body}
    }}
"
    )
}

/// The arm of the `match` in `handle_event` that calls it.
fn arm(index: usize, shape: &Shape) -> String {
    let state = if shape.state { ", seen" } else { "" };
    let wait = if shape.asynchronous { ".await" } else { "" };
    let call = format!("self.event_{index}(event, channel{state}){wait}");
    let call = match shape.returns {
        Returns::Nothing => format!("{{ {call}; Flow::Continue }}"),
        Returns::Flow => format!("{call},"),
        Returns::Result => {
            format!("match {call} {{ Ok(()) => Flow::Continue, Err(error) => Flow::fail(error) }},")
        }
    };
    format!("            Event::Event{index}(event) => {call}\n")
}

fn union(words: &[&str]) -> String {
    let constants: Vec<String> =
        words.iter().map(|word| format!("Kinds::{}", word.to_ascii_uppercase())).collect();
    constants.join(".union(") + &")".repeat(constants.len() - 1)
}
