//! Any sequence of events, readers and endings.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_sub_fuzz::events::{self, Plan};

fuzz_target!(init: mcp_sub_fuzz::expect_panics_as_told(), |plan: Plan| events::run(plan));
