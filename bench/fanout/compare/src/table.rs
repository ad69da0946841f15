//! One table of everything that was measured.

use std::fmt::Write;

use crate::{
    cases::Case,
    results::{Figure, Results},
};

/// What others are compared with: as fast as a library on hyper can be.
pub const BASE: &str = "floor-hyper";

struct Row<'a> {
    title: String,
    figure: Figure<'a>,
    /// Whether a ratio says something.
    compared: bool,
}

pub fn markdown(results: &Results) -> String {
    let mut text = String::from("# Fan-out of `subscriptions/listen`\n\n");
    let servers = in_order(results.servers());
    _ = writeln!(
        text,
        "Medians of {} runs; in brackets the median of the ratios to {BASE} in the same run. CPU is the server's.\n",
        results.runs().len()
    );
    _ = writeln!(text, "| | {} |\n|---|{}", servers.join(" | "), "--:|".repeat(servers.len()));
    for Row { title, figure, compared } in rows(results) {
        let cells = servers.iter().map(|server| cell(results, &figure, server, compared));
        let cells: Vec<String> = cells.collect();
        if cells.iter().any(|cell| cell != "–") {
            _ = writeln!(text, "| {title} | {} |", cells.join(" | "));
        }
    }
    text + &noise(results) + &faults(results)
}

/// The floors first; what is not one of the usual servers last.
pub fn in_order(mut servers: Vec<String>) -> Vec<String> {
    let place =
        |server: &String| crate::servers::NAMES.iter().position(|name| name == server).unwrap_or(usize::MAX);
    servers.sort_by_key(place);
    servers
}

fn cell(results: &Results, figure: &Figure<'_>, server: &str, compared: bool) -> String {
    let Some(median) = results.median(figure, server) else { return "–".to_owned() };
    match results.ratio(figure, server, BASE).filter(|_| compared && server != BASE) {
        Some(ratio) => format!("{} ({ratio:.2})", number(median)),
        None => number(median),
    }
}

pub fn count(of: usize) -> String {
    thousands(&of.to_string())
}

fn thousands(digits: &str) -> String {
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| str::from_utf8(part).ok()).collect();
    parts.join(",")
}

/// With some three digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        100.0.. if value < 0.0 => format!("-{}", thousands(&format!("{:.0}", -value))),
        100.0.. => thousands(&format!("{value:.0}")),
        10.0.. => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.2}"),
    }
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut add = |case: Case, what: &str, pointer, compared| {
        for streams in results.sizes(case) {
            let title = format!("{what}, {} streams", count(streams));
            rows.push(Row { title, figure: results.figure(case, streams, pointer), compared });
        }
    };
    add(Case::Lockstep, "CPU per delivery (µs)", "/run/cpu_us_per_delivery", true);
    add(Case::Hot, "… of one URI (µs)", "/run/cpu_us_per_delivery", true);
    add(Case::Lockstep, "until the last has it, p50 (µs)", "/run/last_arrival_us/p50", true);
    add(Case::Lockstep, "… p99 (µs)", "/run/last_arrival_us/p99", true);
    add(Case::Burst, "burst: CPU per event and stream (µs)", "/run/cpu_us_per_event_and_stream", true);
    add(Case::Burst, "… events × streams", "/run/expected", false);
    add(Case::Burst, "… notifications delivered", "/run/delivered", false);
    add(Case::Burst, "… notifications in one read", "/run/deliveries_per_read", false);
    add(Case::Spread, "CPU per event for one stream (µs)", "/run/cpu_us_per_event", true);
    add(Case::Spread, "… until it has it, p50 (µs)", "/run/latency_us/p50", true);
    add(Case::Defaults, "burst, default limits: streams ended", "/run/streams_ended", false);
    add(Case::Defaults, "… that heard nothing after the last change", "/run/streams_without_the_last", false);
    add(Case::Defaults, "… notifications delivered", "/run/delivered", false);
    add(Case::Lockstep, "idle stream (bytes)", "/open/bytes_per_stream", true);
    add(Case::Lockstep, "CPU to open one (µs)", "/open/cpu_us_per_stream", true);
    add(Case::Control, "nobody stalls: p99 (µs)", "/run/latency_us/p99", true);
    add(Case::Stalled, "one stalls: the others' p99 (µs)", "/run/latency_us/p99", true);
    add(Case::Control, "nobody stalls: growth of memory (bytes)", "/run/memory_growth", false);
    add(Case::Stalled, "one stalls: growth of memory (bytes)", "/run/memory_growth", false);
    add(Case::Stalled, "… streams ended", "/run/streams_ended", false);
    add(Case::Stalled, "… in its socket's send queue (bytes)", "/run/send_queue", false);
    add(Case::Stalled, "… TCP memory of the machine (bytes)", "/run/kernel_memory", false);
    add(Case::Growth, "growth: CPU per delivery (µs)", "/run/cpu_us_per_delivery", true);
    add(Case::Growth, "… idle stream (bytes)", "/open/bytes_per_stream", true);
    add(Case::Growth, "… CPU to open one (µs)", "/open/cpu_us_per_stream", true);
    if let Some((title, figure)) = not_concerned(results) {
        let after =
            rows.iter().rposition(|row| row.title.starts_with("CPU per event")).map_or(0, |row| row + 1);
        rows.insert(after, Row { title, figure, compared: false });
    }
    rows
}

