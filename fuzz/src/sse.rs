//! Server-sent events, as strictly as they are promised: an event is one `data` line, anything else is a comment.

/// The texts of all messages in `chunk`.
///
/// # Panics
///
/// If there is anything else, or the chunk ends within an event.
pub(crate) fn messages(chunk: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(chunk).expect("events are UTF-8");
    let mut messages = Vec::new();
    let mut rest = text;
    assert!(!rest.is_empty(), "no chunk is empty: it would end the body");
    while !rest.is_empty() {
        let (event, after) = rest.split_once("\n\n").expect("a chunk ends with a whole event");
        assert!(!event.contains(['\n', '\r', '\0']), "an event is one line: {event:?}");
        if !event.starts_with(':') {
            messages.push(event.strip_prefix("data: ").expect("nothing but comments and messages"));
        }
        rest = after;
    }
    messages
}
