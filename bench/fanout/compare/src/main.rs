//! Runs the servers through the cases, and prints the comparison. See `README.md`.

mod bars;
mod cases;
mod options;
mod plots;
mod results;
mod servers;
mod table;

use std::{fs, process::ExitCode};

use options::Options;
use results::{Key, Results};
use servers::Processors;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let options = Options::parse(servers::most_streams()?)?;
    let results = if options.report { Results::load(&options.out)? } else { measure(&options)? };
    let report = format!("{}\n{}", table::markdown(&results), bars::markdown(&results));
    fs::write(options.out.join("report.md"), &report)?;
    plots::write(&results, &options.out)?;
    print!("{report}");
    Ok(())
}

/// Everything, into a folder where nothing of an earlier run is left.
fn measure(options: &Options) -> Result<Results, Failure> {
    if options.out.exists() {
        fs::remove_dir_all(&options.out)?;
    }
    fs::create_dir_all(&options.out)?;
    let processors = options.pinned.then(Processors::pick).transpose()?;
    let mut results = Results::default();
    for run in 1..=options.runs {
        for &case in &options.cases {
            for streams in case.sizes(options) {
                let arguments = case.arguments(streams, options.effort);
                for server in in_turns(&options.servers, run) {
                    eprintln!("run {run}, {}, {streams} streams: {server}", case.name());
                    let value = servers::measure(server, &arguments, processors.as_ref())?;
                    let server = server.split('=').next().unwrap_or_default().to_owned();
                    results.insert(&options.out, Key { run, case, streams, server }, value)?;
                }
            }
        }
    }
    Ok(results)
}

/// Each second run the other way round, so that a machine that becomes slower harms nobody.
fn in_turns(servers: &[String], run: usize) -> Vec<&String> {
    if run % 2 == 1 { servers.iter().collect() } else { servers.iter().rev().collect() }
}
