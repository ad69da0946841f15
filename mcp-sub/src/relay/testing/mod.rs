//! What an implementation of [`Bus`](super::Bus) has to pass, and one that runs in memory (feature `relay-testing`).

pub mod contract;
#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod lifetime;
mod memory;
mod probe;
#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod refusing;
#[cfg(test)]
#[cfg(not(mcp_sub_loom))]
mod tests;

pub use self::memory::{Faults, Memory, MemoryBus, MemoryReceiver, MemorySender};