/// What each stream adds to an event that does not concern it, in nanoseconds.
pub fn not_concerned(results: &Results) -> Option<(String, Figure<'_>)> {
    // Above 1,000 streams, more streams are streams that no event concerns.
    let sizes: Vec<usize> =
        results.sizes(Case::Spread).into_iter().filter(|&streams| streams >= 1000).collect();
    let (&low, &high) = sizes.first().zip(sizes.last()).filter(|(low, high)| low < high)?;
    let cost = |streams| results.figure(Case::Spread, streams, "/run/cpu_us_per_event");
    let (few, many) = (cost(low), cost(high));
    let added = move |run: usize, server: &str| {
        Some((many(run, server)? - few(run, server)?) * 1000.0 / (high - low) as f64)
    };
    Some(("… each stream not concerned adds (ns)".to_owned(), Box::new(added)))
}

/// How busy the machine was with something else.
fn noise(results: &Results) -> String {
    let mut others: Vec<f64> =
        results.iter().filter_map(|(_, value)| value.pointer("/run/other_cpus")?.as_f64()).collect();
    others.sort_by(f64::total_cmp);
    let at = |part: usize| others.get((others.len() * part / 100).min(others.len().saturating_sub(1)));
    match (at(50), at(90), others.last()) {
        (Some(median), Some(most), Some(worst)) => format!(
            "\nProcessors that were busy with something else meanwhile: median {median:.2}, 90 % below {most:.2}, \
             worst {worst:.2}.\n"
        ),
        _ => String::new(),
    }
}

/// What went wrong, so that no figure hides it.
fn faults(results: &Results) -> String {
    let mut text = String::new();
    for (key, value) in results.iter() {
        let aborted = value["aborted"].as_str().map(|why| format!("aborted: {why}. "));
        let faults = value["faults"].as_object().filter(|faults| !faults.is_empty());
        if aborted.is_some() || faults.is_some() {
            let all: Vec<String> =
                faults.into_iter().flatten().map(|(what, count)| format!("{count} × {what}")).collect();
            _ = writeln!(
                text,
                "- run {}, {}, {} streams, {}: {}{}",
                key.run,
                key.case.name(),
                key.streams,
                key.server,
                aborted.unwrap_or_default(),
                all.join("; ")
            );
        }
    }
    if text.is_empty() { text } else { format!("\nWhat went wrong:\n\n{text}") }
}
