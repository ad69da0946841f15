//! A valid listen, with something done to its bytes.

use http::{Method, Uri};
use libfuzzer_sys::arbitrary::{Result, Unstructured};

use super::{case::Parts, compose};

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"é-7","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","x:é","file:///a"]}}}"#;

const PIECES: [&[u8]; 18] = [
    b"null",
    b"-1",
    b"1e999",
    b"12345678901234567890123456789",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\"",
    b",",
    b":",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xc3\xa9",
    b"\"id\":8,",
    b"\"_meta\":{},",
    b"0",
];

pub(super) fn listen(u: &mut Unstructured<'_>) -> Result<Parts> {
    let headers = compose::headers(u, "subscriptions/listen")?;
    let mut body = LISTEN.as_bytes().to_vec();
    while !u.is_empty() && !body.is_empty() {
        let at = u.choose_index(body.len())?;
        let end = (at + usize::from(u.arbitrary::<u8>()? % 64)).min(body.len());
        match u.arbitrary::<u8>()? % 6 {
            0 => drop(body.splice(at..at, u.choose(&PIECES)?.iter().copied())),
            1 => drop(body.splice(at..end, u.choose(&PIECES)?.iter().copied())),
            2 => drop(body.drain(at..end)),
            3 => {
                let copy = body[at..end].to_vec();
                let to = u.choose_index(body.len())?;
                body.splice(to..to, copy);
            }
            4 => body[at] = u.arbitrary()?,
            _ => body[at] ^= 1 << (u.arbitrary::<u8>()? % 8),
        }
    }
    Ok((Method::POST, Uri::from_static("/mcp"), headers, body))
}
