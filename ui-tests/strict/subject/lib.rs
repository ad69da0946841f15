//! Handlers in a crate that asks for every lint.

#[rustfmt::skip]
pub mod faulty;
pub mod files;
