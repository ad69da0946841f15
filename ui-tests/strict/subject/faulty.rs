//! A handler with something for a lint in every method.

use mcp_sub::{CloseReason, Flow, ListenRequest, Rejection};

use mcp_sub::{Channel, Filter, subscription_handler};

pub struct Event<const N: u8>(pub u64); //~ missing_docs

pub struct Seen(u64);

pub struct Faulty {
    pub limit: u64,
    #[deprecated]
    pub old: u64,
}

fn fails() -> Result<(), u8> {
    Err(1)
}

#[subscription_handler]
impl Faulty {
    async fn subscribe(&self, filter: &mut Filter<'_>, request: &ListenRequest) -> Result<Seen, Rejection> { //~ clippy::unused_async
        let unused = request.id(); //~ unused_variables
        filter.retain_resources(|uri| uri.len() == 0); //~ clippy::len_zero
        return Ok(Seen(self.limit)); //~ clippy::needless_return
    }

    #[emits(tools_list_changed)]
    fn unused_things(&self, event: &Event<0>, channel: &mut Channel<'_>) { //~ unused_variables
        let mut count = 1; //~ unused_mut
        fails(); //~ unused_must_use
        channel.tools_list_changed();
        let _ = self.limit + count; //~ clippy::arithmetic_side_effects
    }

    #[emits(resources_updated)]
    async fn waits_for_nothing(&self, event: &Event<1>, channel: &mut Channel<'_>, seen: &mut Seen) { //~ clippy::unused_async
        seen.0 += event.0; //~ clippy::arithmetic_side_effects
        channel.resources_updated("file:///".to_string()); //~ clippy::str_to_string
        return; //~ clippy::needless_return
    }

    #[emits(tools_list_changed)]
    fn goes_on_after_the_end(&self, _event: &Event<2>, channel: &mut Channel<'_>) -> Flow {
        return Flow::Continue;
        channel.tools_list_changed(); //~ unreachable_code
    }

    #[emits(tools_list_changed)]
    async fn unwraps(&self, _event: &Event<3>, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        async { fails() }.await.unwrap(); //~ clippy::unwrap_used
        let unit = fails().unwrap_or_default(); //~ clippy::let_unit_value
        let _ = self.old + _event.0; //~ deprecated
    }

    #[emits(tools_list_changed)]
    fn not_written_yet(&self, _: &Event<4>, _channel: &mut Channel<'_>) {
        unimplemented!() //~ clippy::unimplemented
    }

    #[emits(tools_list_changed)]
    async fn never_ends(&self, _: &Event<5>, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
        loop {} //~ clippy::empty_loop
    }

    #[emits(tools_list_changed)]
    pub fn undocumented<'s>(&'s self, event: &Event<6>, channel: &mut Channel<'_>) -> Result<(), u8> { //~ missing_docs
        channel.tools_list_changed();
        let _ = event.0 == self.limit;; //~ redundant_semicolons
        fails()?;
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn BadName(&self, _: &Event<7>, channel: &mut Channel<'_>) { //~ non_snake_case
        channel.tools_list_changed();
    }

    #[emits(tools_list_changed)]
    fn takes_its_own_time<'unused>(&self, _: &Event<8>, channel: &mut Channel<'_>) { //~ unused_lifetimes
        channel.tools_list_changed()
    }

    #[emits(tools_list_changed)]
    fn gives_a_future(
        &self,
        _: &Event<9>,
        channel: &mut Channel<'_>,
    ) -> impl core::future::Future<Output = ()> + Send {
        channel.tools_list_changed();
        return core::future::ready(()); //~ clippy::needless_return
    }

    #[emits(tools_list_changed)]
    async fn assigns(
        &self,
        event: &Event<10>,
        channel: &mut Channel<'_>,
        _: &mut Seen,
    ) -> Result<Flow, String> {
        let mut next = event.0; //~ unused_assignments
        next = 1;
        if (next == 2) { //~ unused_parens
            channel.tools_list_changed();
        }
        Ok(Flow::Continue)
    }

    fn nobody_calls(&self) {} //~ dead_code

    async fn handle_close(&self, reason: CloseReason, seen: Seen) { //~ clippy::unused_async
        let seen = seen; //~ clippy::shadow_same
        println!("{reason} {}", seen.0); //~ clippy::print_stdout
    }
}
