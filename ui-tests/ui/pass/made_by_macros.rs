//! What a `macro_rules!` hands on is a token of the caller's, inside of a group that cannot be seen.
#![deny(warnings)]

use mcp_sub::{Channel, Filter, Rejection, SubscriptionHandler, subscription_handler};

#[derive(Default)]
pub struct State {
    seen: u8,
}

/// Also `self`.
macro_rules! with_self {
    ($name:ident, $self:ident, $body:block, $close:block) => {
        pub struct $name;

        #[subscription_handler]
        impl $name {
            fn subscribe(&$self) -> Result<(), Rejection> {
                $self.named();
                Ok(())
            }

            #[emits(tools_list_changed)]
            async fn event(&$self, event: &u8, channel: &mut Channel<'_>) {
                if *event > 0 {
                    channel.tools_list_changed();
                }
                $body
            }

            fn named(&self) {}

            async fn handle_close(&$self) $close
        }
    };
}
with_self!(WithSelf, self, { self.named() }, { self.named() });

/// Everything that a fragment can be.
macro_rules! with_fragments {
    ($vis:vis, $handler:ty, $filter:ty, $error:path, $event:ty, $channel:ty, $state:ty, $life:lifetime, $name:ident, $made:expr) => {
        #[subscription_handler]
        impl $handler {
            $vis fn subscribe(&self, _: $filter) -> Result<$state, $error> {
                Ok($made)
            }

            #[emits(tools_list_changed)]
            $vis async fn $name<$life>(&$life self, _: $event, channel: $channel, state: &mut $state) {
                state.seen += 1;
                channel.tools_list_changed();
            }

            $vis async fn handle_close(&self, _: $state) {}
        }
    };
}
pub struct WithFragments;
with_fragments!(
    pub(crate),
    WithFragments,
    &mut Filter<'_>,
    Rejection,
    &u8,
    &mut Channel<'_>,
    State,
    'a,
    event,
    State::default()
);

macro_rules! with_tokens {
    ($name:ident { $($tokens:tt)* }) => {
        pub struct $name;

        #[subscription_handler]
        impl $name {
            $($tokens)*
        }
    };
}
with_tokens! {
    WithTokens {
        fn subscribe(&self) -> Result<(), Rejection> {
            Ok(())
        }

        #[emits(tools_list_changed)]
        async fn event(&self, _: &u8, channel: &mut Channel<'_>) {
            channel.tools_list_changed();
        }
    }
}

fn is_handler<H: SubscriptionHandler>(_: H) {}

fn main() {
    is_handler(WithSelf);
    is_handler(WithFragments);
    is_handler(WithTokens);
}
