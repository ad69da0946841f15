//! What a slow client has missed, told by the handler.
#![deny(warnings)]

use std::fmt;

use mcp_sub::{
    Channel, Emits, Flow, Missed, Rejection, ResourcesUpdated, ToolsListChanged, subscription_handler,
};

pub struct Saved;
pub struct Installed;
pub struct Seen(usize);

/// All that any method declares, whatever each of them does.
pub struct Files;

#[subscription_handler]
impl Files {
    async fn subscribe(&self) -> Result<Seen, Rejection> {
        Ok(Seen(0))
    }

    #[emits(resources_updated)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.resources_updated("file:///a");
    }

    #[emits(tools_list_changed)]
    fn installed(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    async fn handle_lagged(
        &self,
        seen: &mut Seen,
        channel: &mut Channel<'_>,
        missed: &Missed<'_>,
    ) -> Result<Flow, fmt::Error> {
        for uri in missed.resources() {
            std::future::ready(()).await;
            channel.resources_updated(uri);
        }
        if missed.contains::<ToolsListChanged>() {
            channel.tools_list_changed();
        }
        seen.0 += 1;
        self.helper(missed, channel);
        if seen.0 > 9 { Err(fmt::Error) } else { Ok(Flow::Continue) }
    }

    /// Where there is a `handle_lagged`, others may take what it takes.
    fn helper<E: Emits<ResourcesUpdated>>(&self, missed: &Missed<'_>, channel: &mut Channel<'_, E>) {
        missed.resources().for_each(|uri| channel.resources_updated(uri));
    }
}

/// Nothing but the channel; of a generic handler, with a method that is not compiled.
pub struct Generic<T>(pub T);

#[subscription_handler]
impl<T: Send + Sync + 'static> Generic<T> {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[cfg(any())]
    #[emits(prompts_list_changed)]
    fn never(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.prompts_list_changed();
    }

    #[emits(tools_list_changed)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    fn handle_lagged(&self, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }
}

/// One of two, and a future that borrows what is lent.
pub struct Pair;

#[subscription_handler]
impl Pair {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn saved(&self, _: &Saved, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[cfg(any())]
    fn handle_lagged(&self, channel: &mut Channel<'_>) -> Flow {
        missing(channel)
    }

    #[cfg(all())]
    fn handle_lagged<'a>(
        &'a self,
        missed: &'a Missed<'a>,
        channel: &'a mut Channel<'_>,
    ) -> impl Future<Output = Flow> + Send + 'a {
        async move {
            channel.catch_up(missed);
            Flow::stop("too slow")
        }
    }
}

/// A type of that name which is the author's.
pub mod of_the_author {
    use mcp_sub::{Channel, Rejection, subscription_handler};

    pub struct Missed;
    pub struct Calls;

    #[subscription_handler]
    impl Calls {
        fn subscribe(&self) -> Result<(), Rejection> {
            self.count(&Missed);
            Ok(())
        }

        #[emits(tools_list_changed)]
        fn event(&self, _: &u8, channel: &mut Channel<'_>) {
            channel.tools_list_changed();
        }

        fn count(&self, _: &Missed) {}
    }
}

fn main() {}
