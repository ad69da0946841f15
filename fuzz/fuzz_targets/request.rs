//! Any HTTP request, to a server alone and to one with another behind it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: mcp_sub_fuzz::expect_panics_as_told(), |data: &[u8]| mcp_sub_fuzz::request::run(data));
