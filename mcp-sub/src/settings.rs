//! What a server is set to.

use std::{sync::Arc, time::Duration};

use crate::limits::Limits;

/// The outcome of a [`Builder`](crate::Builder).
#[derive(Debug)]
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
        }
    }
}
