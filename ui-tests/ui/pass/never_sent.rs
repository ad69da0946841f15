//! Where a notification is declared and not sent, and nothing is to be said of it.
#![deny(dead_code, unused_variables, unfulfilled_lint_expectations)]

use mcp_sub::{Channel, Emits, Rejection, ToolsListChanged, subscription_handler};

pub struct Files;

#[subscription_handler]
impl Files {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed, prompts_list_changed)]
    fn passed_on(&self, _: &u8, channel: &mut Channel<'_>) {
        tell(channel);
    }

    #[emits(tools_list_changed)]
    fn in_a_closure(&self, _: &u16, channel: &mut Channel<'_>) {
        let mut tell = || channel.tools_list_changed();
        tell();
    }

    #[emits(tools_list_changed, prompts_list_changed)]
    fn in_a_macro(&self, _: &u32, channel: &mut Channel<'_>) {
        tell_all!(channel);
    }

    #[allow(dead_code)]
    #[emits(tools_list_changed, prompts_list_changed)]
    fn allowed(&self, _: &u64, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn not_written_yet(&self, _: &i8, _channel: &mut Channel<'_>) {
        todo!()
    }

    #[emits(tools_list_changed)]
    async fn not_even_named(&self, _: &i16, _: &mut Channel<'_>) {
        std::unimplemented!("{}", 1)
    }

    /// What is expected is this warning, and what else is stays expected.
    #[expect(dead_code, unused_variables, reason = "only for show")]
    #[emits(tools_list_changed, prompts_list_changed)]
    fn expected(&self, event: &i32, _: &mut Channel<'_>) {}

    #[expect(dead_code)]
    #[emits(tools_list_changed)]
    async fn only_expected(&self, _: &i64, _channel: &mut Channel<'_>) {}
}

pub struct Allowed;

#[allow(dead_code)]
#[subscription_handler]
impl Allowed {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn never(&self, _: &u8, _: &mut Channel<'_>) {}
}

fn tell<E: Emits<ToolsListChanged>>(channel: &mut Channel<'_, E>) {
    channel.tools_list_changed();
}

macro_rules! tell_all {
    ($channel:ident) => {
        $channel.tools_list_changed();
        $channel.prompts_list_changed();
    };
}
use tell_all;

fn main() {}
