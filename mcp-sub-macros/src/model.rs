//! What a block says, in the words of subscriptions rather than `syn`'s.
//!
//! Each part keeps the tokens that it was read from, for what is reported later, here or by rustc.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Ident, Path, Type};

use crate::{names::Kind, spans::Ends};

/// What is written in the parentheses of `#[subscription_handler(...)]`.
pub(crate) struct Options {
    /// Where the runtime crate is.
    pub(crate) krate: Path,
    /// The name of the event enum, if it is to be exported.
    pub(crate) event: Option<Ident>,
    /// The word `relay`, if events are to go to other processes.
    pub(crate) relay: Option<Ident>,
}

pub(crate) struct Handler {
    pub(crate) options: Options,
    /// The last segment of the handler's type; `None` if that can be no handler, which was reported.
    pub(crate) name: Option<Ident>,
    /// More than one only under `#[cfg]`s.
    pub(crate) subscribe: Vec<Subscribe>,
    pub(crate) methods: Vec<EventMethod>,
    /// More than one only under `#[cfg]`s.
    pub(crate) capabilities: Vec<Capabilities>,
    /// More than one only under `#[cfg]`s.
    pub(crate) lagged: Vec<Lagged>,
    /// More than one only under `#[cfg]`s.
    pub(crate) close: Vec<Close>,
    pub(crate) helpers: Vec<Helper>,
}

/// A method that is nothing to us, or was meant to be.
pub(crate) struct Helper {
    pub(crate) ident: Ident,
    /// What it takes that only one of the methods with a name is called with.
    pub(crate) takes: Option<Ours>,
    /// Whether it has `#[emits(...)]`, but is the second method of its name.
    pub(crate) declares: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ours {
    Filter,
    Missed,
    CloseReason,
    /// And returns `Kinds`.
    Caller,
}

/// What generated code needs in order to call a method.
pub(crate) struct Callee {
    pub(crate) ident: Ident,
    pub(crate) cfgs: Vec<Attribute>,
    /// Whether the call makes a future: of an `async fn`, or of an `fn` that returns `impl Future`.
    pub(crate) is_async: bool,
}

pub(crate) struct Subscribe {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<SubscribeArgument>,
    pub(crate) output: Type,
    /// `STATE` of `Result<STATE, E>`, if it is written out.
    pub(crate) state: Option<Type>,
    /// `E`, likewise.
    pub(crate) error: Option<Type>,
    /// Whether it is not seen to be a `Result`, and can be asked about.
    pub(crate) may_be_no_result: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubscribeArgument {
    Filter,
    Request,
    Inbox,
}

/// A method with `#[emits(...)]`.
pub(crate) struct EventMethod {
    pub(crate) callee: Callee,
    pub(crate) emits: Vec<Emit>,
    /// The type of the event, without the `&`.
    pub(crate) event: Type,
    /// The first is the event; the others in the order written.
    pub(crate) arguments: Vec<EventArgument>,
    pub(crate) channel: ChannelName,
    /// What it returns, if it says so, and can be asked about.
    pub(crate) output: Option<Type>,
    /// The attributes that may set the level of `dead_code`.
    pub(crate) lints: Vec<TokenStream>,
    pub(crate) body: TokenTree,
}

/// A parameter after the receiver, with the place of its type.
pub(crate) enum EventArgument {
    Event(Ends),
    Channel(Ends),
    /// `&mut STATE`
    State(Box<Type>),
}

/// How a body can mention the channel.
pub(crate) enum ChannelName {
    Ident(Ident),
    /// `_`: not at all.
    Wildcard,
    /// In some other way.
    Pattern,
}

/// A name in `#[emits(...)]`.
pub(crate) struct Emit {
    pub(crate) kind: Kind,
    pub(crate) word: Ident,
}

/// `subscription_capabilities`.
pub(crate) struct Capabilities {
    pub(crate) callee: Callee,
    /// The place of the type of its parameter, if it has one.
    pub(crate) parameter: Option<Ends>,
    /// What it returns, if it says so.
    pub(crate) output: Option<Type>,
}

/// `handle_lagged`.
pub(crate) struct Lagged {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<LaggedArgument>,
    /// What it returns, if it says so, and can be asked about.
    pub(crate) output: Option<Type>,
}

/// A parameter of `handle_lagged`, with the place of its type.
pub(crate) enum LaggedArgument {
    Missed(Ends),
    Channel(Ends),
    /// `&mut STATE`
    State(Box<Type>),
}

/// `handle_close`.
pub(crate) struct Close {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<CloseArgument>,
}

/// A parameter of `handle_close`, with the place of its type.
pub(crate) enum CloseArgument {
    Reason(Ends),
    State(Box<Type>),
}
