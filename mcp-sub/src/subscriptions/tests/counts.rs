//! What is counted.

use super::*;
use crate::Stats;

#[tokio::test]
async fn each_thing_is_counted_once_where_it_happens() {
    let limits = Limits::default().with_streams(2).with_slot(3);
    let (server, mut closed) = server(Decide::Accept, |builder| builder.limits(limits));
    assert_eq!(server.stats(), Stats::default());
    let (reading, slow) = (open(&server).await, open(&server).await);
    let Err(refused) = open_with(&server, Probe::DECLARED).await else { panic!("admitted") };
    server.refused(&refused);
    assert_eq!(now(&reading).unwrap(), [ACK]);
    server.publish(Event::Tools);
    assert_eq!(now(&reading).unwrap(), [TOOLS]);
    // Told twice before it is taken, and of what was never honoured.
    server.publish(Event::Tools);
    server.publish(Event::Tools);
    server.publish(Event::Lie);
    assert_eq!(now(&reading).unwrap(), [TOOLS]);
    // The slow one had room for three of the four.
    assert_eq!(now(&slow).unwrap(), [ACK]);
    assert_eq!(now(&slow).unwrap(), [TOOLS]);
    let expected = Stats {
        open: 2,
        opened: 2,
        refused: [("streams", 1)].into(),
        events: 4 + 3,
        notifications: 2 + 1,
        merged: 1 + 2,
        filtered: 3,
        catch_ups: 1,
        ..Stats::default()
    };
    assert_eq!(server.stats(), expected);

    drop(slow);
    server.publish(Event::Stop);
    assert_eq!(now(&reading).unwrap(), ["complete"]);
    drop(reading);
    assert!(closed.recv().await.is_some() && closed.recv().await.is_some());
    let closed = [("disconnected", 1), ("stopped", 1)].into();
    assert_eq!(
        server.stats(),
        Stats { open: 0, closed, events: 8, ..expected },
        "nothing goes with a stream"
    );
}

#[cfg(feature = "metrics")]
#[test]
fn metrics_have_it_within_an_eighth_of_the_write_timeout_and_at_the_end() {
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    let recorder = DebuggingRecorder::new();
    let metrics = recorder.snapshotter();
    // Since the last time.
    let reported = || -> Vec<(String, DebugValue)> {
        let snapshot = metrics.snapshot().into_vec().into_iter();
        let named = snapshot.map(|(key, .., value)| (key.key().name().to_owned(), value));
        named
            .filter(|(name, _)| ["mcp_sub_open_streams", "mcp_sub_notifications_total"].contains(&&**name))
            .collect()
    };
    let expected = |open: f64| {
        let gauge = (String::from("mcp_sub_open_streams"), DebugValue::Gauge(open.into()));
        [gauge, (String::from("mcp_sub_notifications_total"), DebugValue::Counter(1))]
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let (server, _closed) = server(Decide::Accept, |builder| builder);
            let stream = open(&server).await;
            assert_eq!(now(&stream).unwrap(), [ACK]);
            server.publish(Event::Tools);
            assert_eq!(now(&stream).unwrap(), [TOOLS]);
            tokio::time::sleep(Limits::default().write_timeout / 8 + Duration::from_millis(1)).await;
            assert_eq!(reported(), expected(1.0));
            server.publish(Event::Tools);
            assert_eq!(now(&stream).unwrap(), [TOOLS]);
            drop((stream, server));
            assert_eq!(reported(), expected(-1.0));
        });
    });
}

#[tokio::test]
async fn what_subscribe_rejects_is_counted_apart() {
    let (server, _closed) = server(Decide::Reject, |builder| builder);
    assert!(open_with(&server, Probe::DECLARED).await.is_err());
    assert_eq!(server.stats(), Stats { rejected: 1, ..Stats::default() });
}
