//! A future of a user's, whose panics end nothing but itself.

use std::{
    any::Any,
    fmt,
    future::Future,
    ops::Deref,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

use crate::sync::catch_unwind;

/// Drops what is a user's. A panic in its destructor goes no further: a second one, while the first unwinds, would end the
/// process.
pub(crate) fn dropped<T>(value: T) {
    if catch_unwind(|| drop(value)).is_err() {
        tracing::error!("a destructor of a user's panicked");
    }
}

/// A value of a user's, whose destructor may panic, whoever happens to be the last to hold it: it goes by [`dropped`].
pub(crate) struct Held<T>(Option<T>);

impl<T> Held<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        dropped(self.0.take());
    }
}

impl<T: fmt::Debug> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// What a panic left behind.
pub(crate) type Panic = Box<dyn Any + Send>;

pin_project! {
    /// Resolves to what the future does, or to its panic. A panic in its destructor is caught as well.
    pub(crate) struct Caught<F> {
        // `None`: it is done. What it holds goes as soon as that is known.
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for Caught<F> {
        fn drop(this: Pin<&mut Self>) {
            this.clear();
        }
    }
}

impl<F> Caught<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Some(future) }
    }

    fn clear(self: Pin<&mut Self>) {
        let mut future = self.project().future;
        if catch_unwind(|| future.set(None)).is_err() {
            tracing::error!("a handler's method panicked while it was dropped");
        }
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = {
            let Some(future) = self.as_mut().project().future.as_pin_mut() else { return Poll::Pending };
            catch_unwind(|| future.poll(cx))
        };
        let outcome = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        self.clear();
        Poll::Ready(outcome)
    }
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use super::*;

    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome_and_one_in_a_destructor_is_none() {
        assert_eq!(Caught::new(async { 7 }).await.unwrap(), 7);
        let bomb = Bomb;
        let caught = Caught::new(async move {
            let _bomb = bomb;
            std::future::pending::<()>().await;
        });
        let mut caught = Box::pin(caught);
        assert!(caught.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        drop(caught);
        let panicked: Result<(), Panic> =
            Caught::new(async { assert!(std::hint::black_box(false), "in poll") }).await;
        assert!(panicked.is_err());
    }
}
