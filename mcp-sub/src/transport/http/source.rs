//! Where a request comes from: `Host` and `Origin`, against DNS rebinding.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::{
    StatusCode,
    header::{HOST, HeaderMap, ORIGIN},
    request::Parts,
    uri::Authority,
};

use super::answer::Refusal;
use crate::{
    protocol::error::{Error, Shown},
    settings::{Hosts, Settings},
};

/// Refuses a request that a page of a foreign site may have caused.
///
/// Specification: [Streamable HTTP, Security][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-&-endpoint
pub(super) fn check(settings: &Settings, parts: &Parts) -> Result<(), Refusal> {
    // HTTP/2 has the authority in place of `Host`. A request with neither comes from no browser.
    let authority = parts.uri.authority().map(Authority::as_str);
    for host in values(&parts.headers, &HOST).chain(authority.map(Some)) {
        if !host.is_some_and(|host| is_allowed_host(&settings.hosts, host)) {
            return Err(forbidden(
                "Host",
                host,
                "`allowed_hosts`, or `any_host` behind a proxy that checks it,",
            ));
        }
    }
    for origin in values(&parts.headers, &ORIGIN) {
        let allowed = origin.is_some_and(|origin| match &settings.origins {
            Some(origins) => origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)),
            None => is_loopback_origin(origin),
        });
        if !allowed {
            return Err(forbidden("Origin", origin, "`allowed_origins`"));
        }
    }
    Ok(())
}

/// The values of a header; `None` for one that is no text.
fn values<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> impl Iterator<Item = Option<&'a str>> {
    headers.get_all(name).into_iter().map(|value| value.to_str().ok())
}

fn forbidden(header: &str, value: Option<&str>, setting: &str) -> Refusal {
    let value = value.unwrap_or("that is not text");
    let message = format!(
        "`{header}: {}` is not served here; {setting} in the server's builder permits it",
        Shown(value)
    );
    Refusal::status(StatusCode::FORBIDDEN, Error::invalid_request(message))
}

fn is_allowed_host(hosts: &Hosts, authority: &str) -> bool {
    match (hosts, host(authority)) {
        (Hosts::Any, _) => true,
        (_, None) => false,
        (Hosts::Loopback, Some(host)) => is_loopback(host),
        (Hosts::Listed(listed), Some(host)) => {
            let is =
                |allowed: &String| [authority, host].iter().any(|text| allowed.eq_ignore_ascii_case(text));
            listed.iter().any(is)
        }
    }
}

/// The host of `HOST` or `HOST:PORT`.
fn host(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(address) => address.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at_checked(end)?;
    let port_is_valid =
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (!host.is_empty() && !host.contains('@') && port_is_valid).then_some(host)
}

fn is_loopback_origin(origin: &str) -> bool {
    let authority = ["http://", "https://"].iter().find_map(|scheme| {
        let (start, authority) = origin.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(authority)
    });
    authority.and_then(host).is_some_and(is_loopback)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .is_some_and(|host| host.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_what_the_machine_answers_itself() {
        for host in ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.8.9.1:80", "[::1]", "[::1]:8000"] {
            assert!(is_allowed_host(&Hosts::Loopback, host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "::1",
            "10.0.0.1",
            "a b",
            "evil@localhost",
            "localhost:evil.example",
            "localhost:99999",
            "localhost:",
            "[::1",
            "[::1]x",
            ":80",
        ] {
            assert!(!is_allowed_host(&Hosts::Loopback, host), "{host}");
        }
    }

    #[test]
    fn a_listed_host_without_a_port_stands_for_any_port() {
        let hosts = Hosts::Listed(vec!["files.example".into(), "other.example:8443".into()]);
        for host in ["files.example", "Files.Example:1234", "other.example:8443"] {
            assert!(is_allowed_host(&hosts, host), "{host}");
        }
        for host in ["other.example", "other.example:443", "localhost", "xfiles.example"] {
            assert!(!is_allowed_host(&hosts, host), "{host}");
        }
    }

    #[test]
    fn an_origin_on_loopback_has_a_scheme_and_a_host() {
        for origin in ["http://127.0.0.1:8000", "https://localhost", "http://[::1]:3000"] {
            assert!(is_loopback_origin(origin), "{origin}");
        }
        for origin in [
            "null",
            "http://evil.example",
            "file://localhost",
            "localhost",
            "http://localhost.evil.example",
            "http://localhost:x.evil.example",
            "http://evil@localhost",
            "http://localhost/",
            "http://",
            "é",
        ] {
            assert!(!is_loopback_origin(origin), "{origin}");
        }
    }
}
