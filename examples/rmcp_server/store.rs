//! What there is: notes, and the tools that are installed. Nothing here knows of MCP.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A tool that can be installed.
pub(crate) struct TextTool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) run: fn(&str) -> String,
}

/// All that can be installed.
pub(crate) const CATALOGUE: [TextTool; 3] = [
    TextTool {
        name: "count_words",
        description: "Counts the words of a text",
        run: |text| text.split_whitespace().count().to_string(),
    },
    TextTool {
        name: "reverse",
        description: "Turns a text around",
        run: |text| text.chars().rev().collect(),
    },
    TextTool { name: "shout", description: "Makes a text loud", run: str::to_uppercase },
];

#[derive(Default)]
pub(crate) struct Store {
    notes: Mutex<BTreeMap<String, String>>,
    installed: Mutex<BTreeSet<&'static str>>,
}

impl Store {
    /// Returns whether that changed anything. `None`: there is no such tool.
    pub(crate) fn install(&self, name: &str) -> Option<bool> {
        let tool = CATALOGUE.iter().find(|tool| tool.name == name)?;
        Some(lock(&self.installed).insert(tool.name))
    }

    /// Returns whether that changed anything.
    pub(crate) fn uninstall(&self, name: &str) -> bool {
        lock(&self.installed).remove(name)
    }

    pub(crate) fn installed(&self) -> Vec<&'static TextTool> {
        let installed = lock(&self.installed);
        CATALOGUE.iter().filter(|tool| installed.contains(tool.name)).collect()
    }

    /// Returns whether the note is new.
    pub(crate) fn write(&self, name: &str, text: &str) -> bool {
        lock(&self.notes).insert(name.to_owned(), text.to_owned()).is_none()
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        lock(&self.notes).get(name).cloned()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        lock(&self.notes).keys().cloned().collect()
    }
}

/// Each change is one call, so what a panic leaves behind is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const SCHEME: &str = "note:///";

/// Names are such that a URI needs no escapes.
pub(crate) fn is_note_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(crate) fn note_uri(name: &str) -> String {
    format!("{SCHEME}{name}")
}

pub(crate) fn note_name(uri: &str) -> Option<&str> {
    uri.strip_prefix(SCHEME).filter(|name| is_note_name(name))
}
