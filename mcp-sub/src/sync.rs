//! Locks that outlive a panic, and wakers that may.
//!
//! No foreign code runs while one of ours is held, and each critical section leaves its data whole at every step
//! that can fail, so a poisoned lock says nothing about the data.
//!
//! The types stand here so that a model runs the very code that it is about on loom's: see CONTRIBUTING.md.

#[cfg(not(all(test, mcp_sub_loom)))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU64},
};
use std::{panic::AssertUnwindSafe, sync::PoisonError, task::Waker, thread};

#[cfg(all(test, mcp_sub_loom))]
pub(crate) use loom::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU64},
};
#[cfg(not(all(test, mcp_sub_loom)))]
pub(crate) use tokio::sync::Notify;

#[cfg(all(test, mcp_sub_loom))]
pub(crate) use crate::models::Notify;

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// A waker is foreign code: one that panics keeps nobody else asleep. Not to be called under a lock.
pub(crate) fn wake(waker: Waker) {
    if catch_unwind(|| waker.wake()).is_err() {
        tracing::error!("a waker panicked");
    }
}

/// Runs foreign code, whose panic is an outcome.
pub(crate) fn catch_unwind<R>(foreign: impl FnOnce() -> R) -> thread::Result<R> {
    // A model fails by a panic, wherever its thread happens to be.
    if cfg!(all(test, mcp_sub_loom)) {
        return Ok(foreign());
    }
    std::panic::catch_unwind(AssertUnwindSafe(foreign))
}
