//! What `#[subscription_handler]` costs a build, beside the same code written by hand. See `README.md`.

#![forbid(unsafe_code)]

mod generate;
mod measure;
mod report;

use std::{env, path::PathBuf, process::ExitCode};

use generate::{Package, Style};
use measure::{Cargo, Command, Cost};

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "\
compile-cost [--handlers 200] [--methods 10] [--growth 10,100,1000] [--runs 5] [--mcp-sub DIR]

  --handlers, --methods  the size of the crate that is compared
  --growth               one handler with each of these numbers of methods; `none` leaves it out
  --runs                 how often each command is run; the medians are shown
  --mcp-sub              the checkout that is measured, if not this one";

struct Options {
    handlers: usize,
    methods: usize,
    growth: Vec<usize>,
    runs: usize,
    checkout: PathBuf,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let this = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut options =
            Self { handlers: 200, methods: 10, growth: vec![10, 100, 1000], runs: 5, checkout: this };
        while let Some(name) = arguments.next() {
            // Also where it is `--help`.
            let value = arguments.next().ok_or(USAGE)?;
            match name.as_str() {
                "--handlers" => options.handlers = value.parse()?,
                "--methods" => options.methods = value.parse()?,
                "--growth" if value == "none" => options.growth.clear(),
                "--growth" => options.growth = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
                "--runs" => options.runs = value.parse()?,
                "--mcp-sub" => options.checkout = value.into(),
                _ => return Err(USAGE.into()),
            }
        }
        if options.runs == 0 || options.methods == 0 || options.growth.contains(&0) {
            return Err("nothing to measure: a number is 0".into());
        }
        options.checkout = options.checkout.canonicalize()?;
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse(env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let compared = Pair::new("", options.handlers, options.methods);
    let growing: Vec<(usize, Pair)> = (options.growth.iter())
        .map(|&methods| (methods, Pair::new(&format!("-{methods}-methods"), 1, methods)))
        .collect();
    let nothing = Package::new("nothing", Style::ByHand, 0, 0);

    let mut packages = vec![&nothing];
    for pair in growing.iter().map(|(_, pair)| pair).chain([&compared]) {
        packages.extend([&pair.by_hand, &pair.attribute]);
    }
    let workspace = generate::workspace(&options.checkout, &packages)?;
    let cargo = Cargo::new(workspace);

    // Builds the dependencies, and shows at once whether all of it compiles.
    eprintln!("building the dependencies");
    cargo.prepare(Command::Check)?;
    cargo.prepare(Command::Build)?;

    report::header(options);
    let packages = [&nothing, &compared.by_hand, &compared.attribute];
    let mut rows = Vec::new();
    for command in [Command::Check, Command::Build] {
        let costs = cargo.medians(command, &packages, options.runs)?;
        rows.push((command, [costs[0], costs[1], costs[2]]));
    }
    let lines = [cargo.ir_lines(&compared.by_hand)?, cargo.ir_lines(&compared.attribute)?];
    report::compared(&rows, lines);

    if !growing.is_empty() {
        let packages: Vec<&Package> =
            growing.iter().flat_map(|(_, pair)| [&pair.by_hand, &pair.attribute]).collect();
        let medians = cargo.medians(Command::Check, &packages, options.runs)?;
        let nothing = rows[0].1[0];
        let growth: Vec<(usize, Cost, Cost)> = (options.growth.iter().zip(medians.chunks_exact(2)))
            .map(|(&methods, costs)| (methods, costs[0], costs[1]))
            .collect();
        report::growth(nothing, &growth);
    }
    Ok(())
}

/// The same handlers in both styles.
struct Pair {
    by_hand: Package,
    attribute: Package,
}

impl Pair {
    fn new(suffix: &str, handlers: usize, methods: usize) -> Self {
        let package = |name, style| Package::new(&format!("{name}{suffix}"), style, handlers, methods);
        Self { by_hand: package("by-hand", Style::ByHand), attribute: package("attribute", Style::Attribute) }
    }
}
