//! The files of one directory: which there are, what is in them, and what is none of them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File, Metadata},
    io::{self, Read},
    ops::Bound,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use crate::uri;

/// The largest file that is served.
pub(crate) const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The regular files in a directory and those below it.
///
/// Each has one URI, that of its real path. Symbolic links are not followed: a file inside is listed in its own place
/// already, and one outside is none of ours. `.git` is left out. Everything here asks the disk, and blocks.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    root: Arc<Path>,
    root_uri: Arc<str>,
}

/// What tells that a file is not what it was.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    modified: Option<SystemTime>,
}

#[derive(Debug)]
pub(crate) enum ReadError {
    NotFound,
    /// It has this many bytes, or more.
    TooLarge(u64),
    Failed(io::Error),
}

impl Files {
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        let root = directory.canonicalize()?;
        // Says what is wrong where it is no directory, or may not be read.
        fs::read_dir(&root)?;
        Ok(Self { root_uri: uri::encode(&root).into(), root: root.into() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the directory is still there.
    pub(crate) fn exist(&self) -> bool {
        self.root.is_dir() && is_real(&self.root)
    }

    /// The path below the root, to show.
    pub(crate) fn name(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/")
    }

    /// The path that a URI of ours stands for, whether or not there is a file.
    pub(crate) fn path(&self, uri: &str) -> Option<PathBuf> {
        let relative = uri.strip_prefix(&*self.root_uri)?.strip_prefix('/')?;
        let path = self.root.join(uri::decode(relative)?);
        // `..`, a second slash, an encoded one, another spelling: no path has such a URI.
        (uri::encode(&path) == uri && self.covers(&path)).then_some(path)
    }

    /// Whether a file at this path would be one of ours.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        let served = |component| matches!(component, Component::Normal(name) if name != ".git");
        path.strip_prefix(&self.root).is_ok_and(|below| below.components().all(served))
    }

    /// Whether there is such a file, and it can be read.
    pub(crate) fn can_read(&self, uri: &str) -> bool {
        self.open(uri).is_ok()
    }

    pub(crate) fn read(&self, uri: &str) -> Result<Vec<u8>, ReadError> {
        let (file, size) = self.open(uri)?;
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(ReadError::Failed)?;
        let read = bytes.len() as u64;
        if read > MAX_BYTES { Err(ReadError::TooLarge(size.max(read))) } else { Ok(bytes) }
    }

    fn open(&self, uri: &str) -> Result<(File, u64), ReadError> {
        let path = self.path(uri).filter(|path| is_real(path)).ok_or(ReadError::NotFound)?;
        let metadata = fs::symlink_metadata(&path).map_err(|_| ReadError::NotFound)?;
        if !metadata.is_file() {
            return Err(ReadError::NotFound);
        }
        match File::open(path) {
            Ok(file) => Ok((file, metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ReadError::NotFound),
            Err(error) => Err(ReadError::Failed(error)),
        }
    }

    /// Those that come after a path, at most `count`, in the order of their paths; and whether there are more.
    pub(crate) fn page(&self, after: Option<&Path>, count: usize) -> (Vec<(PathBuf, Stamp)>, bool) {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let files = self.at(&self.root, |_| ());
        let mut rest = files.range::<Path, _>((after, Bound::Unbounded));
        let page = rest.by_ref().take(count).map(|(path, stamp)| (path.clone(), stamp.clone())).collect();
        (page, rest.next().is_some())
    }

    /// The file at `top`, or the files below it. `enter` is called for each directory before it is read.
    pub(crate) fn at(&self, top: &Path, mut enter: impl FnMut(&Path)) -> BTreeMap<PathBuf, Stamp> {
        let mut files = BTreeMap::new();
        // A directory on the way may have become a link that leads out.
        let mut unread = if self.covers(top) && is_real(top) { vec![top.to_owned()] } else { Vec::new() };
        while let Some(path) = unread.pop() {
            // Whatever cannot be read is left out; much of it has just gone.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_file() {
                files.insert(path, Stamp::of(&metadata));
            } else if metadata.is_dir() {
                enter(&path);
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                unread.extend(entries.filter(|entry| entry.file_name() != ".git").map(|entry| entry.path()));
            }
        }
        files
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// Whether no link is on the way, and no other spelling where case does not matter.
fn is_real(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn names(files: &Files, top: &Path) -> Vec<String> {
        files.at(top, |_| ()).keys().map(|path| files.name(path)).collect()
    }

    #[test]
    fn all_but_git_is_listed() {
        let scratch = Scratch::with(&["b", "a/b", "a/.hidden", ".git/HEAD", "a/.git", ".github/x"]);
        let files = scratch.files();
        assert_eq!(names(&files, files.root()), [".github/x", "a/.hidden", "a/b", "b"]);
        assert_eq!(names(&files, &scratch.path("a")), ["a/.hidden", "a/b"]);
        assert_eq!(names(&files, &scratch.path("b")), ["b"]);
        for none in [".git", ".git/HEAD", "a/.git", "missing", ".."] {
            assert!(names(&files, &scratch.path(none)).is_empty(), "{none}");
        }
    }

    #[test]
    fn a_file_is_found_under_one_uri_only() {
        let scratch = Scratch::with(&["a b.txt", "d/e", ".git/HEAD"]);
        let files = scratch.files();
        let root = uri::encode(files.root());
        assert_eq!(files.read(&format!("{root}/a%20b.txt")).ok(), Some(b"a b.txt".to_vec()));
        assert!(files.can_read(&format!("{root}/d/e")));
        for other in [
            "",
            "/",
            "/d",
            "/d/",
            "/d/e/",
            "/d//e",
            "//d/e",
            "/./d/e",
            "/d/../d/e",
            "/d%2Fe",
            "/%64/e",
            "/a b.txt",
            "/missing",
            "/.git/HEAD",
            "/d/e%00",
            "/d/e?",
            "/d/e#x",
            "x/d/e",
            "/%FF",
            "/%",
            "/%zz",
        ] {
            let uri = format!("{root}{other}");
            assert!(matches!(files.read(&uri), Err(ReadError::NotFound)), "{uri}");
        }
        for uri in ["", "file:", "file:///", "d/e", &root.replace("file://", "FILE://"), "http://x/d/e"] {
            assert!(!files.can_read(uri), "{uri}");
        }
    }

    #[test]
    fn nothing_outside_is_found() {
        let scratch = Scratch::with(&["in/a", "secret"]);
        let files = Files::new(&scratch.path("in")).expect("it is a directory");
        let root = uri::encode(files.root());
        let absolute = uri::encode(&scratch.path("secret"));
        let encoded = absolute.replacen("file://", "", 1).replace('/', "%2F");
        for uri in [
            absolute,
            format!("{root}/../secret"),
            format!("{root}/%2e%2e/secret"),
            format!("{root}/..%2Fsecret"),
            format!("{root}/{encoded}"),
        ] {
            assert!(!files.can_read(&uri), "{uri}");
        }
        assert!(names(&files, &scratch.path("secret")).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_wherever_it_leads() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::with(&["in/a", "in/d/b", "out/secret"]);
        let root = scratch.path("in");
        let files = Files::new(&root).expect("it is a directory");
        for (target, link) in
            [("a", "l1"), ("d", "l2"), (".", "l3"), ("../out", "l4"), ("../out/secret", "l5")]
        {
            symlink(target, root.join(link)).expect("a link");
        }
        assert_eq!(names(&files, files.root()), ["a", "d/b"]);
        for path in ["l1", "l2/b", "l3/a", "l4/secret", "l5"].map(|path| root.join(path)) {
            assert!(!files.can_read(&uri::encode(&path)), "{}", path.display());
            assert!(names(&files, &path).is_empty(), "{}", path.display());
        }
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let scratch = Scratch::with(&["large", "limit"]);
        for (name, size) in [("large", MAX_BYTES + 1), ("limit", MAX_BYTES)] {
            File::create(scratch.path(name)).and_then(|file| file.set_len(size)).expect("a sparse file");
        }
        let read = |name| scratch.files().read(&uri::encode(&scratch.path(name)));
        assert!(matches!(read("large"), Err(ReadError::TooLarge(size)) if size == MAX_BYTES + 1));
        assert!(read("limit").is_ok_and(|bytes| bytes.len() as u64 == MAX_BYTES));
    }

    #[test]
    fn a_directory_may_be_gone_and_come_back() {
        let scratch = Scratch::with(&["d/a"]);
        let files = Files::new(&scratch.path("d")).expect("it is a directory");
        assert!(files.exist());
        fs::rename(scratch.path("d"), scratch.path("e")).expect("it can be moved");
        assert!(!files.exist() && names(&files, files.root()).is_empty());
        scratch.write("d/b", "");
        assert!(files.exist());
        assert_eq!(names(&files, files.root()), ["b"]);
        assert!(Files::new(&scratch.path("e/a")).is_err(), "a file is no directory");
    }
}
