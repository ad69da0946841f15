//! Events as bytes.

use std::error::Error;

use serde::{Serialize, de::DeserializeOwned};

use crate::handler::SubscriptionHandler;

/// A handler whose events can go to other processes. `#[subscription_handler(relay)]` implements it where all events are
/// `Serialize` and `DeserializeOwned`; [`ListChanges`](crate::ListChanges) has it.
///
/// An event goes by the name of its method, so that replicas of two versions understand each other as long as names and
/// fields do. What one does not know is counted, and the streams that it concerns get a catch-up.
#[diagnostic::on_unimplemented(
    message = "the events of `{Self}` cannot go to other processes",
    note = "write `#[subscription_handler(relay)]`"
)]
pub trait RelayedHandler: SubscriptionHandler {
    /// The event, by a name and as JSON.
    ///
    /// # Errors
    ///
    /// If it cannot be written. Then it is not relayed, and the streams of the other processes get a catch-up for it.
    fn encode(event: &Self::Event) -> Result<EncodedEvent<'static>, EventError>;

    /// The event again, or `None` if no event has this name. Then the streams that it concerns get a catch-up.
    ///
    /// # Errors
    ///
    /// If it cannot be read. Likewise.
    fn decode(encoded: &EncodedEvent<'_>) -> Option<Result<Self::Event, EventError>>;
}

/// Why an event could not be written or read.
pub type EventError = Box<dyn Error + Send + Sync>;

/// An event between processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEvent<'a> {
    name: &'a str,
    json: std::borrow::Cow<'a, str>,
}

impl<'a> EncodedEvent<'a> {
    pub(crate) fn new(name: &'a str, json: &'a str) -> Self {
        Self { name, json: json.into() }
    }

    /// Writes a value under a name.
    ///
    /// # Errors
    ///
    /// Those of the value's `Serialize`.
    pub fn of<T: Serialize>(name: &'a str, value: &T) -> Result<Self, EventError> {
        Ok(Self { name, json: serde_json::to_string(value)?.into() })
    }

    /// By which the other process knows what it is.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its value, as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// If it is not a `T`.
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, EventError> {
        Ok(serde_json::from_str(&self.json)?)
    }
}
