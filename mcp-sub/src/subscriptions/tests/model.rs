//! Random interleavings of everything that can happen to the streams of a server, against a model of the promises.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// With or without the list of tools, and with these of [`URIS`].
    Open(bool, Vec<usize>),
    Tools,
    /// Published for the URI, or for whomever it may concern.
    Saved(usize, bool),
    /// A method that ends every stream that runs it.
    Stop,
    Fail,
    Panic,
    Read(usize),
    Leave(usize),
    EndAll,
    Shutdown,
}

const URIS: [&str; 2] = ["x:a", "x:b"];
const ENDINGS: [&str; 5] = ["complete", "handler_failed", "panicked", "stalled", "expired"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (any::<bool>(), proptest::sample::subsequence(vec![0, 1], 0..=2)).prop_map(|(tools, uris)| Step::Open(tools, uris)),
        4 => Just(Step::Tools),
        5 => (0..2_usize, any::<bool>()).prop_map(|(uri, targeted)| Step::Saved(uri, targeted)),
        1 => prop_oneof![Just(Step::Stop), Just(Step::Fail), Just(Step::Panic)],
        6 => (0..8_usize).prop_map(Step::Read),
        1 => (0..8_usize).prop_map(Step::Leave),
        1 => Just(Step::EndAll),
        1 => Just(Step::Shutdown),
    ];
    proptest::collection::vec(step, 1..80)
}

/// What is known of one stream.
struct Modelled {
    stream: EventStream,
    honoured: BTreeSet<&'static str>,
    acknowledged: bool,
    /// What changed, and was not told since.
    untold: BTreeSet<&'static str>,
    /// The same, since a method was published that may end the stream before it comes to them.
    after_an_ending: BTreeSet<&'static str>,
    may_end: bool,
    /// Nothing that is published now is told any more.
    ends: bool,
    ended: Option<String>,
}

impl Modelled {
    fn changed(&mut self, what: &'static str) {
        if self.ends || self.ended.is_some() || !self.honoured.contains(what) {
            return;
        }
        if self.may_end {
            self.after_an_ending.insert(what);
        } else {
            self.untold.insert(what);
        }
    }

    /// A method for `tools` that ends the stream was published. Where it was not called, since the slot was full, its
    /// declared kind is told.
    fn may_end(&mut self) {
        if self.honoured.contains(TOOLS) && !self.ends {
            self.may_end = true;
        }
    }

    /// Reads once. Returns whether there was something.
    fn read(&mut self) -> bool {
        let Some(messages) = now(&self.stream) else {
            assert!(self.ended.is_some(), "nothing ends without an ending");
            return false;
        };
        for message in &messages {
            assert!(self.ended.is_none(), "promise 7: nothing after the ending, but {message}");
            if !self.acknowledged {
                assert_eq!(message, ACK, "promise 1");
                self.acknowledged = true;
            } else if ENDINGS.contains(&message.as_str()) {
                self.ended = Some(message.clone());
            } else {
                assert!(self.honoured.contains(message.as_str()), "promise 2: {message}");
                self.untold.remove(message.as_str());
                self.after_an_ending.remove(message.as_str());
            }
        }
        !messages.is_empty()
    }

    fn read_all(&mut self) {
        while self.read() {}
        assert!(self.acknowledged);
        assert!(self.untold.is_empty(), "promise 4: never told of {:?}", self.untold);
        if self.ended.is_none() {
            assert!(self.after_an_ending.is_empty(), "promise 4: never told of {:?}", self.after_an_ending);
        }
    }
}

async fn run(steps: Vec<Step>, slot: usize) {
    let limits = Limits::default().with_streams(6).with_slot(slot);
    let (server, mut closed) = server(Decide::Accept, |builder| {
        builder.limits(limits).hold_empty(true).principal(|_| Some(String::from("everyone")))
    });
    let mut streams: Vec<Modelled> = Vec::new();
    let (mut accepted, mut left, mut shut) = (0, 0, false);
    for step in steps {
        match step {
            Step::Open(tools, uris) => {
                let kinds = if tools { Kinds::TOOLS_LIST_CHANGED } else { Kinds::NONE };
                let updates = if uris.is_empty() { Kinds::NONE } else { Kinds::RESOURCES_UPDATED };
                let filter = RequestedFilter {
                    kinds: kinds.union(updates).union(Kinds::PROMPTS_LIST_CHANGED),
                    uris: uris.iter().map(|&uri| URIS[uri].into()).collect(),
                };
                let full = server.open_streams() >= 6;
                let admission = server.admit(&caller());
                assert_eq!(admission.is_err(), full || shut);
                let Ok(admission) = admission else { continue };
                let opened = open_listen(&server, admission, Listen { filter, ..listen() }).await;
                let stream = opened.unwrap_or_else(|rejection| panic!("{rejection}"));
                accepted += 1;
                let mut honoured: BTreeSet<_> = uris.into_iter().map(|uri| URIS[uri]).collect();
                honoured.extend(tools.then_some(TOOLS));
                streams.push(Modelled {
                    stream,
                    honoured,
                    acknowledged: false,
                    untold: BTreeSet::new(),
                    after_an_ending: BTreeSet::new(),
                    may_end: false,
                    ends: false,
                    ended: None,
                });
            }
            Step::Tools => {
                server.publish(Event::Tools);
                for stream in &mut streams {
                    stream.changed(TOOLS);
                }
            }
            Step::Saved(uri, true) => {
                server.publish_for(URIS[uri], Event::Saved(URIS[uri]));
                for stream in &mut streams {
                    stream.changed(URIS[uri]);
                }
            }
            Step::Saved(uri, false) => {
                server.publish(Event::Saved(URIS[uri]));
                for stream in &mut streams {
                    stream.changed(URIS[uri]);
                }
            }
            Step::Stop | Step::Fail | Step::Panic => {
                server.publish(match step {
                    Step::Stop => Event::Stop,
                    Step::Fail => Event::Fail,
                    _ => Event::Panic,
                });
                streams.iter_mut().for_each(Modelled::may_end);
            }
            Step::Read(index) if !streams.is_empty() => {
                let index = index % streams.len();
                streams[index].read();
            }
            Step::Leave(index) if !streams.is_empty() => {
                streams.swap_remove(index % streams.len());
                left += 1;
            }
            Step::EndAll => {
                server.end_all("everyone", "all of them");
                for stream in &mut streams {
                    stream.ends = true;
                }
            }
            Step::Shutdown => {
                // It begins with its first poll; nobody waits for it here.
                let shutdown = std::pin::pin!(server.shutdown(Duration::from_secs(1)));
                let _ = shutdown.poll(&mut Context::from_waker(Waker::noop()));
                for stream in &mut streams {
                    stream.ends = true;
                }
                shut = true;
            }
            Step::Read(_) | Step::Leave(_) => {}
        }
    }
    streams.iter_mut().for_each(Modelled::read_all);
    assert_eq!(streams.iter().filter(|stream| stream.ended.is_none()).count(), server.open_streams());
    if shut {
        assert!(streams.iter().all(|stream| stream.ended.is_some()), "promise 8");
    }
    drop(streams);
    assert_eq!(server.open_streams(), 0);
    // Promise 5: each is closed once, and none that was not accepted.
    for _ in 0..accepted {
        assert!(closed.recv().await.is_some());
    }
    drop(server);
    assert_eq!(closed.recv().await, None, "{accepted} were accepted, {left} left");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_promises_hold_whatever_happens_in_whatever_order(steps in steps(), slot in 0..4_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(run(steps, slot));
    }
}
