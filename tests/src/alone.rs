//! Tests that change what belongs to a process: its limits, its network.

use std::process::Command;

const ALONE: &str = "MCP_SUB_TEST_ALONE";

/// Runs a test, named by its whole path, in a process of its own. `script` prepares it; it gets that process' command
/// line as `"$@"`, which it has to `exec`. `true` in that process, where the test then goes on.
///
/// The script says by the exit code 77 that this machine does not permit it. The test is then skipped, with a line that
/// says so.
///
/// # Panics
///
/// If the test fails there.
#[must_use]
pub fn alone(test: &str, script: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let tests = std::env::current_exe().expect("the test runs");
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(tests).args(["--exact", test, "--nocapture", "--include-ignored"]);
    let output = command.env(ALONE, "1").output().expect("a shell");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(77) {
        eprintln!("skipped: {test}, which this machine does not permit: {err}");
        return false;
    }
    assert!(output.status.success() && out.contains("1 passed"), "{test}: {}\n{out}\n{err}", output.status);
    false
}
