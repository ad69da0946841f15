//! The command line.

use std::{ffi::OsString, path::PathBuf};

pub(crate) const USAGE: &str = "usage: workspace DIR [--port N]";

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) directory: PathBuf,
    /// 0 takes any that is free.
    pub(crate) port: u16,
}

impl Options {
    /// `None` where somebody asks for help.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut arguments = arguments.into_iter();
        let (mut directory, mut port) = (None, 8000);
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("-h" | "--help") => return Ok(None),
                Some("--port") => {
                    let number = arguments.next().and_then(|number| number.to_str()?.parse().ok());
                    port = number.ok_or("`--port` needs a number from 0 to 65535")?;
                }
                Some(option) if option.starts_with('-') => {
                    return Err(format!("there is no option `{option}`"));
                }
                _ if directory.is_some() => return Err("there is more than one DIR".into()),
                _ => directory = Some(argument.into()),
            }
        }
        let directory = directory.ok_or("DIR is missing")?;
        Ok(Some(Self { directory, port }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>, String> {
        Options::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_directory_and_perhaps_a_port() {
        let options = |port| Ok(Some(Options { directory: "d".into(), port }));
        assert_eq!(parse("d"), options(8000));
        assert_eq!(parse("d --port 9"), options(9));
        assert_eq!(parse("--port 0 d"), options(0));
        assert_eq!(parse("d --help"), Ok(None));
    }

    #[test]
    fn anything_else_is_refused() {
        for line in ["", "--port 8000", "d --port", "d --port x", "d --port 65536", "d e", "d -x"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
