//! `file://` URIs of paths, and back.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf, Prefix},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// All but the unreserved characters of RFC 3986. So a URI fits between any quotes, those of a shell included.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI of an absolute path without `.` and `..`.
pub(crate) fn encode(path: &Path) -> String {
    let mut uri = String::from("file://");
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                uri.push('/');
                uri.extend(percent_encode(name.as_encoded_bytes(), ENCODED));
            }
            Component::Prefix(prefix) => uri.push_str(&drive(prefix.kind())),
            Component::RootDir | Component::CurDir | Component::ParentDir => {}
        }
    }
    uri
}

/// The relative path that is encoded in what follows the URI of a directory and a slash. It may be anything: whoever
/// asks has to see whether its URI is the one he began with.
pub(crate) fn decode(relative: &str) -> Option<PathBuf> {
    os_string(percent_decode_str(relative).collect()).map(PathBuf::from)
}

/// Only on Windows does a path have a prefix.
fn drive(prefix: Prefix<'_>) -> String {
    match prefix {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => format!("/{}:", char::from(letter)),
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            let [server, share] =
                [server, share].map(|name| percent_encode(name.as_encoded_bytes(), ENCODED));
            format!("{server}/{share}")
        }
        Prefix::Verbatim(name) | Prefix::DeviceNS(name) => {
            format!("/{}", percent_encode(name.as_encoded_bytes(), ENCODED))
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not all bytes are a name")]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_only_characters_that_rfc_3986_allows_in_a_path() {
        for (path, uri) in [
            ("/", "file://"),
            ("/a/b.txt", "file:///a/b.txt"),
            ("/a b/ä", "file:///a%20b/%C3%A4"),
            ("/50%/#?[x]", "file:///50%25/%23%3F%5Bx%5D"),
            ("/it's", "file:///it%27s"),
            ("/new\nline", "file:///new%0Aline"),
            ("/-._~", "file:///-._~"),
        ] {
            assert_eq!(encode(Path::new(path)), uri);
            let relative = uri.strip_prefix("file:///").unwrap_or_default();
            assert_eq!(decode(relative), Some(PathBuf::from(&path[1..])), "{uri}");
        }
    }

    #[test]
    fn a_name_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/\xff.txt"));
        assert_eq!(encode(path), "file:///%FF.txt");
        assert_eq!(decode("%FF.txt").as_deref(), path.strip_prefix("/").ok());
    }
}
