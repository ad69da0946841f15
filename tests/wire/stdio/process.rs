//! The process behind the channel.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use mcp_sub_tests::message;

use super::TOOLS;

fn start(stdin: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stdio-server"));
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A test that hangs here is ended by the tests' own timeout.
fn ended(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    output
}

fn kill(child: &Child, signal: &str) {
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

fn listen(child: &mut Child) -> BufReader<ChildStdout> {
    let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
    writeln!(child.stdin.as_mut().unwrap(), "{listen}").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    assert!(line(&mut out).contains("acknowledged"));
    out
}

fn line(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line
}

#[test]
fn what_is_piped_into_it_is_answered_and_it_exits() {
    let mut child = start(Stdio::piped());
    let listen = message("1", "subscriptions/listen", &format!(r#""notifications":{TOOLS}"#));
    let mut input = child.stdin.take().unwrap();
    write!(input, "{listen}\n{}\n", message("2", "server/discover", "")).unwrap();
    drop(input);
    let output = String::from_utf8(ended(child).stdout).unwrap();
    assert_eq!(output.lines().count(), 3, "{output}");
    for expected in ["acknowledged", r#""id":1,"result""#, r#""id":2,"result""#] {
        assert!(output.contains(expected), "{output}");
    }
}

#[test]
fn without_input_it_exits_and_says_nothing() {
    assert!(ended(start(Stdio::null())).stdout.is_empty());
}

#[test]
fn it_ends_by_a_signal_though_its_input_is_open() {
    let mut child = start(Stdio::piped());
    let mut out = listen(&mut child);
    kill(&child, "-USR1");
    assert!(line(&mut out).contains("tools/list_changed"));
    let input = child.stdin.take();
    kill(&child, "-TERM");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""id":1,"result""#), "{rest}");
    ended(child);
    drop(input);
}

#[test]
fn it_exits_when_nobody_reads_any_more_though_its_input_is_open() {
    let mut child = start(Stdio::piped());
    drop(listen(&mut child));
    let input = child.stdin.take();
    kill(&child, "-USR1");
    ended(child);
    drop(input);
}
