//! How many streams there may be, and whose.

use std::{future::Future, sync::Arc};

use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use tokio::runtime::Handle;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use super::Registry;
use crate::{
    ending::CloseReason, handle::SubscriptionHandle, protocol::error::Error, rejection::Rejection, sync::lock,
};

/// A stream that was admitted, `subscribe` and all.
pub(super) struct Admitted {
    principal: Option<Arc<str>>,
    handle: SubscriptionHandle,
}

impl Registry {
    /// Admits one more stream, or says which limit forbids it.
    ///
    /// Called inside a tokio runtime.
    pub(crate) fn admit(self: &Arc<Self>, principal: Option<String>) -> Result<Permit, Rejection> {
        self.start_sweeper();
        let mut state = lock(&self.state);
        if state.shutdown.is_some() {
            return Err(shutting_down());
        }
        if state.admitted.len() >= self.limits.streams {
            return Err(too_many_streams(self.limits.streams));
        }
        let principal: Option<Arc<str>> = principal.map(Into::into);
        if let (Some(principal), Some(limit)) = (&principal, self.limits.streams_per_principal) {
            let count = state.principals.get(principal).copied().unwrap_or_default();
            if count >= limit {
                let message = format!("this caller is at its limit of {limit} open streams");
                return Err(at_limit(StatusCode::TOO_MANY_REQUESTS, "streams_per_principal", message));
            }
            state.principals.insert(principal.clone(), count + 1);
        }
        let (key, handle) = (state.next_key, SubscriptionHandle::new());
        state.next_key += 1;
        state.admitted.insert(key, Admitted { principal: principal.clone(), handle: handle.clone() });
        Ok(Permit { registry: self.clone(), key, principal, handle })
    }

    /// Ends all streams of one principal in good order. Returns how many.
    pub(crate) fn end_all(&self, principal: &str, reason: &CloseReason) -> usize {
        let handles: Vec<SubscriptionHandle> = lock(&self.state)
            .admitted
            .values()
            .filter(|admitted| admitted.principal.as_deref() == Some(principal))
            .map(|admitted| admitted.handle.clone())
            .collect();
        for handle in &handles {
            handle.end_for(reason.clone());
        }
        handles.len()
    }

    pub(crate) fn open_streams(&self) -> usize {
        lock(&self.state).admitted.len()
    }

    /// Lets a `subscribe` decide, while the shutdown's budget lasts.
    pub(crate) async fn decide<T>(&self, future: impl Future<Output = T>) -> Result<T, Rejection> {
        self.deciding.run_until_cancelled(future).await.ok_or_else(shutting_down)
    }

    /// Calls `handle_close` of streams that open now. `None` outside of a runtime.
    pub(crate) fn closer(&self) -> Option<Closer> {
        let runtime = Handle::try_current().ok()?;
        Some(Closer { runtime, closing: self.closing.clone(), connection: None })
    }

    /// Makes room, and then tells whoever waits for this end. `None`: it never opened.
    fn release_permit(&self, key: u64, reason: Option<CloseReason>) {
        let gone = {
            let mut state = lock(&self.state);
            let Some(admitted) = state.admitted.remove(&key) else { return };
            if let Some(reason) = &reason {
                state.totals.closed(reason.name());
            }
            if let Some(principal) = &admitted.principal
                && let Some(count) = state.principals.get_mut(principal)
            {
                *count -= 1;
                if *count == 0 {
                    state.principals.remove(principal);
                }
            }
            admitted
        };
        gone.handle.close(reason);
        self.changed.notify_waiters();
    }
}

fn shutting_down() -> Rejection {
    unavailable("shutdown", "the server is shutting down".into())
}

pub(crate) fn too_many_streams(limit: usize) -> Rejection {
    unavailable("streams", format!("the server is at its limit of {limit} open streams"))
}

fn unavailable(limit: &str, message: String) -> Rejection {
    at_limit(StatusCode::SERVICE_UNAVAILABLE, limit, message)
}

fn at_limit(status: StatusCode, limit: &str, message: String) -> Rejection {
    let error = Error::at_limit(limit, message);
    Rejection::from_error(status, error).with_header(RETRY_AFTER, HeaderValue::from_static("5"))
}

pub(crate) fn subscribe_timed_out() -> Rejection {
    unavailable("subscribe_timeout", "the server could not decide about this subscription in time".into())
}

/// One of the streams that may be open. Dropping it makes room.
pub(crate) struct Permit {
    registry: Arc<Registry>,
    key: u64,
    principal: Option<Arc<str>>,
    handle: SubscriptionHandle,
}

impl Permit {
    pub(crate) fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    pub(crate) fn handle(&self) -> &SubscriptionHandle {
        &self.handle
    }

    /// Its subscription was accepted, and has ended. From now on there is room.
    pub(crate) fn close(&self, reason: CloseReason) {
        self.registry.release_permit(self.key, Some(reason));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.registry.release_permit(self.key, None);
    }
}

/// Calls `handle_close`, wherever a stream happens to end.
#[derive(Clone)]
pub(crate) struct Closer {
    runtime: Handle,
    closing: TaskTracker,
    /// The calls of one connection, which waits for them before it ends.
    connection: Option<TaskTracker>,
}

impl Closer {
    /// Says whose connection it is.
    pub(crate) fn of(self, connection: &TaskTracker) -> Self {
        Self { connection: Some(connection.clone()), ..self }
    }

    /// As long as this is held, a shutdown waits for what will be spawned, and so does the connection.
    pub(crate) fn hold(&self) -> (TaskTrackerToken, Option<TaskTrackerToken>) {
        (self.closing.token(), self.connection.as_ref().map(TaskTracker::token))
    }

    pub(crate) fn spawn(&self, close: impl Future<Output = ()> + Send + 'static) {
        let connection = self.connection.as_ref().map(TaskTracker::token);
        let close = async move {
            close.await;
            drop(connection);
        };
        self.closing.spawn_on(close, &self.runtime);
    }
}
