//! Instructions and allocations, under valgrind. The numbers are those of `CASES`; `table` gives them their names.

use gungraun::{Dhat, prelude::*};
use micro::cases::{CASES, Step};

fn prepare(index: usize) -> Step {
    (CASES[index].prepare)()
}

#[library_benchmark]
#[benches::case(iter = 0..CASES.len(), setup = prepare)]
fn step(mut step: Step) -> Step {
    step();
    step
}

library_benchmark_group!(name = steps, benchmarks = step);

main!(config = LibraryBenchmarkConfig::default().tool(Dhat::default()), library_benchmark_groups = steps);
