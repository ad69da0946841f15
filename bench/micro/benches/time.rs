//! Times and allocations, where valgrind is not there. Times are as noisy as the machine.

#![forbid(unsafe_code)]

use divan::{AllocProfiler, Bencher};
use micro::cases::{CASES, Case};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(args = CASES.iter().map(|case| case.name), sample_count = 50, sample_size = 1)]
fn step(bencher: Bencher<'_, '_>, name: &str) {
    let case: &Case = CASES.iter().find(|case| case.name == name).expect("it is one of them");
    bencher.with_inputs(case.prepare).bench_local_refs(|step| step());
}
