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

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        time::SystemTime,
    };

    use super::*;
    use crate::scratch::Scratch;

    /// All files, known as they are.
    fn known(files: &Files) -> Known {
        let mut known = Known::default();
        known.look(files, Touched { anywhere: true, ..Touched::default() }, |_| ());
        known
    }

    fn touched<const N: usize>(scratch: &Scratch, written: bool, names: [&str; N]) -> Touched {
        let mut touched = Touched::default();
        for name in names {
            touched.add(scratch.path(name), written);
        }
        touched
    }

    fn changes<const N: usize>(scratch: &Scratch, list: bool, saved: [&str; N]) -> Changes {
        Changes { list, saved: saved.iter().map(|name| scratch.path(name)).collect() }
    }

    #[test]
    fn a_file_that_is_written_was_saved() {
        let scratch = Scratch::with(&["a", "b"]);
        let files = scratch.files();
        let mut known = known(&files);
        let seen = known.look(&files, touched(&scratch, true, ["a"]), |_| ());
        assert_eq!(seen, changes(&scratch, false, ["a"]));
    }

    #[test]
    fn a_file_whose_stamp_is_the_same_was_not_unless_it_was_surely_written() {
        let scratch = Scratch::with(&["a", "d/b"]);
        let files = scratch.files();
        let mut known = known(&files);
        let everything = || Touched { anywhere: true, ..touched(&scratch, false, ["a", "d"]) };
        assert_eq!(known.look(&files, everything(), |_| ()), Changes::default());
        let b = File::options().write(true).open(scratch.path("d/b")).expect("it is there");
        b.set_modified(SystemTime::UNIX_EPOCH).expect("it can be set");
        assert_eq!(known.look(&files, everything(), |_| ()), changes(&scratch, false, ["d/b"]));
        assert_eq!(known.look(&files, everything(), |_| ()), Changes::default());
    }

    #[test]
    fn a_file_that_is_renamed_over_another_was_saved() {
        let scratch = Scratch::with(&["a"]);
        let files = scratch.files();
        let mut known = known(&files);
        scratch.write(".a.tmp", "new");
        fs::rename(scratch.path(".a.tmp"), scratch.path("a")).expect("it can be moved");
        let seen = known.look(&files, touched(&scratch, true, ["a", ".a.tmp"]), |_| ());
        assert_eq!(seen, changes(&scratch, false, ["a"]));
    }

    #[test]
    fn a_file_that_comes_changes_the_list_and_so_does_one_that_goes() {
        let scratch = Scratch::with(&[]);
        let files = scratch.files();
        let mut known = known(&files);
        scratch.write("a", "");
        let seen = known.look(&files, touched(&scratch, true, ["a"]), |_| ());
        assert_eq!(seen, changes(&scratch, true, ["a"]));
        fs::remove_file(scratch.path("a")).expect("it is there");
        let seen = known.look(&files, touched(&scratch, true, ["a"]), |_| ());
        assert_eq!(seen, changes(&scratch, true, []));
        let seen = known.look(&files, touched(&scratch, true, ["a"]), |_| ());
        assert_eq!(seen, Changes::default(), "it was known to be gone");
    }

    #[test]
    fn a_directory_stands_for_what_is_below_it_and_for_nothing_beside() {
        let scratch = Scratch::with(&["d/a", "d/e/b", "d.txt", "d2/c"]);
        let files = scratch.files();
        let mut known = known(&files);
        fs::rename(scratch.path("d"), scratch.path("new")).expect("it can be moved");
        let mut entered = Vec::new();
        let seen =
            known.look(&files, touched(&scratch, true, ["d", "new"]), |entry| entered.push(entry.to_owned()));
        assert_eq!(seen, changes(&scratch, true, ["new/a", "new/e/b"]));
        assert_eq!(entered, [scratch.path("new"), scratch.path("new/e")]);
        fs::create_dir(scratch.path("empty")).expect("a directory");
        let seen = known.look(&files, touched(&scratch, true, ["empty"]), |_| ());
        assert_eq!(seen, Changes::default(), "an empty directory has no files");
    }

    #[test]
    fn what_is_not_served_changes_nothing() {
        let scratch = Scratch::with(&["in/a", "out"]);
        let files = Files::new(&scratch.path("in")).expect("it is a directory");
        let mut known = known(&files);
        scratch.write("in/.git/index", "");
        let seen = known.look(&files, touched(&scratch, true, ["in/.git", "in/.git/index", "out"]), |_| ());
        assert_eq!(seen, Changes::default());
    }

    #[test]
    fn all_are_gone_with_the_directory() {
        let scratch = Scratch::with(&["in/a", "in/d/b"]);
        let files = Files::new(&scratch.path("in")).expect("it is a directory");
        let mut known = known(&files);
        fs::remove_dir_all(scratch.path("in")).expect("it is there");
        let seen = known.look(&files, touched(&scratch, true, ["in"]), |_| ());
        assert_eq!(seen, changes(&scratch, true, []));
    }
}
