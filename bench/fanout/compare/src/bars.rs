//! How far each bar is reached.

use std::fmt::Write;

use crate::{
    cases::{Case, READERS},
    results::{Figure, Results},
    servers::NAMES,
    table::{BASE, count, not_concerned, number},
};

/// What a server has to stay at or below.
struct Bar {
    what: String,
    limit: f64,
    /// What would be still better, where something is.
    beyond: Option<f64>,
}

type Measured = (Bar, Option<f64>);

/// For this library, and for every other build of it that took part.
pub fn markdown(results: &Results) -> String {
    let servers = results.servers();
    let ours = servers.iter().filter(|server| **server == "mcp-sub" || !NAMES.contains(&&***server));
    let mut text = String::new();
    for server in ours {
        _ = writeln!(text, "## Bars: {server}\n\n| | at most | is | |\n|---|--:|--:|---|");
        for (Bar { what, limit, beyond }, value) in bars(results, server) {
            let verdict = match value {
                None => "not measured",
                Some(value) if beyond.is_some_and(|beyond| value <= beyond) => "met, and beyond it",
                Some(value) if value <= limit => "met",
                Some(_) => "**missed**",
            };
            let value = value.map_or("–".to_owned(), number);
            _ = writeln!(text, "| {what} | {} | {value} | {verdict} |", number(limit));
        }
        text.push('\n');
    }
    text + "Publishing where nobody is concerned is measured by `bench/micro`.\n"
}

fn bar(what: impl Into<String>, limit: f64, value: Option<f64>) -> Measured {
    (Bar { what: what.into(), limit, beyond: None }, value)
}

fn figure<'a>(of: impl Fn(usize, &str) -> Option<f64> + 'a) -> Figure<'a> {
    Box::new(of)
}

fn bars(results: &Results, server: &str) -> Vec<Measured> {
    let mut all = Vec::new();
    for streams in results.sizes(Case::Lockstep) {
        let cpu = results.figure(Case::Lockstep, streams, "/run/cpu_us_per_delivery");
        let what = format!("CPU per delivery, {} streams", count(streams));
        let (mut to_floor, value) = bar(format!("{what}: × {BASE}"), 1.10, results.ratio(&cpu, server, BASE));
        to_floor.beyond = Some(1.03);
        all.push((to_floor, value));
        all.push(bar(format!("{what}: × tower-mcp"), 1.0, results.ratio(&cpu, server, "tower-mcp")));
    }
    all.extend(burst(results, server));
    all.extend(one_of_many(results, server));
    for streams in results.sizes(Case::Lockstep) {
        for (name, pointer) in [("p50", "/run/last_arrival_us/p50"), ("p99", "/run/last_arrival_us/p99")] {
            let until = results.figure(Case::Lockstep, streams, pointer);
            let what = format!("until the last of {} has it, {name}: × {BASE}", count(streams));
            all.push(bar(what, 1.10, results.ratio(&until, server, BASE)));
        }
    }
    if let Some(&most) = results.sizes(Case::Lockstep).last() {
        let most_streams = count(most);
        let memory = results.figure(Case::Lockstep, most, "/open/bytes_per_stream");
        let what = format!("idle stream, bytes, of {most_streams}");
        all.push((Bar { what, limit: 24_000.0, beyond: Some(8_000.0) }, results.median(&memory, server)));
        let open = results.figure(Case::Lockstep, most, "/open/cpu_us_per_stream");
        let what = format!("CPU to open one of {most_streams}: × {BASE}");
        all.push(bar(what, 1.25, results.ratio(&open, server, BASE)));
    }
    all.extend(stalled(results, server));
    all.extend(growth(results, server));
    all
}

