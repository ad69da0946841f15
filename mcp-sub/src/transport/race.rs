//! Two futures, and the one that is done first.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Which of two was first.
pub(super) enum Raced<A, B> {
    First(A),
    Second(B),
}

/// Waits for either. Where both are done, the first counts; the other one is dropped.
pub(super) async fn race<A: Future, B: Future>(first: A, second: B) -> Raced<A::Output, B::Output> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        if let Poll::Ready(output) = first.as_mut().poll(cx) {
            return Poll::Ready(Raced::First(output));
        }
        second.as_mut().poll(cx).map(Raced::Second)
    })
    .await
}
