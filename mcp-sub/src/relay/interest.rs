//! Which topics the streams of this process have a use for.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
};

use tokio::{sync::Notify, time::Instant};

use super::Topic;
use crate::sync::lock;

#[derive(Debug, Default)]
pub(super) struct Interest {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    wanted: HashMap<Topic, Wanted>,
    followed: HashSet<Topic>,
}

#[derive(Debug)]
struct Wanted {
    uris: usize,
    /// Since when there is one.
    since: Instant,
}

impl Interest {
    /// A URI is honoured that was not.
    pub(super) fn gained(&self, uri: &str) {
        let is_new = {
            let mut state = lock(&self.state);
            let topic = Topic::of(uri);
            let wanted =
                state.wanted.entry(topic).or_insert_with(|| Wanted { uris: 0, since: Instant::now() });
            wanted.uris += 1;
            wanted.uris == 1 && !state.followed.contains(&topic)
        };
        if is_new {
            self.changed.notify_one();
        }
    }

    /// It is no more. Its topic is followed a little longer: until [`excess`](Self::excess) is asked for.
    pub(super) fn lost(&self, uri: &str) {
        let mut state = lock(&self.state);
        let topic = Topic::of(uri);
        if let Some(wanted) = state.wanted.get_mut(&topic) {
            wanted.uris -= 1;
            if wanted.uris == 0 {
                state.wanted.remove(&topic);
            }
        }
    }

    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Since when a topic matters, if it does.
    pub(super) fn since(&self, topic: Topic) -> Option<Instant> {
        lock(&self.state).wanted.get(&topic).map(|wanted| wanted.since)
    }

    /// What to follow that is not followed.
    pub(super) fn lack(&self) -> Vec<Topic> {
        let state = lock(&self.state);
        state.wanted.keys().filter(|topic| !state.followed.contains(topic)).copied().collect()
    }

    /// What is followed for nobody.
    pub(super) fn excess(&self) -> Vec<Topic> {
        let state = lock(&self.state);
        state.followed.iter().filter(|topic| !state.wanted.contains_key(topic)).copied().collect()
    }

    pub(super) fn followed(&self, more: &[Topic], less: &[Topic]) {
        let mut state = lock(&self.state);
        state.followed.extend(more);
        for topic in less {
            state.followed.remove(topic);
        }
    }

    /// How many topics are followed.
    pub(super) fn len(&self) -> usize {
        lock(&self.state).followed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_topic_is_followed_while_a_uri_of_it_is_honoured() {
        let interest = Interest::default();
        let topic = Topic::of("x:a");
        interest.gained("x:a");
        interest.changed().await;
        assert_eq!((interest.lack(), interest.excess()), (vec![topic], vec![]));
        interest.followed(&[topic], &[]);
        interest.gained("x:a");
        interest.lost("x:a");
        assert_eq!((interest.lack(), interest.excess()), (vec![], vec![]));
        interest.lost("x:a");
        assert_eq!((interest.since(topic), interest.excess()), (None, vec![topic]));
        interest.followed(&[], &[topic]);
        assert_eq!((interest.len(), interest.excess()), (0, vec![]));
    }
}
