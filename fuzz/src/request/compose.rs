//! A message put together member by member, mostly right.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};

use super::case::Parts;
use crate::json::quoted;

const METHODS: [&str; 11] = [
    "subscriptions/listen",
    "subscriptions/listen",
    "subscriptions/listen",
    "server/discover",
    "tools/call",
    "resources/read",
    "tools/list",
    "resources/templates/list",
    "initialize",
    "notifications/cancelled",
    "no/such",
];
const VERSION: &str = r#""2026-07-28""#;

/// Once in `count` times, and never where the fuzzer's bytes are used up.
pub(super) fn seldom(u: &mut Unstructured<'_>, count: u8) -> Result<bool> {
    Ok(u8::arbitrary(u)? % count == count - 1)
}

pub(super) fn request(u: &mut Unstructured<'_>) -> Result<Parts> {
    let called = *u.choose(&METHODS)?;
    let headers = headers(u, called)?;
    let http_method = match u.arbitrary::<u8>()? {
        1 => Method::GET,
        2 => Method::DELETE,
        3 => Method::OPTIONS,
        _ => Method::POST,
    };
    let mut body = message(u, called)?;
    if seldom(u, 32)? {
        body = format!("[{body},{}]", message(u, called)?);
    }
    if seldom(u, 32)? {
        let depth = usize::from(u16::arbitrary(u)?);
        body = format!("{}{body}{}", "[".repeat(depth), "]".repeat(depth));
    }
    Ok((http_method, Uri::from_static("/mcp"), headers, body.into_bytes()))
}

fn message(u: &mut Unstructured<'_>, called: &str) -> Result<String> {
    let notifications = notifications(u)?;
    let version = if seldom(u, 8)? { r#""2025-11-25""# } else { VERSION };
    let meta = object(
        u,
        &[
            ("io.modelcontextprotocol/protocolVersion", version),
            ("io.modelcontextprotocol/clientCapabilities", "{}"),
        ],
    )?;
    let params = object(
        u,
        &[("_meta", &meta), ("notifications", &notifications), ("name", r#""x""#), ("uri", r#""a:x""#)],
    )?;
    let id = match u.arbitrary::<u8>()? % 4 {
        0 => i64::arbitrary(u)?.to_string(),
        1 => format!("{}{}", u64::arbitrary(u)?, u64::arbitrary(u)?),
        2 => quoted(<&str>::arbitrary(u)?),
        _ => "7".into(),
    };
    object(u, &[("jsonrpc", r#""2.0""#), ("id", &id), ("method", &quoted(called)), ("params", &params)])
}

fn notifications(u: &mut Unstructured<'_>) -> Result<String> {
    let mut uris = Vec::new();
    for _ in 0..u.arbitrary::<u8>()? % 5 {
        uris.push(if seldom(u, 8)? {
            value(u, 1)?
        } else {
            quoted(&format!("x:{}", <&str>::arbitrary(u)?.replace(char::is_control, "")))
        });
    }
    let uris = format!("[{}]", uris.join(","));
    let flag = |u: &mut Unstructured<'_>| Ok(if u.arbitrary()? { "true" } else { "false" });
    let (tools, prompts, resources) = (flag(u)?, flag(u)?, flag(u)?);
    object(
        u,
        &[
            ("toolsListChanged", tools),
            ("promptsListChanged", prompts),
            ("resourcesListChanged", resources),
            ("resourceSubscriptions", &uris),
        ],
    )
}

/// These members, of which now and then one is missing, twice there, of another name or another value.
fn object(u: &mut Unstructured<'_>, members: &[(&str, &str)]) -> Result<String> {
    let mut written = Vec::new();
    for (name, json) in members {
        let mut name = quoted(name);
        let mut json = (*json).to_owned();
        match u.arbitrary::<u8>()? {
            1..4 => continue,
            4..8 => written.push(format!("{name}:{json}")),
            8..12 => written.push(format!("{name}:{}", value(u, 0)?)),
            12..16 => json = value(u, 0)?,
            16..20 => name = quoted(<&str>::arbitrary(u)?),
            20..24 => name = format!("\"\\u{:04x}{}", name.as_bytes()[1], &name[2..]),
            24 => name = r#""\ud800""#.into(),
            25..28 => json = format!(" \r\n\t{json} "),
            _ => {}
        }
        written.push(format!("{name}:{json}"));
    }
    Ok(format!("{{{}}}", written.join(",")))
}

fn value(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    Ok(match u.arbitrary::<u8>()? % if depth > 4 { 12 } else { 14 } {
        0 => "null".into(),
        1 => "true".into(),
        2 => "false".into(),
        3 => "1.0".into(),
        4 => "1e400".into(),
        5 => "-0".into(),
        6 => u64::arbitrary(u)?.to_string(),
        7 => r#""\ud83d\ude00""#.into(),
        8 => r#""\ud83d""#.into(),
        9 => VERSION.into(),
        10 => "[]".into(),
        11 => quoted(<&str>::arbitrary(u)?),
        12 => format!("[{},{}]", value(u, depth + 1)?, value(u, depth + 1)?),
        _ => {
            let name = quoted(<&str>::arbitrary(u)?);
            format!("{{{name}:{},{name}:{}}}", value(u, depth + 1)?, value(u, depth + 1)?)
        }
    })
}

const NAMES: [&str; 9] = [
    "host",
    "origin",
    "accept",
    "accept-encoding",
    "content-type",
    "content-length",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
];
const VALUES: [&str; 17] = [
    "2026-07-28",
    "2025-11-25",
    "subscriptions/listen",
    "server/discover",
    "application/json",
    "application/json; charset=utf-8",
    "text/event-stream;q=0, */*",
    "text/*",
    "localhost:80",
    "[::1]",
    "evil.example",
    "http://localhost",
    "null",
    "=?base64?eA==?=",
    "x",
    "a:x",
    "",
];

/// Those of a valid call, but for a few.
pub(super) fn headers(u: &mut Unstructured<'_>, called: &str) -> Result<HeaderMap> {
    let valid = [
        ("host", "127.0.0.1"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", called),
        ("mcp-name", if called == "resources/read" { "a:x" } else { "x" }),
    ];
    let mut headers: HeaderMap = valid
        .into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?)))
        .collect();
    while seldom(u, 4)? {
        let name = HeaderName::from_static(u.choose(&NAMES)?);
        let value = if seldom(u, 4)? { u.arbitrary::<&[u8]>()? } else { u.choose(&VALUES)?.as_bytes() };
        let value = HeaderValue::from_bytes(value).ok();
        match (u.arbitrary::<u8>()? % 3, value) {
            (1, Some(value)) => drop(headers.insert(name, value)),
            (2, Some(value)) => drop(headers.append(name, value)),
            _ => drop(headers.remove(name)),
        }
    }
    Ok(headers)
}
