//! A handler that nobody makes. Both warnings are about what the user wrote, as without the attribute.
#![deny(dead_code)]

use mcp_sub::{Channel, Rejection, subscription_handler};

pub struct Saved;

mod handler {
    use super::{Channel, Rejection, Saved, subscription_handler};

    struct Files {
        uri: String,
    }

    #[subscription_handler]
    impl Files {
        fn subscribe(&self) -> Result<(), Rejection> {
            Ok(())
        }

        #[emits(resources_updated)]
        fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
            channel.resources_updated(&self.uri);
        }
    }
}

fn main() {
    let _ = Saved;
}
