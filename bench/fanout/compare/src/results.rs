//! What was measured, and its medians.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{Failure, cases::Case};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub run: usize,
    pub case: Case,
    pub streams: usize,
    pub server: String,
}

#[derive(Default)]
pub struct Results(BTreeMap<Key, Value>);

impl Results {
    pub fn insert(&mut self, out: &Path, key: Key, value: Value) -> Result<(), Failure> {
        let Key { run, case, streams, server } = &key;
        let text = format!("{value:#}\n");
        fs::write(out.join(format!("{run}.{}.{streams}.{server}.json", case.name())), text)?;
        self.0.insert(key, value);
        Ok(())
    }

    pub fn load(out: &Path) -> Result<Self, Failure> {
        let mut results = Self::default();
        for entry in fs::read_dir(out)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(parts) = name.strip_suffix(".json") else { continue };
            let parts: Vec<&str> = parts.splitn(4, '.').collect();
            let [run, case, streams, server] = parts[..] else { continue };
            let key = Key {
                run: run.parse()?,
                case: case.parse()?,
                streams: streams.parse()?,
                server: server.to_owned(),
            };
            results.0.insert(key, serde_json::from_slice(&fs::read(&path)?)?);
        }
        if results.0.is_empty() {
            Err(format!("no results in {}", out.display()).into())
        } else {
            Ok(results)
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.0.iter()
    }

    fn distinct<T: Ord>(&self, of: impl Fn(&Key) -> Option<T>) -> Vec<T> {
        let mut found: Vec<T> = self.0.keys().filter_map(of).collect();
        found.sort();
        found.dedup();
        found
    }

    pub fn runs(&self) -> Vec<usize> {
        self.distinct(|key| Some(key.run))
    }

    pub fn servers(&self) -> Vec<String> {
        self.distinct(|key| Some(key.server.clone()))
    }

    /// With how many streams a case was measured.
    pub fn sizes(&self, case: Case) -> Vec<usize> {
        self.distinct(|key| (key.case == case).then_some(key.streams))
    }

    /// One figure of one run; `None` if there is none, or the run was aborted.
    pub fn get(&self, run: usize, case: Case, streams: usize, server: &str, pointer: &str) -> Option<f64> {
        let value = self.0.get(&Key { run, case, streams, server: server.to_owned() })?;
        if !value["aborted"].is_null() {
            return None;
        }
        value.pointer(pointer)?.as_f64()
    }
}

/// A figure: from the run and the server to its value.
pub type Figure<'a> = Box<dyn Fn(usize, &str) -> Option<f64> + 'a>;

impl Results {
    pub fn figure(&self, case: Case, streams: usize, pointer: &'static str) -> Figure<'_> {
        Box::new(move |run, server| self.get(run, case, streams, server, pointer))
    }

    /// The median over the runs.
    pub fn median(&self, figure: &Figure<'_>, server: &str) -> Option<f64> {
        median(self.runs().into_iter().filter_map(|run| figure(run, server)).collect())
    }

    /// The largest over the runs: of what must never happen.
    pub fn worst(&self, figure: &Figure<'_>, server: &str) -> Option<f64> {
        self.runs().into_iter().filter_map(|run| figure(run, server)).reduce(f64::max)
    }

    /// The median of the ratios to another server's figure in the same run: the machine's speed cancels out.
    pub fn ratio(&self, figure: &Figure<'_>, server: &str, base: &str) -> Option<f64> {
        let ratio = |run| Some(figure(run, server)? / figure(run, base).filter(|&base| base > 0.0)?);
        median(self.runs().into_iter().filter_map(ratio).collect())
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.get(values.len() / 2)?;
    // Of an even number, the mean of the two in the middle.
    Some(f64::midpoint(values[(values.len() - 1) / 2], *middle))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn results(of: &[(usize, &str, f64)]) -> Results {
        let entry = |&(run, server, value): &(usize, &str, f64)| {
            let key = Key { run, case: Case::Lockstep, streams: 1, server: server.to_owned() };
            (key, json!({ "aborted": null, "cpu": value }))
        };
        Results(of.iter().map(entry).collect())
    }

    #[test]
    fn a_ratio_is_that_within_a_run() {
        let results = results(&[(1, "a", 2.0), (1, "b", 1.0), (2, "a", 40.0), (2, "b", 10.0), (3, "a", 3.0)]);
        let cpu = results.figure(Case::Lockstep, 1, "/cpu");
        assert_eq!(results.median(&cpu, "a"), Some(3.0));
        assert_eq!(results.median(&cpu, "b"), Some(5.5));
        assert_eq!(results.ratio(&cpu, "a", "b"), Some(3.0), "of 2 and 4; the third run has no base");
        assert_eq!(results.ratio(&cpu, "a", "c"), None);
    }
}
