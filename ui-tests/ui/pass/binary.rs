//! Nothing is `pub`, and nobody but the runtime calls the methods: no code is dead, and no field is never read.
#![deny(warnings)]

use mcp_sub::{Channel, CloseReason, Filter, Rejection, Subscriptions, subscription_handler};

struct Saved {
    uri: String,
}
struct Moved(String);
enum Installed {
    Tool,
    Prompt { name: String },
}

struct Seen {
    files: u64,
}

struct Files {
    root: String,
    most: u64,
}

#[subscription_handler]
impl Files {
    async fn subscribe(&self, filter: &mut Filter<'_>) -> Result<Seen, Rejection> {
        filter.retain_resources(|uri| uri.starts_with(&self.root));
        Ok(Seen { files: 0 })
    }

    #[emits(resources_updated)]
    async fn saved(&self, event: &Saved, channel: &mut Channel<'_>, seen: &mut Seen) {
        seen.files += 1;
        if seen.files < self.most {
            channel.resources_updated(&event.uri);
        }
    }

    #[emits(resources_updated)]
    fn moved(&self, Moved(uri): &Moved, channel: &mut Channel<'_>) {
        channel.resources_updated(uri);
    }

    #[emits(tools_list_changed, prompts_list_changed)]
    fn installed(&self, event: &Installed, channel: &mut Channel<'_>) {
        match event {
            Installed::Tool => channel.tools_list_changed(),
            Installed::Prompt { name } if name.is_empty() => {}
            Installed::Prompt { .. } => channel.prompts_list_changed(),
        }
    }

    async fn handle_close(&self, reason: CloseReason, seen: Seen) {
        println!("{reason} after {}", seen.files);
    }
}

fn main() {
    let files = Files { root: String::from("file:///"), most: 9 };
    let subscriptions = Subscriptions::builder(files).build();
    let uri = String::from("file:///a");
    subscriptions.publish_for(&uri, Saved { uri: uri.clone() });
    subscriptions.publish(Moved(uri));
    subscriptions.publish(Installed::Tool);
    subscriptions.publish(Installed::Prompt { name: String::new() });
}
