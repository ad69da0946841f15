//! What the fuzz targets share: a handler that does as it is told, and readers that owe nothing to the library.

mod body;
pub mod events;
mod json;
pub mod lines;
mod message;
mod probe;
pub mod request;
mod runtime;
mod sse;

pub use runtime::expect_panics_as_told;
