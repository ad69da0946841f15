//! What `#[subscription_handler]` does to the lints of the crate that it is used in: nothing, it should be.
//!
//! The files in `subject` are compiled twice, with every lint that there is as a warning: as they are, and with the
//! attributes left out and the impls written by hand, in `by_hand.rs` of each. The lines stay where they are, so the
//! two have to get the same lints at the same lines. A line that ends in `//~ LINT` has to get that one in both.
//!
//! Lints that contradict each other are among them, so neither is without warnings. What counts is the difference.

#![forbid(unsafe_code)]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fmt, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
};

use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

const EDITIONS: [&str; 2] = ["2021", "2024"];
const FILES: [&str; 5] = ["lib.rs", "files.rs", "faulty.rs", "by_hand/files.rs", "by_hand/faulty.rs"];

/// What a handler's file gets from the attribute's crate, or from the file by hand.
const IMPORT: &str = "use mcp_sub::{Channel, Filter, subscription_handler};";

/// Lints that the attribute adds or takes away today, each with the reason.
const KNOWN: [(&str, &str); 4] = [
    (
        "clippy::exhaustive_enums",
        "the enum of `event = Name` is one; by hand it would be the author's to decide",
    ),
    ("clippy::missing_inline_in_public_items", "of the impls; by hand it is at their lines"),
    (
        "clippy::same_name_method",
        "lost: the trait's methods have the names of the block's, and nobody wrote a second one",
    ),
    (
        "clippy::single_call_fn",
        "it takes no notice of calls as `handler.method()`, and generated ones are not that",
    ),
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lint {
    file: String,
    line: u64,
    name: String,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.name)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of differences.
fn run() -> Result<usize, Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This program is `TARGET/debug/strict`.
    let program = env::current_exe()?;
    let root = program.ancestors().nth(2).ok_or("this program is in no target directory")?.join("strict");
    let places = write_workspace(here, &root)?;
    let reported = reported(&root)?;

    let is_known = |lint: &&Lint| KNOWN.iter().any(|(name, _)| *name == lint.name);
    let mut differences = 0;
    let mut known = BTreeSet::new();
    for edition in EDITIONS {
        let of = |style: &str| -> BTreeSet<&Lint> {
            let package = format!("{style}-{edition}");
            (reported.iter().filter(|(name, _)| *name == package).map(|(_, lint)| lint))
                .filter(|lint| places.contains_key(&(lint.file.clone(), lint.line)))
                .collect()
        };
        let (attribute, by_hand) = (of("attribute"), of("by-hand"));
        println!(
            "edition {edition}: {} lints with the attribute, {} by hand",
            attribute.len(),
            by_hand.len()
        );
        let mut say = |what: &str, lint: &Lint| {
            println!("  {what}: {lint}");
            differences += 1;
        };
        let added = attribute.difference(&by_hand).map(|lint| ("added", lint));
        let lost = by_hand.difference(&attribute).map(|lint| ("lost", lint));
        for (what, lint) in added.chain(lost) {
            if is_known(lint) {
                known.insert(lint.name.as_str());
            } else {
                say(what, lint);
            }
        }
        for ((file, line), text) in &places {
            let Some((_, name)) = text.split_once("//~ ") else { continue };
            let lint = Lint { file: file.clone(), line: *line, name: name.to_owned() };
            if !(attribute.contains(&lint) && by_hand.contains(&lint)) {
                say("not reported in both", &lint);
            }
        }
    }
    for (name, reason) in KNOWN {
        println!("{}: {name} ({reason})", if known.contains(name) { "known" } else { "no longer so" });
    }
    Ok(differences)
}

/// A line of a file that is compiled in both styles.
type Place = (String, u64);

/// One package for each style and edition. Returns the lines that both have.
fn write_workspace(here: &Path, root: &Path) -> Result<BTreeMap<Place, String>, Failure> {
    let mut common = BTreeMap::new();
    let mut members = Vec::new();
    for edition in EDITIONS {
        for style in ["attribute", "by-hand"] {
            let package = format!("{style}-{edition}");
            let folder = root.join(&package);
            let manifest = format!(
                "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n\
                 [dependencies]\nmcp-sub = {{ path = \"{}\" }}\n",
                here.join("../../mcp-sub").display()
            );
            write(&folder.join("Cargo.toml"), &manifest)?;
            for file in FILES {
                let text = fs::read_to_string(here.join("subject").join(file))?;
                let written = if style == "by-hand" { without_attributes(file, &text) } else { text.clone() };
                write(&folder.join("src").join(file), &written)?;
                if !file.starts_with("by_hand/") {
                    let places = (1..).map(|line| (format!("src/{file}"), line));
                    common.extend(places.zip(text.lines().map(ToOwned::to_owned)));
                }
            }
            members.push(package);
        }
    }
    write(&root.join("Cargo.toml"), &format!("[workspace]\nmembers = {members:?}\nresolver = \"3\"\n"))?;
    fs::copy(here.join("../../Cargo.lock"), root.join("Cargo.lock"))?;
    Ok(common)
}

/// The lines of the attributes become comments, and the impls by hand are a module in the last line.
fn without_attributes(file: &str, text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        lines.push(if start.starts_with("#[subscription_handler") || start.starts_with("#[emits(") {
            String::from("// No attribute.")
        } else if start == IMPORT {
            String::from("use by_hand::{Channel, Filter};")
        } else {
            line.to_owned()
        });
    }
    if text.contains(IMPORT) {
        lines.push(format!("#[path = \"by_hand/{file}\"] pub mod by_hand;"));
    }
    lines.join("\n") + "\n"
}

/// Leaves a file alone that has this content, since Cargo looks at the time.
fn write(path: &Path, content: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    fs::write(path, content)
}

/// What Clippy says: the package, and the lint.
fn reported(root: &Path) -> Result<Vec<(String, Lint)>, Failure> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["clippy", "--offline", "--quiet", "--workspace", "--message-format", "json", "--"]);
    for name in every_lint()? {
        command.args(["-W", &name]);
    }
    let target: PathBuf = root.join("target");
    let output = command.current_dir(root).env("CARGO_TARGET_DIR", target).output()?;
    let mut reported = Vec::new();
    for line in stdout(&output)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let message = &line["message"];
        if message["level"] == "error" {
            return Err(message["rendered"].as_str().unwrap_or("an error").into());
        }
        let package = line["target"]["name"].as_str().unwrap_or_default().replace('_', "-");
        let Some(name) = message["code"]["code"].as_str() else { continue };
        for span in
            message["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == true)
        {
            let file = span["file_name"].as_str().unwrap_or_default();
            let file = file.split_once('/').map_or(file, |(_, file)| file).to_owned();
            let line = span["line_start"].as_u64().unwrap_or_default();
            reported.push((package.clone(), Lint { file, line, name: name.to_owned() }));
        }
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(reported)
}

/// All that this toolchain has: `NAME LEVEL MEANING` in the tables of `-W help`.
fn every_lint() -> Result<Vec<String>, Failure> {
    let output = Command::new("clippy-driver").args(["-W", "help"]).output()?;
    let names = stdout(&output)?.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        matches!(words.next()?, "allow" | "warn" | "deny").then(|| name.replace('-', "_"))
    });
    let names: Vec<String> = names.collect();
    if names.len() < 500 { Err("clippy-driver -W help says something else now".into()) } else { Ok(names) }
}

fn stdout(output: &Output) -> Result<&str, Failure> {
    Ok(str::from_utf8(&output.stdout)?)
}
