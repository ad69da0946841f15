//! Streams of a user's that feed one subscription. What they do in their destructors harms nobody.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use crate::caught::dropped;

/// One stream. To poll it and to drop it is to run foreign code: neither is done under a lock.
pub(crate) struct Source<T> {
    /// `None` once it was dropped.
    stream: Option<Pin<Box<dyn Stream<Item = T> + Send>>>,
    /// Whether its subscription ends with it.
    ends: bool,
}

impl<T> Source<T> {
    pub(crate) fn new(stream: impl Stream<Item = T> + Send + 'static, ends: bool) -> Self {
        Self { stream: Some(Box::pin(stream)), ends }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        match &mut self.stream {
            Some(stream) => stream.as_mut().poll_next(cx),
            None => Poll::Ready(None),
        }
    }
}

impl<T> Drop for Source<T> {
    fn drop(&mut self) {
        dropped(self.stream.take());
    }
}

impl<T> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("ends", &self.ends).finish_non_exhaustive()
    }
}

/// What sources have to say.
#[derive(Debug, PartialEq)]
pub(crate) enum Said<T> {
    Item(T),
    /// One is over with which the subscription ends.
    Over,
}

/// All the sources of one subscription. They take turns: who gave an item is asked again when all others were.
#[derive(Debug)]
pub(crate) struct Sources<T> {
    turns: VecDeque<Source<T>>,
}

impl<T> Sources<T> {
    pub(crate) fn new() -> Self {
        Self { turns: VecDeque::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    pub(crate) fn extend(&mut self, sources: Vec<Source<T>>) {
        self.turns.extend(sources);
    }

    /// The next item of any. Pending also where there are none.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Said<T>> {
        for _ in 0..self.turns.len() {
            // Out of the queue while it is polled: one that panics is not polled again.
            let Some(mut source) = self.turns.pop_front() else { break };
            match source.poll_next(cx) {
                Poll::Pending => self.turns.push_back(source),
                Poll::Ready(Some(item)) => {
                    self.turns.push_back(source);
                    return Poll::Ready(Said::Item(item));
                }
                Poll::Ready(None) if source.ends => return Poll::Ready(Said::Over),
                Poll::Ready(None) => {}
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Gives these items, and is over; or, in the place of `None`, waits.
    struct Items(VecDeque<Option<u32>>);
    impl Stream for Items {
        type Item = u32;
        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u32>> {
            match self.0.pop_front() {
                Some(None) => Poll::Pending,
                item => Poll::Ready(item.flatten()),
            }
        }
    }

    struct Bomb;
    impl Stream for Bomb {
        type Item = u32;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u32>> {
            Poll::Pending
        }
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }

    fn items(items: impl IntoIterator<Item = Option<u32>>, ends: bool) -> Source<u32> {
        Source::new(Items(items.into_iter().collect()), ends)
    }

    fn said(sources: &mut Sources<u32>) -> Vec<Said<u32>> {
        let mut all = Vec::new();
        while let Poll::Ready(said) = sources.poll_next(&mut Context::from_waker(Waker::noop())) {
            let is_over = said == Said::Over;
            all.push(said);
            if is_over {
                break;
            }
        }
        all
    }

    #[test]
    fn sources_take_turns_and_one_that_is_over_is_gone() {
        let mut sources = Sources::new();
        sources.extend(vec![items((0..4).map(Some), false), items([None, Some(10), Some(11)], false)]);
        assert_eq!(said(&mut sources), [0, 1, 10, 2, 11, 3].map(Said::Item));
        assert!(sources.turns.is_empty());
        sources.extend(vec![items([Some(20)], true)]);
        assert_eq!(said(&mut sources), [Said::Item(20), Said::Over]);
    }

    #[test]
    fn two_that_panic_as_they_are_dropped_end_nothing() {
        let mut sources = Sources::new();
        sources.extend(vec![Source::new(Bomb, false), Source::new(Bomb, true)]);
        assert!(said(&mut sources).is_empty());
        drop(sources);
    }
}
