//! One runtime for all runs, with a clock that costs no time, and panics that are part of a plan.

use std::{cell::OnceCell, future::Future, panic};

use tokio::runtime::{Builder, Handle, Runtime};

/// The payload of a panic that a plan asks for.
pub(crate) struct AsTold;

/// Lets panics with [`AsTold`] be caught; any other one is still a finding.
pub fn expect_panics_as_told() {
    let finding = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<AsTold>() {
            finding(info);
        }
    }));
}

thread_local! {
    static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
}

/// Runs one plan. What it leaves running is a finding.
pub(crate) fn block_on(plan: impl Future<Output = ()>) {
    RUNTIME.with(|runtime| {
        let runtime = runtime.get_or_init(|| {
            Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
        });
        runtime.block_on(async {
            plan.await;
            settle().await;
            assert_eq!(Handle::current().metrics().num_alive_tasks(), 0, "nothing runs on");
        });
    });
}

/// Lets every task that has something to do do it.
pub(crate) async fn settle() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}
