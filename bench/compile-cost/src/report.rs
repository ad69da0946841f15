//! The tables, in Markdown.

use crate::{
    Options,
    measure::{Command, Cost},
};

pub fn header(options: &Options) {
    let Options { handlers, methods, runs, .. } = options;
    println!("{handlers} handlers of {methods} methods each; medians of {runs} runs.\n");
}

/// `rows`: of each command, the costs of no handlers, of those by hand and of those with the attribute.
pub fn compared(rows: &[(Command, [Cost; 3])], ir_lines: [usize; 2]) {
    println!("| | no handlers | by hand | attribute | ratio |");
    println!("|---|--:|--:|--:|--:|");
    for (command, costs) in rows {
        let &[nothing, by_hand, attribute] = costs;
        let row = |what: &str, nothing: f64, by_hand: f64, attribute: f64| {
            let command = command.name();
            let ratio = attribute / by_hand;
            println!(
                "| `cargo {command}`, {what} | {nothing:.2} s | {by_hand:.2} s | {attribute:.2} s | {ratio:.2} |"
            );
        };
        row("wall", nothing.wall, by_hand.wall, attribute.wall);
        row("user CPU", nothing.user, by_hand.user, attribute.user);
    }
    let [by_hand, attribute] = ir_lines;
    println!("| lines of LLVM IR | | {by_hand} | {attribute} | {:.2} |", ratio(attribute, by_hand));
}

/// `rows`: the number of methods, and what a check costs by hand and with the attribute. `nothing` is what it costs
/// without any handler.
pub fn growth(nothing: Cost, rows: &[(usize, Cost, Cost)]) {
    println!("\nOne handler: `cargo check`, user CPU, and what a method costs of it.\n");
    println!("| methods | by hand | attribute | ratio | per method, by hand | attribute |");
    println!("|--:|--:|--:|--:|--:|--:|");
    for (methods, by_hand, attribute) in rows {
        let each = |cost: &Cost| (cost.user - nothing.user) * 1000.0 / as_f64(*methods);
        println!(
            "| {methods} | {:.2} s | {:.2} s | {:.2} | {:.2} ms | {:.2} ms |",
            by_hand.user,
            attribute.user,
            attribute.user / by_hand.user,
            each(by_hand),
            each(attribute)
        );
    }
}

fn ratio(a: usize, b: usize) -> f64 {
    as_f64(a) / as_f64(b)
}

#[expect(clippy::cast_precision_loss, reason = "no count here is anywhere near 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
