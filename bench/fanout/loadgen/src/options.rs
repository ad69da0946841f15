//! The command line.

use std::env;

use crate::filter::Asked;

pub const USAGE: &str = "\
loadgen --port P --trigger-port Q --pid PID [options]

Opens listen streams at 127.0.0.1:P, triggers events, and prints what they cost the process PID, as JSON.

  --streams N      streams, each on a connection of its own         [1]
  --events M       events that are measured                         [1000]
  --warm-up W      events before, in lockstep, that are not         [0]
  --filter WHAT    tools, hot (one URI), or spread (each event concerns one stream) [tools]
  --burst          all events at once; else the next when all streams have the last
  --stall S        so many more streams stop reading after the acknowledgement [0]
  --max-seconds T  triggers no more after so long                   [20]";

pub struct Options {
    pub port: u16,
    pub trigger_port: u16,
    pub pid: u32,
    pub streams: usize,
    pub events: usize,
    pub warm_up: usize,
    pub filter: Asked,
    pub burst: bool,
    pub stall: usize,
    pub max_seconds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            trigger_port: 0,
            pid: 0,
            streams: 1,
            events: 1000,
            warm_up: 0,
            filter: Asked::Tools,
            burst: false,
            stall: 0,
            max_seconds: 20,
        }
    }
}

impl Options {
    /// The stream with this index, counted from 0, is one of those that stop reading.
    pub fn stalls(&self, index: usize) -> bool {
        index >= self.streams
    }

    pub fn parse() -> Result<Self, Box<dyn std::error::Error>> {
        let mut options = Self::default();
        let mut arguments = env::args().skip(1);
        while let Some(name) = arguments.next() {
            if name == "--burst" {
                options.burst = true;
                continue;
            }
            // Also where it is `--help`.
            let value = arguments.next().ok_or(USAGE)?;
            match name.as_str() {
                "--port" => options.port = value.parse()?,
                "--trigger-port" => options.trigger_port = value.parse()?,
                "--pid" => options.pid = value.parse()?,
                "--streams" => options.streams = value.parse()?,
                "--events" => options.events = value.parse()?,
                "--warm-up" => options.warm_up = value.parse()?,
                "--filter" => options.filter = value.parse()?,
                "--stall" => options.stall = value.parse()?,
                "--max-seconds" => options.max_seconds = value.parse()?,
                _ => return Err(USAGE.into()),
            }
        }
        if options.port == 0 || options.trigger_port == 0 || options.pid == 0 || options.streams == 0 {
            return Err(USAGE.into());
        }
        Ok(options)
    }
}
