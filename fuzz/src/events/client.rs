//! One open stream, as its client sees it.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use http_body::Body as _;
use mcp_sub::http::Body;

use super::plan::SECRET;
use crate::{
    message::{self, Granted, Message},
    probe::Target,
    sse,
};

pub(super) struct Client {
    /// The token.
    id: String,
    pub(super) honoured: Granted,
    /// `None`: it came to its end, or the client has left.
    body: Option<Pin<Box<Body>>>,
    woken: Arc<Woken>,
    /// Whether the last poll found nothing.
    waits: bool,
    /// What came after the acknowledgement.
    pub(super) told: Vec<Target>,
    pub(super) ending: Option<Message>,
    is_acknowledged: bool,
    is_over: bool,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Client {
    pub(super) fn new(id: String, honoured: Granted, body: Body) -> Self {
        Self {
            id,
            honoured,
            body: Some(Box::pin(body)),
            woken: Arc::default(),
            waits: false,
            told: Vec::new(),
            ending: None,
            is_acknowledged: false,
            is_over: false,
        }
    }

    pub(super) fn leave(&mut self) {
        self.body = None;
    }

    pub(super) fn has_left(&self) -> bool {
        self.body.is_none() && !self.is_over
    }

    /// Whether nothing more can come.
    pub(super) fn is_over(&self) -> bool {
        self.body.is_none()
    }

    /// Whether it waits, and nobody has told it to come back.
    pub(super) fn is_asleep(&self) -> bool {
        self.waits && !self.woken.0.load(Ordering::SeqCst)
    }

    /// Takes what there is, once.
    pub(super) fn read(&mut self) {
        if self.is_over() {
            return;
        }
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.woken.clone());
        let polled = self.poll(&mut Context::from_waker(&waker));
        self.waits = polled.is_pending();
    }

    /// Takes what comes, to the end.
    pub(super) async fn read_to_the_end(&mut self) {
        while !self.is_over() {
            poll_fn(|cx| self.poll(cx)).await;
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(body) = &mut self.body else { return Poll::Ready(()) };
        let Poll::Ready(frame) = body.as_mut().poll_frame(cx) else { return Poll::Pending };
        if let Some(frame) = frame {
            self.take(&frame.expect("it never fails").into_data().expect("there are no trailers"));
        } else {
            assert!(self.ending.is_some(), "a stream ends by its ending");
            self.is_over = true;
            self.body = None;
        }
        Poll::Ready(())
    }

    fn take(&mut self, chunk: &[u8]) {
        assert_eq!(self.ending, None, "nothing comes after the ending");
        let messages = sse::messages(chunk);
        let before = self.told.len();
        // A client is told again what it wrote itself.
        let wrote_it = self.id.contains(SECRET) || self.honoured.uris.iter().any(|uri| uri.contains(SECRET));
        for text in messages {
            assert!(wrote_it || !text.contains(SECRET), "{text}");
            assert_eq!(self.ending, None, "nothing comes after the ending");
            match message::read(text, &self.id) {
                Message::Acknowledged(granted) => {
                    assert!(!std::mem::replace(&mut self.is_acknowledged, true), "once");
                    assert_eq!(granted, self.honoured);
                }
                Message::Told(target) => {
                    assert!(self.honoured.has(&target), "{target:?} is not honoured: {:?}", self.honoured);
                    assert!(!self.told[before..].contains(&target), "what waits merges: {target:?}");
                    self.told.push(target);
                }
                ending => self.ending = Some(ending),
            }
            assert!(self.is_acknowledged, "the acknowledgement comes first");
        }
    }
}
