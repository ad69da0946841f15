//! What is counted, for whatever recorder of the crate `metrics` is installed.

use std::collections::BTreeMap;

use metrics::{counter, gauge};

use crate::stats::Stats;

/// What was reported so far. Differences are reported, so that several servers of a process add up.
#[derive(Debug, Default)]
pub(crate) struct Report {
    reported: Stats,
}

impl Report {
    pub(crate) fn update(&mut self, stats: &Stats) {
        // First, so that nothing is reported twice where a recorder panics.
        let before = std::mem::replace(&mut self.reported, stats.clone());
        let Stats {
            open,
            opened,
            rejected,
            refused,
            closed,
            events,
            notifications,
            merged,
            filtered,
            catch_ups,
        } = stats;
        #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 streams")]
        gauge!("mcp_sub_open_streams").increment(*open as f64 - before.open as f64);
        counter!("mcp_sub_opened_total").increment(opened - before.opened);
        counter!("mcp_sub_rejected_total").increment(rejected - before.rejected);
        for (limit, more) in differences(refused, &before.refused) {
            counter!("mcp_sub_refused_total", "limit" => limit).increment(more);
        }
        for (reason, more) in differences(closed, &before.closed) {
            counter!("mcp_sub_closed_total", "reason" => reason).increment(more);
        }
        counter!("mcp_sub_events_total").increment(events - before.events);
        counter!("mcp_sub_notifications_total").increment(notifications - before.notifications);
        counter!("mcp_sub_merged_total").increment(merged - before.merged);
        counter!("mcp_sub_filtered_total").increment(filtered - before.filtered);
        counter!("mcp_sub_catch_ups_total").increment(catch_ups - before.catch_ups);
    }
}

fn differences<'a>(
    now: &'a BTreeMap<&'static str, u64>,
    before: &'a BTreeMap<&'static str, u64>,
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    now.iter().map(|(name, count)| (*name, count - before.get(name).copied().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;

    #[test]
    fn several_servers_add_up_and_nothing_is_reported_twice() {
        let recorder = DebuggingRecorder::new();
        let metrics = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            let mut stats =
                Stats { open: 3, opened: 5, refused: [("streams", 2)].into(), ..Stats::default() };
            let (mut one, mut other) = (Report::default(), Report::default());
            one.update(&stats);
            one.update(&stats);
            other.update(&stats);
            stats.open = 1;
            stats.opened = 6;
            stats.closed.insert("stopped", 1);
            one.update(&stats);
        });
        let mut reported: BTreeMap<String, DebugValue> = BTreeMap::new();
        for (key, _, _, value) in metrics.snapshot().into_vec() {
            let labels: Vec<&str> = key.key().labels().map(metrics::Label::value).collect();
            reported
                .insert([key.key().name()].into_iter().chain(labels).collect::<Vec<_>>().join(" "), value);
        }
        assert_eq!(reported["mcp_sub_open_streams"], DebugValue::Gauge(4.0.into()));
        assert_eq!(reported["mcp_sub_opened_total"], DebugValue::Counter(11));
        assert_eq!(reported["mcp_sub_refused_total streams"], DebugValue::Counter(4));
        assert_eq!(reported["mcp_sub_closed_total stopped"], DebugValue::Counter(1));
        assert_eq!(reported["mcp_sub_events_total"], DebugValue::Counter(0));
    }
}
