//! What `instructions` printed as JSON, as a table. With the output of an earlier run as its argument, also the change since.

#![forbid(unsafe_code)]

use std::{collections::HashMap, env, error::Error, fs, io};

use micro::cases::{CASES, Case};
use serde_json::Value;

/// For publishing where nobody is concerned.
const BAR: u64 = 300;

struct Cost {
    instructions: u64,
    allocations: u64,
    bytes: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let costs = parse(&io::read_to_string(io::stdin())?)?;
    let before = match env::args().nth(1) {
        Some(path) => parse(&fs::read_to_string(path)?)?,
        None => HashMap::new(),
    };
    println!("| step | instructions | allocations | bytes | since then |\n|---|--:|--:|--:|--:|");
    for Case { name, .. } in &CASES {
        let Cost { instructions, allocations, bytes } =
            costs.get(*name).ok_or_else(|| format!("{name}: not measured"))?;
        let change = before.get(*name).map_or(String::new(), |before| {
            let (now, before) = (instructions.cast_signed(), before.instructions.cast_signed());
            format!("{:+.1} %", 100.0 * percentage(now - before, before))
        });
        println!("| {name} | {instructions} | {allocations} | {bytes} | {change} |");
    }
    println!("\n## Bars\n\n| publishing where nobody is concerned | at most | is | |\n|---|--:|--:|---|");
    for Case { name, .. } in CASES.iter().filter(|case| case.concerns_nobody) {
        let Cost { instructions, allocations, .. } = costs[*name];
        let verdict = if instructions <= BAR && allocations == 0 { "met" } else { "**missed**" };
        println!("| {name} | {BAR}, without allocation | {instructions}, {allocations} | {verdict} |");
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn percentage(part: i64, of: i64) -> f64 {
    part as f64 / of as f64
}

/// One line for each case.
fn parse(output: &str) -> Result<HashMap<&'static str, Cost>, Box<dyn Error>> {
    let mut costs = HashMap::new();
    for line in output.lines().filter(|line| line.starts_with('{')) {
        let summary: Value = serde_json::from_str(line)?;
        let id = summary["id"].as_str().unwrap_or_default();
        let index: usize =
            id.strip_prefix("case_").ok_or_else(|| format!("an unknown case: {id}"))?.parse()?;
        let case = CASES.get(index).ok_or_else(|| format!("an unknown case: {id}"))?;
        let metric = |tool: &str, name: &str| {
            let profiles = summary["profiles"].as_array()?;
            let profile = profiles.iter().find(|profile| profile["tool"] == tool)?;
            profile.pointer(&format!("/data/total/metrics/{name}/values/new"))?.as_u64()
        };
        let needed =
            |tool, name| metric(tool, name).ok_or_else(|| format!("{}: no {name} of {tool}", case.name));
        let cost = Cost {
            instructions: needed("Callgrind", "Ir")?,
            allocations: needed("DHAT", "TotalBlocks")?,
            bytes: needed("DHAT", "TotalBytes")?,
        };
        costs.insert(case.name, cost);
    }
    Ok(costs)
}
