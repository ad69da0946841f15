//! Runs Cargo, and looks at the clock.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    path::PathBuf,
    process::{self, Stdio},
    time::SystemTime,
};

use crate::{Failure, generate::Package};

#[derive(Clone, Copy)]
pub enum Command {
    Check,
    Build,
}

impl Command {
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Build => "build",
        }
    }
}

/// In seconds.
#[derive(Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    pub user: f64,
}

pub struct Cargo {
    program: OsString,
    workspace: PathBuf,
}

impl Cargo {
    pub fn new(workspace: PathBuf) -> Self {
        Self { program: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), workspace }
    }

    pub fn prepare(&self, command: Command) -> Result<(), Failure> {
        self.run(&[command.name(), "--workspace"]).map(drop)
    }

    /// What `command` costs for each of `packages`: they take turns, so that what else the machine does meanwhile
    /// meets all of them.
    pub fn medians(
        &self,
        command: Command,
        packages: &[&Package],
        runs: usize,
    ) -> Result<Vec<Cost>, Failure> {
        let mut costs = vec![Vec::new(); packages.len()];
        for run in 1..=runs {
            for (package, costs) in packages.iter().zip(&mut costs) {
                self.touch(package)?;
                let cost = self.run(&[command.name(), "--package", &package.name])?;
                eprintln!("{} {}, {run} of {runs}: {:.2} s", command.name(), package.name, cost.wall);
                costs.push(cost);
            }
        }
        Ok(costs.iter().map(|costs| median(costs)).collect())
    }

    /// How many lines of LLVM IR the package is, unoptimised.
    pub fn ir_lines(&self, package: &Package) -> Result<usize, Failure> {
        eprintln!("LLVM IR of {}", package.name);
        let path = self.workspace.join(format!("{}.ll", package.name));
        let emit = format!("--emit=llvm-ir={}", path.display());
        self.touch(package)?;
        self.run(&["rustc", "--package", &package.name, "--", &emit, "-Ccodegen-units=1"])?;
        Ok(fs::read_to_string(&path)?.lines().count())
    }

    fn touch(&self, package: &Package) -> Result<(), Failure> {
        let path = self.workspace.join(&package.name).join("src/lib.rs");
        Ok(File::options().append(true).open(path)?.set_modified(SystemTime::now())?)
    }

    /// With bash, whose `time` knows the CPU time of all processes that Cargo has started.
    fn run(&self, arguments: &[&str]) -> Result<Cost, Failure> {
        let log = self.workspace.join("cargo.log");
        let output = process::Command::new("bash")
            .args(["-c", r#"TIMEFORMAT="%R %U"; time "$@" >"$LOG" 2>&1"#, "compile-cost"])
            .arg(&self.program)
            .args(["--offline", "--quiet"])
            .args(arguments)
            .current_dir(&self.workspace)
            .env("CARGO_TARGET_DIR", self.workspace.join("target"))
            .env("LOG", &log)
            .env("LC_ALL", "C")
            .env("CARGO_INCREMENTAL", "0")
            .stdin(Stdio::null())
            .output()?;
        let said = fs::read_to_string(&log)?;
        if !output.status.success() || said.contains("warning") {
            return Err(format!("cargo {}:\n{said}", arguments.join(" ")).into());
        }
        let times = String::from_utf8(output.stderr)?;
        let times: Vec<f64> = times.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let &[wall, user] = times.as_slice() else { return Err("bash does not know `time`".into()) };
        Ok(Cost { wall, user })
    }
}

fn median(costs: &[Cost]) -> Cost {
    let of = |part: fn(&Cost) -> f64| {
        let mut sorted: Vec<f64> = costs.iter().map(part).collect();
        sorted.sort_by(f64::total_cmp);
        f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
    };
    Cost { wall: of(|cost| cost.wall), user: of(|cost| cost.user) }
}
