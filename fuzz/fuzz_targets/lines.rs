//! Any bytes on a channel that messages share, alone and with a server behind it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_sub_fuzz::lines::{self, Plan};

fuzz_target!(init: mcp_sub_fuzz::expect_panics_as_told(), |plan: Plan| lines::run(plan));
