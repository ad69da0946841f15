//! Notifications that are held for a while, and go out as one.

use proptest::prelude::*;
use tokio::time::{Instant, sleep, timeout};

use super::*;

const WINDOW: Duration = Duration::from_millis(100);
const HOUR: Duration = Duration::from_secs(3600);

/// The next messages. On a paused clock a wait for what never comes costs no time, and fails.
async fn next(stream: &EventStream) -> Option<Vec<String>> {
    timeout(HOUR * 24, super::next(stream)).await.expect("something comes")
}

fn all(window: Duration) -> impl FnOnce(Builder<Probe>) -> Builder<Probe> {
    move |builder| builder.coalesce(Probe::DECLARED, window)
}

/// A stream that was told of its tools just now, and holds that they changed again.
async fn holding(server: &Subscriptions<Probe>) -> EventStream {
    let stream = open(server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Tools);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    server.publish(Event::Tools);
    assert!(now(&stream).unwrap().is_empty());
    stream
}

#[tokio::test(start_paused = true)]
async fn a_storm_is_told_of_at_once_and_after_its_last_change() {
    let (server, _) = server(Decide::Accept, all(WINDOW));
    let stream = open(&server).await;
    assert_eq!(next(&stream).await.unwrap(), [ACK]);
    let start = Instant::now();
    for burst in 0..200 {
        server.publish(Event::Tools);
        // A healthy reader: it comes after each.
        assert_eq!(now(&stream).unwrap().is_empty(), burst > 0);
    }
    assert_eq!(next(&stream).await.unwrap(), [TOOLS]);
    assert_eq!(start.elapsed(), WINDOW);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 200, "methods are called as ever");
    assert!(timeout(Duration::from_secs(1), next(&stream)).await.is_err(), "once");
    server.publish(Event::Tools);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    assert!(timeout(Duration::from_secs(1), next(&stream)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn uris_do_not_merge_and_another_kind_does_not_wait() {
    let (server, _) = server(Decide::Accept, |builder| builder.coalesce(Kinds::RESOURCES_UPDATED, WINDOW));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    server.publish(Event::Saved("x:a"));
    assert_eq!(now(&stream).unwrap(), ["x:a"]);
    sleep(WINDOW / 2).await;
    for _ in 0..3 {
        server.publish(Event::Saved("x:a"));
        server.publish(Event::Tools);
        server.publish(Event::Saved("x:b"));
    }
    assert_eq!(now(&stream).unwrap(), [TOOLS, "x:b"], "the first of its URI");
    server.publish(Event::Saved("x:b"));
    server.publish(Event::Tools);
    assert_eq!(now(&stream).unwrap(), [TOOLS]);
    let start = Instant::now();
    assert_eq!(next(&stream).await.unwrap(), ["x:a"]);
    assert_eq!(start.elapsed(), WINDOW / 2);
    assert_eq!(next(&stream).await.unwrap(), ["x:b"]);
    assert_eq!(start.elapsed(), WINDOW);
}

#[tokio::test(start_paused = true)]
async fn a_window_of_zero_is_none() {
    let (server, _) = server(Decide::Accept, |builder| all(Duration::ZERO)(all(HOUR)(builder)));
    let stream = open(&server).await;
    assert_eq!(now(&stream).unwrap(), [ACK]);
    for _ in 0..3 {
        server.publish(Event::Tools);
        server.publish(Event::Saved("x:a"));
        assert_eq!(now(&stream).unwrap(), [TOOLS, "x:a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn promise_4_what_is_held_goes_out_before_the_ending() {
    for (event, last) in
        [(Event::Stop, "complete"), (Event::Fail, "handler_failed"), (Event::Panic, "panicked")]
    {
        let (server, _) = server(Decide::Accept, all(HOUR));
        let stream = holding(&server).await;
        server.publish(event);
        assert_eq!(now(&stream).unwrap(), [TOOLS, last]);
        assert_eq!(now(&stream), None);
    }

    let (server, _) = server(Decide::Accept, all(HOUR));
    let stream = holding(&server).await;
    let reader = async {
        assert_eq!(next(&stream).await.unwrap(), [TOOLS, "complete"]);
        assert_eq!(next(&stream).await, None);
        drop(stream);
    };
    let (shutdown, ()) = tokio::join!(server.shutdown(Duration::from_secs(10)), reader);
    assert_eq!((shutdown.completed, shutdown.cut), (1, 0));

    let (server, _) = self::server(Decide::Accept, all(HOUR));
    let stream = holding(&server).await;
    drop(server);
    assert_eq!(next(&stream).await.unwrap(), [TOOLS, "complete"], "nobody can publish any more");

    let (give, mut handles) = mpsc::unbounded_channel();
    let (server, _) = self::server(Decide::Give(give), all(HOUR));
    let stream = holding(&server).await;
    handles.recv().await.unwrap().end("moved");
    assert_eq!(now(&stream).unwrap(), [TOOLS, "complete"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_holds_back_nothing_else() {
    let (server, _) = server(Decide::Accept, all(HOUR));
    let stream = holding(&server).await;
    server.publish(Event::Saved("x:a"));
    server.publish(Event::Tools);
    server.publish(Event::Saved("x:b"));
    assert_eq!(now(&stream).unwrap(), ["x:a", "x:b"]);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 5);
    // Not even what waits in a method holds it back.
    server.publish(Event::Hang);
    let start = Instant::now();
    assert_eq!(next(&stream).await.unwrap(), [TOOLS]);
    assert_eq!(start.elapsed(), HOUR);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_only_holds_is_not_stalled() {
    let (server, mut closed) = server(Decide::Accept, all(HOUR));
    let stream = holding(&server).await;
    // The transport sends a comment, and does not come back.
    stream.note_sent();
    sleep(HOUR / 2).await;
    assert!(closed.try_recv().is_err());
    assert_eq!(server.open_streams(), 1);
    // Now it is due, and nobody takes it.
    assert_eq!(timeout(HOUR, closed.recv()).await, Ok(Some(CloseReason::Stalled)));
    assert_eq!(now(&stream).unwrap(), [TOOLS, "stalled"]);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_still_finds_what_it_held() {
    let (server, mut closed) = server(Decide::Accept, all(HOUR));
    let stream = holding(&server).await;
    stream.note_sent();
    server.publish(Event::Saved("x:a"));
    assert_eq!(closed.recv().await, Some(CloseReason::Stalled), "an event waits in its slot");
    assert_eq!(now(&stream).unwrap(), [TOOLS, "stalled"]);
}

#[tokio::test(start_paused = true)]
async fn a_catch_up_goes_through_the_same_windows() {
    let (server, _) = server(Decide::Accept, |builder| {
        builder.limits(Limits::default().with_slot(0)).coalesce(Kinds::TOOLS_LIST_CHANGED, WINDOW)
    });
    let stream = holding(&server).await;
    let start = Instant::now();
    for _ in 0..10 {
        server.publish(Event::Tools);
        server.publish_for("x:b", Event::Saved("x:b"));
    }
    assert_eq!(now(&stream).unwrap(), ["x:b"]);
    assert_eq!(next(&stream).await.unwrap(), [TOOLS]);
    assert_eq!(start.elapsed(), WINDOW);
    assert_eq!(server.handler().handled.load(Ordering::Relaxed), 0);
}

/// What happens, in milliseconds since the start.
type Times = Vec<u64>;

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap()
}

/// Publishes each of `NAMES` after so many milliseconds, and lets a reader that always reads note what comes. Whatever is
/// held at the end goes out with the ending.
fn play(schedule: &[(u64, usize)], window: Duration) -> [(Times, Times); 3] {
    const NAMES: [&str; 3] = [TOOLS, "x:a", "x:b"];
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (server, _closed) = server(Decide::Accept, all(window));
        let stream = open(&server).await;
        let start = Instant::now();
        let mut seen = <[(Times, Times); 3]>::default();
        let reader = tokio::spawn(async move {
            let mut told = Vec::new();
            while let Some(names) = next(&stream).await {
                told.extend(names.into_iter().map(|name| (millis(start.elapsed()), name)));
            }
            told
        });
        for &(pause, what) in schedule {
            sleep(Duration::from_millis(pause)).await;
            seen[what].0.push(millis(start.elapsed()));
            match what {
                0 => server.publish(Event::Tools),
                what => server.publish_for(NAMES[what], Event::Saved(NAMES[what])),
            };
        }
        drop(server);
        let told = reader.await.unwrap();
        assert_eq!(told[0].1, ACK);
        assert_eq!(told.last().unwrap().1, "complete");
        for (at, name) in &told[1..told.len() - 1] {
            seen[NAMES.iter().position(|other| other == name).unwrap()].1.push(*at);
        }
        seen
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn promise_4_each_thing_is_told_at_once_then_once_a_window_and_never_lost(
        schedule in proptest::collection::vec((prop_oneof![Just(0), 1..30_u64, 90..120_u64], 0..3_usize), 0..60),
    ) {
        let window = millis(WINDOW);
        let end = schedule.iter().map(|(pause, _)| pause).sum::<u64>();
        for (changes, told) in play(&schedule, WINDOW) {
            // What the last notification before the end left held is told early: with the ending.
            for pair in told.windows(2) {
                prop_assert!(pair[1] - pair[0] >= window || pair[1] == end, "{told:?}");
            }
            for &change in &changes {
                let before = told.iter().rev().find(|&&at| at < change);
                let due = before.map_or(change, |at| change.max(at + window)).min(end);
                prop_assert!(told.contains(&due), "a change at {change} is told of at {due}: {told:?}");
            }
            prop_assert!(told.iter().all(|at| changes.iter().any(|change| change <= at)));
            prop_assert!(told.len() <= changes.len());
        }
    }
}
