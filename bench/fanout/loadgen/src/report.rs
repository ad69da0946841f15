//! What was measured, as JSON.

use serde_json::{Value, json};

use crate::{histogram::Histogram, shared::Shared};

pub struct Report {
    pub open: Open,
    /// `None` if it did not come to that.
    pub run: Option<Run>,
    pub aborted: Option<&'static str>,
}

/// What opening the streams took of the server.
pub struct Open {
    pub streams: usize,
    pub cpu: f64,
    pub seconds: f64,
    /// Bytes, more than before.
    pub memory: u64,
}

/// What the events took; seconds and bytes.
pub struct Run {
    pub cpu: f64,
    pub client_cpu: f64,
    /// Of everything else on the machine: the noise.
    pub other_cpu: f64,
    pub wall: f64,
    pub started: u64,
    /// When the last event of a burst was published.
    pub last_change: Option<u64>,
    pub memory: u64,
    pub memory_peak: u64,
    pub kernel_memory: u64,
    pub send_queue: u64,
}

impl Report {
    pub fn into_json(self, shared: &Shared) -> Value {
        json!({
            "aborted": self.aborted,
            "faults": *shared.faults.borrow(),
            "open": {
                "cpu_us_per_stream": per(self.open.cpu * 1e6, self.open.streams as f64),
                "bytes_per_stream": per(self.open.memory as f64, self.open.streams as f64),
                "streams_per_second": per(self.open.streams as f64, self.open.seconds),
            },
            "run": self.run.map(|run| run.into_json(shared)),
        })
    }
}

impl Run {
    fn into_json(self, shared: &Shared) -> Value {
        let phase = shared.phase.borrow();
        let events = phase.events.len();
        let expected = events * shared.concerned();
        let delivered = phase.delivered as f64;
        // When something was merged or lost, the nth notification is not about the nth event.
        let whole = phase.complete == events;
        let after_last_change =
            |change: u64| phase.streams.iter().filter(|(_, last)| *last >= change).count();
        let seconds = phase.last_delivery.saturating_sub(self.started) as f64 / 1e9;
        json!({
            "events": events,
            "cpu_seconds": self.cpu,
            "cpu_us_per_event": per(self.cpu * 1e6, events as f64),
            "cpu_us_per_delivery": per(self.cpu * 1e6, delivered),
            "cpu_us_per_event_and_stream": per(self.cpu * 1e6, expected as f64),
            "client_cpu_us_per_delivery": per(self.client_cpu * 1e6, delivered),
            "other_cpus": per(self.other_cpu, self.wall),
            "wall_seconds": self.wall,
            "expected": expected,
            "delivered": phase.delivered,
            "delivered_per_second": per(delivered, seconds),
            "deliveries_per_read": per(delivered, phase.reads as f64),
            "bytes_per_delivery": per(phase.bytes as f64, delivered),
            "streams_ended": shared.ended.get(),
            "streams_without_the_last": self.last_change.map(|change| shared.options.streams - after_last_change(change)),
            "latency_us": whole.then(|| quantiles(&phase.latency)),
            "last_arrival_us": whole.then(|| quantiles(&phase.last_arrival)),
            "memory_growth": self.memory_peak - self.memory,
            "kernel_memory": self.kernel_memory,
            "send_queue": self.send_queue,
        })
    }
}

fn per(amount: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| amount / count)
}

fn quantiles(histogram: &Histogram) -> Value {
    let microseconds = |part| histogram.per_mille(part).map(|nanoseconds| nanoseconds as f64 / 1000.0);
    json!({ "p50": microseconds(500), "p99": microseconds(990), "max": microseconds(1000) })
}
