//! An expectation is about the author's code: it is met there, and not copied to where it would not be.
#![deny(warnings)]

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Above;

#[expect(unused_variables, unused_mut)]
#[subscription_handler]
impl Above {
    fn subscribe(&self) -> Result<(), Rejection> {
        let unused = 1;
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn event(&self, _: &u8, channel: &mut Channel<'_>) {
        let mut times = 1;
        if times > 0 {
            channel.tools_list_changed();
        }
    }
}

pub struct Below;

#[subscription_handler(event = BelowEvent)]
#[expect(unused_variables)]
impl Below {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[expect(unused_must_use, reason = "only for show")]
    #[emits(tools_list_changed)]
    fn event(&self, event: &u8, channel: &mut Channel<'_>) {
        Self::fails();
        channel.tools_list_changed();
    }

    fn fails() -> Result<(), ()> {
        Err(())
    }
}

pub struct Inside;

#[subscription_handler]
impl Inside {
    #![expect(unused_variables)]

    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    async fn event(&self, #[expect(unused_variables)] event: &u8, channel: &mut Channel<'_>) {
        let unused = 1;
        channel.tools_list_changed();
    }
}

fn main() {}
