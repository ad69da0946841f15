//! What an event can be, and what a method can be called.
#![deny(warnings)]

use std::{collections::HashMap, sync::Arc};

use mcp_sub::{Channel, HandledBy, Rejection, subscription_handler};

pub mod files {
    use super::{Channel, Rejection, subscription_handler};

    #[derive(Default)]
    pub struct Files;
    #[derive(Default)]
    pub struct Saved;

    /// The enum is as public as the module makes it.
    #[subscription_handler(event = FilesEvent)]
    impl Files {
        pub(super) fn subscribe(&self) -> Result<(), Rejection> {
            Ok(())
        }

        #[emits(resources_updated)]
        pub fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
            channel.resources_updated("file:///a");
        }
    }
}

pub struct All;
#[derive(Default)]
pub struct Private;
pub trait Named: Send + Sync {}
type Alias = HashMap<String, Vec<u8>>;

#[subscription_handler]
impl All {
    async fn subscribe(&self) -> Result<Box<dyn FnMut(&str) -> String + Send>, Rejection> {
        Ok(Box::new(|text| text.to_owned()))
    }

    #[emits(tools_list_changed)]
    fn tuple(&self, (a, b): &(u8, u16), channel: &mut Channel<'_>) {
        if u16::from(*a) == *b {
            channel.tools_list_changed();
        }
    }

    #[emits(tools_list_changed)]
    fn array(
        &self,
        [a, ..]: &[u8; 4],
        channel: &mut Channel<'_>,
        state: &mut Box<dyn FnMut(&str) -> String + Send>,
    ) {
        if state("").len() < usize::from(*a) {
            channel.tools_list_changed();
        }
    }

    #[emits(tools_list_changed)]
    fn dynamic(&self, _: &Arc<dyn Named>, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn function(&self, _: &fn(&str) -> usize, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn text(&self, _: &&'static str, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn alias(&self, _: &Alias, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn private(&self, _: &crate::Private, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    // The names that the generated code has for its own.
    #[emits(tools_list_changed)]
    fn call(&self, _: &u16, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn handle_event(&self, _: &u32, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn event(&self, _: &u64, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn into_flow(&self, _: &i64, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

fn takes<H: mcp_sub::SubscriptionHandler, Ev: HandledBy<H>>(_: Ev) {}

fn main() {
    takes::<files::Files, _>(files::Saved);
    let files::FilesEvent::saved(_) = files::FilesEvent::saved(files::Saved);
    takes::<All, _>((0_u8, 0_u16));
    takes::<All, _>([0_u8; 4]);
    takes::<All, fn(&str) -> usize>(str::len);
    takes::<All, _>("");
    takes::<All, _>(Alias::default());
    takes::<All, _>(Private);
    let _ = All;
}
