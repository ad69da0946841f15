//! What a server is set to.

use std::{fmt, sync::Arc, time::Duration};

use crate::{caller::Caller, limits::Limits, window::Windows};

/// The outcome of a [`Builder`](crate::Builder).
pub(crate) struct Settings {
    /// An `Implementation`, as JSON.
    pub(crate) server_info: Option<Arc<str>>,
    pub(crate) instructions: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) keep_alive: Option<Duration>,
    pub(crate) hosts: Hosts,
    /// `None`: those on loopback.
    pub(crate) origins: Option<Vec<String>>,
    pub(crate) hold_empty: bool,
    pub(crate) stdio_cancelled: bool,
    pub(crate) principal: Option<Principal>,
    pub(crate) windows: Windows,
}

/// Says who a caller is.
pub(crate) type Principal = Box<dyn Fn(&Caller) -> Option<String> + Send + Sync>;

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("server_info", &self.server_info)
            .field("limits", &self.limits)
            .field("keep_alive", &self.keep_alive)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("hold_empty", &self.hold_empty)
            .field("stdio_cancelled", &self.stdio_cancelled)
            .field("windows", &self.windows)
            .finish_non_exhaustive()
    }
}

/// Whom a request may be addressed to.
#[derive(Debug)]
pub(crate) enum Hosts {
    Loopback,
    Listed(Vec<String>),
    Any,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            server_info: None,
            instructions: None,
            limits: Limits::default(),
            keep_alive: Some(Duration::from_secs(15)),
            hosts: Hosts::Loopback,
            origins: None,
            hold_empty: false,
            stdio_cancelled: false,
            principal: None,
            windows: Windows::default(),
        }
    }
}