fn burst(results: &Results, server: &str) -> Vec<Measured> {
    let mut all = Vec::new();
    for streams in results.sizes(Case::Burst) {
        let cpu = results.figure(Case::Burst, streams, "/run/cpu_us_per_event_and_stream");
        let what = format!("burst, {} streams: CPU × {BASE}", count(streams));
        all.push(bar(what, 1.5, results.ratio(&cpu, server, BASE)));
        // Few are few whether several went out in one write or were merged.
        let reads = figure(move |run, server| {
            let get = |pointer| results.get(run, Case::Burst, streams, server, pointer);
            Some(get("/run/delivered")? / get("/run/deliveries_per_read")? / get("/run/expected")?)
        });
        let what = format!("… {} streams: reads per event and stream", count(streams));
        all.push(bar(what, 0.5, results.median(&reads, server)));
    }
    for streams in results.sizes(Case::Defaults) {
        let figures = [
            ("streams ended", "/run/streams_ended"),
            ("streams that heard nothing after the last change", "/run/streams_without_the_last"),
        ];
        for (what, pointer) in figures {
            let worst = results.worst(&results.figure(Case::Defaults, streams, pointer), server);
            all.push(bar(format!("burst, default limits: {what}"), 0.0, worst));
        }
    }
    all
}

fn one_of_many(results: &Results, server: &str) -> Vec<Measured> {
    let mut all = Vec::new();
    let sizes = results.sizes(Case::Spread);
    if let (Some(&few), Some(&many)) = (sizes.first(), sizes.last()) {
        let cost = |streams| results.figure(Case::Spread, streams, "/run/cpu_us_per_event");
        let (of_few, of_many) = (cost(few), cost(many));
        let grown = figure(|run, server| Some(of_many(run, server)? / of_few(run, server)?));
        let what = format!("an event for 1 of {}: × 1 of {}", count(many), count(few));
        all.push(bar(what, 1.3, results.median(&grown, server)));
        let what = format!("an event for 1 of {}: × {BASE}", count(many));
        all.push(bar(what, 1.2, results.ratio(&of_many, server, BASE)));
    }
    if let Some((_, added)) = not_concerned(results) {
        let what = "each stream not concerned adds, ns".to_owned();
        all.push((Bar { what, limit: 5.0, beyond: Some(0.0) }, results.median(&added, server)));
    }
    all
}

fn stalled(results: &Results, server: &str) -> Vec<Measured> {
    if results.sizes(Case::Stalled).is_empty() {
        return Vec::new();
    }
    let get = |run, case, server: &str, pointer| results.get(run, case, READERS, server, pointer);
    let p99 = figure(|run, server| {
        let p99 = |case| get(run, case, server, "/run/latency_us/p99");
        Some(p99(Case::Stalled)? / p99(Case::Control)?)
    });
    let memory = figure(|run, server| {
        let growth = |case| get(run, case, server, "/run/memory_growth");
        Some(growth(Case::Stalled)? - growth(Case::Control)?)
    });
    let ended = results.figure(Case::Stalled, READERS, "/run/streams_ended");
    let queue = results.figure(Case::Stalled, READERS, "/run/send_queue");
    vec![
        bar("one stalls: the others' p99, × without it", 1.2, results.median(&p99, server)),
        bar("one stalls: memory grows more than without it, bytes", 1e6, results.median(&memory, server)),
        bar("one stalls: streams ended", 0.0, results.worst(&ended, server)),
        bar("one stalls: bytes in its socket's send queue", 65_536.0, results.median(&queue, server)),
    ]
}

fn growth(results: &Results, server: &str) -> Vec<Measured> {
    let sizes = results.sizes(Case::Growth);
    let Some((&few, &many)) = sizes.first().zip(sizes.last()).filter(|(few, many)| few < many) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (what, pointer) in
        [("CPU per delivery", "/run/cpu_us_per_delivery"), ("memory of a stream", "/open/bytes_per_stream")]
    {
        let cost = |streams| results.figure(Case::Growth, streams, pointer);
        let (of_few, of_many) = (cost(few), cost(many));
        let grown = figure(|run, server| Some(of_many(run, server)? / of_few(run, server)?));
        let what = format!("{what}, {} streams: × {} streams", count(many), count(few));
        let floor = results
            .median(&grown, BASE)
            .map_or(String::new(), |floor| format!(" ({BASE}: {})", number(floor)));
        all.push(bar(what + &floor, 1.10, results.median(&grown, server)));
    }
    all
}
