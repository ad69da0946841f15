//! The user's names and those of the generated code cannot meet.
#![no_implicit_prelude]
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types, non_upper_case_globals, non_local_definitions)]

extern crate mcp_sub as renamed;

mod std {}
mod core {}
mod alloc {}
mod mcp_sub {}
mod tokio {}
mod __private {}
type Result<T> = ::std::result::Result<T, u8>;
struct Option;
struct Box;
struct Vec;
struct String;
struct Send;
struct Future;
struct PhantomData;
struct Event;
struct State;
struct Flow;
struct Kinds;
trait SubscriptionHandler {}
trait Handles {}
trait Method {}
trait Subscribed {}
enum Answer {
    Ok,
    Err,
    Some,
    None,
}
#[allow(unused_imports)]
use self::Answer::*;

// What a binding of that name in generated code would be read as.
struct event;
struct state;
struct kinds;
const channel: u8 = 0;
const filter: u8 = 0;
static request: u8 = 0;
static reason: u8 = 0;

/// A module with the name of a method.
mod installed {
    pub struct Event;
    pub struct Files;
}
mod tool {
    pub struct Removed;
}

struct Files;

#[renamed::subscription_handler(crate = renamed)]
impl Files {
    async fn subscribe(
        &self,
        _: &mut renamed::Filter<'_>,
    ) -> ::std::result::Result<installed::Files, renamed::Rejection> {
        ::std::result::Result::Ok(installed::Files)
    }

    #[renamed::emits(tools_list_changed)]
    async fn installed(&self, _: &installed::Event, to: &mut renamed::Channel<'_>, _: &mut installed::Files) {
        to.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    async fn tool(&self, _: &tool::Removed, to: &mut renamed::Channel<'_>) {
        to.tools_list_changed();
    }

    // The names of the traits' methods are free.
    fn handle_event(&self) {}
    fn kinds(&self) {}
    fn call(&self) {}
    fn into_event(&self) {}
    fn into_flow(&self) {}
    const DECLARED: u8 = 0;
}

/// Another one in the same module, with a method of the same name.
struct Prompts<T>(T);

#[renamed::subscription_handler(crate = self::renamed)]
impl<T: ::std::marker::Send + ::std::marker::Sync + 'static> Prompts<T> {
    fn subscribe(&self) -> ::std::result::Result<(), renamed::Rejection> {
        ::std::result::Result::Ok(())
    }

    #[emits(prompts_list_changed)]
    fn installed(&self, _: &installed::Event, to: &mut renamed::Channel<'_>) {
        to.prompts_list_changed();
    }

    #[emits(prompts_list_changed)]
    fn kinds(&self, _: &tool::Removed, to: &mut renamed::Channel<'_>) {
        to.prompts_list_changed();
    }

    fn handle_close(&self) {}
}

/// For two types of one generic type, in one module.
struct Of<T>(T);

#[renamed::subscription_handler(crate = renamed)]
impl Of<u8> {
    fn subscribe(&self) -> ::std::result::Result<(), renamed::Rejection> {
        ::std::result::Result::Ok(())
    }

    #[emits(prompts_list_changed)]
    fn installed(&self, _: &u8, to: &mut renamed::Channel<'_>) {
        to.prompts_list_changed();
    }
}

#[renamed::subscription_handler(crate = renamed)]
impl Of<u16> {
    fn subscribe(&self) -> ::std::result::Result<(), renamed::Rejection> {
        ::std::result::Result::Ok(())
    }

    #[emits(prompts_list_changed)]
    fn removed(&self, _: &u8, to: &mut renamed::Channel<'_>) {
        to.prompts_list_changed();
    }
}

/// Raw identifiers.
struct r#Type;
mod r#try {
    pub struct X;
}

#[renamed::subscription_handler(crate = renamed)]
impl r#Type {
    fn r#subscribe(&self) -> ::std::result::Result<(), renamed::Rejection> {
        ::std::result::Result::Ok(())
    }

    #[emits(tools_list_changed)]
    fn r#match(&self, r#in: &r#try::X, r#type: &mut renamed::Channel<'_>) {
        let _ = r#in;
        r#type.tools_list_changed();
    }

    #[r#emits(r#tools_list_changed)]
    fn r#plain<'r#a>(&'r#a self, _: &u8, channels: &mut renamed::r#Channel<'_>) {
        channels.r#tools_list_changed();
    }

    fn r#handle_close(&self, r#fn: renamed::r#CloseReason) {
        let _ = r#fn;
    }
}

fn main() {}
