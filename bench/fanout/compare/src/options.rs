//! The command line.

use std::{env, fmt::Display, path::PathBuf, str::FromStr};

use crate::{Failure, cases::Case, servers};

const USAGE: &str = "\
run [options]

  --runs N             how often everything is measured; medians are shown [3]
  --streams N,N        open streams                                        [100,1000,5000]
  --growth N,N         the same for the case `growth`; `none` leaves it out
                       [1000, and as many as one process may open files for]
  --servers NAME,NAME  of those in the README; NAME=PATH is another program with the same command line, to compare two
                       builds in one run                                   [all]
  --cases NAME,NAME    of those in the README                              [all]
  --effort F           measures F times as many events; 0.05 shows whether all works [1]
  --unpinned           leaves it to the system which processors server and load generator use
  --out DIR            where the results go                                [target/release/fan-out]
  --report             measures nothing, and reports on what DIR has";

pub struct Options {
    pub runs: usize,
    pub streams: Vec<usize>,
    pub growth: Vec<usize>,
    pub servers: Vec<String>,
    pub cases: Vec<Case>,
    pub effort: f64,
    pub pinned: bool,
    pub out: PathBuf,
    pub report: bool,
}

impl Options {
    pub fn parse(most_streams: usize) -> Result<Self, Failure> {
        let mut options = Self {
            runs: 3,
            streams: vec![100, 1000, 5000],
            growth: vec![1000, most_streams],
            servers: servers::NAMES.map(str::to_owned).to_vec(),
            cases: Case::ALL.to_vec(),
            effort: 1.0,
            pinned: true,
            // Beside the programs.
            out: env::current_exe()?.with_file_name("fan-out"),
            report: false,
        };
        let mut arguments = env::args().skip(1);
        while let Some(name) = arguments.next() {
            match name.as_str() {
                "--unpinned" => options.pinned = false,
                "--report" => options.report = true,
                _ => {
                    // Also where it is `--help`.
                    let value = arguments.next().ok_or(USAGE)?;
                    options.set(&name, &value)?;
                }
            }
        }
        if options.runs == 0 || options.streams.contains(&0) || options.growth.contains(&0) {
            return Err("nothing to measure: a number is 0".into());
        }
        if let Some(many) = options.streams.iter().chain(&options.growth).find(|&&n| n > most_streams) {
            return Err(format!("{many} streams: a process may open files for {most_streams} here").into());
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        match name {
            "--runs" => self.runs = value.parse()?,
            "--streams" => self.streams = list(value)?,
            "--growth" if value == "none" => self.growth.clear(),
            "--growth" => self.growth = list(value)?,
            "--servers" => self.servers = list(value)?,
            "--cases" => self.cases = list(value)?,
            "--effort" => self.effort = value.parse()?,
            "--out" => self.out = value.into(),
            _ => return Err(USAGE.into()),
        }
        Ok(())
    }
}

fn list<T: FromStr<Err: Display>>(text: &str) -> Result<Vec<T>, Failure> {
    text.split(',').map(|part| part.parse().map_err(|error| format!("{part}: {error}").into())).collect()
}
