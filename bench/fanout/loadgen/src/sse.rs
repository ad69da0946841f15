//! Decodes a response as it comes: the head, the chunks of HTTP/1.1, and the `data` of each SSE event.
//!
//! Lines end with LF or CRLF. A lone CR, which SSE allows as well, is not taken for an end: no server here writes it.

use std::borrow::Cow;

use memchr::{memchr, memmem};

#[derive(Debug, PartialEq)]
enum State {
    Head,
    /// The line with a chunk's size.
    Size,
    /// So many bytes of a chunk are left.
    Chunk(usize),
    /// The line end after a chunk.
    ChunkEnd,
    Ended,
}

pub struct Decoder {
    state: State,
    /// The head or the line of a chunk's size, as far as it has come.
    framing: Vec<u8>,
    /// The line of the event, as far as it has come.
    line: Vec<u8>,
    data: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self { state: State::Head, framing: Vec::new(), line: Vec::new(), data: Vec::new() }
    }

    /// Takes bytes, and gives the data of each event that is complete to `on_event`. `Ok(true)`: the body has ended.
    pub fn feed(&mut self, mut input: &[u8], on_event: &mut impl FnMut(&[u8])) -> Result<bool, String> {
        while !input.is_empty() {
            match self.state {
                State::Head => {
                    self.framing.extend_from_slice(input);
                    let Some(end) = memmem::find(&self.framing, b"\r\n\r\n") else { return Ok(false) };
                    let rest = self.framing.split_off(end + 4);
                    check_head(&self.framing, &rest)?;
                    self.framing.clear();
                    self.state = State::Size;
                    return self.feed(&rest, on_event);
                }
                State::Size => {
                    let Some(line) = take_line(&mut self.framing, &mut input) else { break };
                    let size = line.split(|&byte| byte == b';').next().unwrap_or_default();
                    let size = std::str::from_utf8(size).ok().map(str::trim);
                    let size = size
                        .and_then(|size| usize::from_str_radix(size, 16).ok())
                        .ok_or("a bad chunk size")?;
                    self.state = if size == 0 { State::Ended } else { State::Chunk(size) };
                }
                State::Chunk(left) => {
                    let (part, rest) = input.split_at(left.min(input.len()));
                    self.lines(part, on_event);
                    input = rest;
                    self.state =
                        if part.len() == left { State::ChunkEnd } else { State::Chunk(left - part.len()) };
                }
                State::ChunkEnd => {
                    let Some(line) = take_line(&mut self.framing, &mut input) else { break };
                    if !line.is_empty() {
                        return Err("a chunk that is longer than its size".to_owned());
                    }
                    self.state = State::Size;
                }
                State::Ended => break,
            }
        }
        Ok(self.state == State::Ended)
    }

    fn lines(&mut self, mut part: &[u8], on_event: &mut impl FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', part) {
            if self.line.is_empty() {
                // Nearly always: nothing is copied.
                line(&mut self.data, &part[..end], on_event);
            } else {
                self.line.extend_from_slice(&part[..end]);
                line(&mut self.data, &self.line, on_event);
                self.line.clear();
            }
            part = &part[end + 1..];
        }
        self.line.extend_from_slice(part);
    }
}

/// Takes one line, once it is complete, without its end.
fn take_line<'a>(begun: &mut Vec<u8>, input: &mut &'a [u8]) -> Option<Cow<'a, [u8]>> {
    let Some(end) = memchr(b'\n', input) else {
        begun.extend_from_slice(input);
        *input = &[];
        return None;
    };
    let (line, rest) = (&input[..end], &input[end + 1..]);
    *input = rest;
    if begun.is_empty() {
        // Nearly always: nothing is copied.
        return Some(line.strip_suffix(b"\r").unwrap_or(line).into());
    }
    let mut line = [std::mem::take(begun).as_slice(), line].concat();
    line.pop_if(|last| *last == b'\r');
    Some(line.into())
}

/// One line of an event; an empty one ends it.
fn line(data: &mut Vec<u8>, line: &[u8], on_event: &mut impl FnMut(&[u8])) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if let Some(value) = line.strip_prefix(b"data:") {
        if !data.is_empty() {
            data.push(b'\n');
        }
        data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
    } else if line.is_empty() && !data.is_empty() {
        on_event(data);
        data.clear();
    }
}

fn check_head(head: &[u8], body: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let has = |name: &str, value: &str| {
        let mut headers = text.lines().filter_map(|line| line.split_once(':'));
        headers.any(|(header, found)| header == name && found.trim().starts_with(value))
    };
    if text.starts_with("http/1.1 200 ")
        && has("content-type", "text/event-stream")
        && has("transfer-encoding", "chunked")
    {
        return Ok(());
    }
    let status = text.lines().next().unwrap_or_default();
    Err(format!("no stream of events: {status} {}", String::from_utf8_lossy(body).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

    fn events(input: &[u8], step: usize) -> (Vec<String>, bool) {
        let (mut decoder, mut events, mut ended) = (Decoder::new(), Vec::new(), false);
        for part in input.chunks(step) {
            let mut keep = |data: &[u8]| events.push(String::from_utf8(data.to_vec()).unwrap());
            ended = decoder.feed(part, &mut keep).unwrap();
        }
        (events, ended)
    }

    #[test]
    fn however_it_is_cut_the_events_are_the_same() {
        let mut input = HEAD.to_vec();
        let chunks = [
            "event: message\r\ndata: abc\r\n\r\n",
            ": ping\n\n",
            "data:one\ndata: two\n\n",
            "da",
            "ta: x\n",
            "\n",
        ];
        for chunk in chunks {
            input.extend_from_slice(format!("{:x};an=extension\r\n{chunk}\r\n", chunk.len()).as_bytes());
        }
        input.extend_from_slice(b"0\r\n\r\n");
        let expected = ["abc", "one\ntwo", "x"].map(str::to_owned).to_vec();
        for step in 1..=input.len() {
            assert_eq!(events(&input, step), (expected.clone(), true), "{step} bytes at a time");
        }
    }

    #[test]
    fn what_is_no_stream_of_events_is_an_error() {
        let wrong_size = [HEAD, b"3\r\ndata: a\n\n\r\n"].concat();
        assert!(Decoder::new().feed(&wrong_size, &mut |_| {}).is_err());
        let refused = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n{}";
        assert!(Decoder::new().feed(refused, &mut |_| {}).is_err());
    }
}
