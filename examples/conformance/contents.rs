//! The smallest contents of each kind.

use rmcp::model::{ContentBlock, ResourceContents};

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A header, and not one sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

pub(crate) fn text(text: impl Into<String>) -> ContentBlock {
    ContentBlock::text(text)
}

pub(crate) fn image() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

pub(crate) fn audio() -> ContentBlock {
    ContentBlock::audio(WAV, "audio/wav")
}

pub(crate) fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
}
