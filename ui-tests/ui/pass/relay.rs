//! Events that go to other processes: of any shape that serde can write, of a generic handler, under a `cfg`, by a raw name.

use mcp_sub::{
    Channel, Rejection, Subscriptions,
    relay::{EncodedEvent, RelayedHandler},
    subscription_handler,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[derive(Serialize, Deserialize)]
pub struct Installed;

#[derive(Serialize, Deserialize)]
pub struct Saved<K> {
    uri: String,
    key: K,
}

/// Not written at all: no method takes it.
#[derive(Serialize, Deserialize)]
pub enum Moved {
    Here,
}

pub struct Files<K>(K);

#[subscription_handler(relay, event = FilesEvent)]
impl<K: Serialize + DeserializeOwned + Send + Sync + 'static> Files<K> {
    fn subscribe(&self) -> Result<(), Rejection> {
        Ok(())
    }

    #[emits(tools_list_changed)]
    fn r#move(&self, _: &Installed, channel: &mut Channel<'_>) {
        channel.tools_list_changed();
    }

    #[emits(resources_updated)]
    async fn saved(&self, event: &Saved<K>, channel: &mut Channel<'_>) {
        channel.resources_updated(&event.uri);
    }

    #[cfg(any())]
    #[emits(resources_updated)]
    fn moved(&self, _: &Moved, channel: &mut Channel<'_>) {
        channel.resources_updated("x:a");
    }
}

fn attachable<H: RelayedHandler>(_: &Subscriptions<H>) {}

fn main() {
    attachable(&Subscriptions::builder(Files(0_u8)).build());
    let saved = FilesEvent::<u8>::saved(Saved { uri: "x:a".into(), key: 7 });
    let encoded = Files::<u8>::encode(&saved).unwrap();
    assert_eq!((encoded.name(), encoded.json()), ("saved", r#"{"uri":"x:a","key":7}"#));
    assert!(matches!(Files::<u8>::decode(&encoded), Some(Ok(FilesEvent::saved(Saved { key: 7, .. })))));
    let encoded = Files::<u8>::encode(&FilesEvent::r#move(Installed)).unwrap();
    assert_eq!(encoded.name(), "move");
    assert!(Files::<u8>::decode(&EncodedEvent::of("moved", &Moved::Here).unwrap()).is_none());
    assert!(matches!(Files::<u8>::decode(&EncodedEvent::of("saved", &1).unwrap()), Some(Err(_))));
}
