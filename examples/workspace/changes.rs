//! From paths where something happened to what it means.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    path::{Path, PathBuf},
};

use crate::files::{Files, Stamp};

/// Where something happened.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// For each path, whether its content was surely written. Else it is judged by its [`Stamp`].
    pub(crate) paths: BTreeMap<PathBuf, bool>,
    /// Something was missed: it may have been anywhere.
    pub(crate) anywhere: bool,
}

/// What happened to the files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes {
    /// Files came or went.
    pub(crate) list: bool,
    /// Files with new content, those that came included: whoever subscribed to one that was gone learns that it is back.
    pub(crate) saved: BTreeSet<PathBuf>,
}

/// The files that were there when we last looked.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<PathBuf, Stamp>);

impl Touched {
    pub(crate) fn add(&mut self, path: PathBuf, written: bool) {
        *self.paths.entry(path).or_default() |= written;
    }
}

impl Known {
    /// Looks again where something happened. What the burst of an editor leaves is what counts: a file that was written
    /// anew and renamed over another was saved, and one that came and went again has changed nothing.
    ///
    /// `enter` is called for each directory that is read, before.
    pub(crate) fn look(
        &mut self,
        files: &Files,
        mut touched: Touched,
        mut enter: impl FnMut(&Path),
    ) -> Changes {
        if touched.anywhere {
            touched.add(files.root().to_owned(), false);
        }
        let mut changes = Changes::default();
        for (path, written) in touched.paths {
            let before = self.take(&path);
            let now = files.at(&path, &mut enter);
            changes.list |= !before.keys().eq(now.keys());
            let saved = now.iter().filter(|(path, stamp)| written || before.get(*path) != Some(*stamp));
            changes.saved.extend(saved.map(|(path, _)| path.clone()));
            self.0.extend(now);
        }
        changes
    }

    /// The file at `top`, or those below it.
    fn take(&mut self, top: &Path) -> BTreeMap<PathBuf, Stamp> {
        let from_top = self.0.range::<Path, _>((Bound::Included(top), Bound::Unbounded));
        let paths: Vec<PathBuf> =
            from_top.map(|(path, _)| path.clone()).take_while(|path| path.starts_with(top)).collect();
        paths.into_iter().filter_map(|path| self.0.remove_entry(&path)).collect()
    }
}
