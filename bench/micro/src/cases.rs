//! What is measured. Each case is prepared first, then called once; what it holds is dropped afterwards.

use mcp_sub::HandledBy;
use serde_json::{Value, json};

use crate::{Bench, PromptsChanged, Server, ToolsChanged, Updated, listen, request, resources, tools, uri};

/// The step that is measured, with all it needs.
pub type Step = Box<dyn FnMut()>;

pub struct Case {
    pub name: &'static str,
    pub prepare: fn() -> Step,
    /// Nobody is concerned: the bar is 300 instructions, and no allocation.
    pub concerns_nobody: bool,
}

const fn case(name: &'static str, prepare: fn() -> Step) -> Case {
    Case { name, prepare, concerns_nobody: false }
}

const fn nobody(name: &'static str, prepare: fn() -> Step) -> Case {
    Case { name, prepare, concerns_nobody: true }
}

pub const CASES: [Case; 24] = [
    nobody("publish: no stream is open", || publish(Server::with([]), ToolsChanged, 0)),
    nobody("publish: 1,000 streams asked for another kind", || {
        publish(Server::with(many(tools)), PromptsChanged, 0)
    }),
    nobody("publish_for: 1,000 streams asked for other URIs", || publish_for(one_uri_each(1000), 1000, 0)),
    nobody("publish_for: 1,000 streams asked for tools", || publish_for(Server::with(many(tools)), 0, 0)),
    case("publish: to 1 stream", || publish(Server::with([tools()]), ToolsChanged, 1)),
    case("publish: to 1,000 streams", || publish(Server::with(many(tools)), ToolsChanged, 1000)),
    case("publish_for: to 1 of 1 stream", || publish_for(one_uri_each(1), 0, 1)),
    case("publish_for: to 1 of 1,000 streams", || publish_for(one_uri_each(1000), 0, 1)),
    case("take: nothing is there", || take(Server::with([tools()]), |_| {}, false)),
    case("take: one change of tools", || {
        take(Server::with([tools()]), |server| _ = server.publish(ToolsChanged), true)
    }),
    case("take: one change of one URI", || {
        take(one_uri_each(1), |server| _ = server.publish_for(uri(0)), true)
    }),
    case("take: 100 changes of tools, in one frame", || {
        let changes = |server: &Server| (0..100).for_each(|_| _ = server.publish(ToolsChanged));
        take(Server::with([tools()]), changes, true)
    }),
    case("take: 100 changes of one URI, in one frame", || {
        let changes = |server: &Server| (0..100).for_each(|_| _ = server.publish_for(uri(0)));
        take(one_uri_each(1), changes, true)
    }),
    case("take: changes of 100 URIs, 100 frames in one write", || {
        let changes = |server: &Server| (0..100).for_each(|index| _ = server.publish_for(uri(index)));
        take(Server::with([resources(0..100)]), changes, true)
    }),
    // `publish` offers it to whoever asked for any URI: the filter decides when it is sent.
    case("take: filter of 1 URI, a change of another", || {
        take(one_uri_each(1), |server| _ = server.publish(Updated(uri(5000))), false)
    }),
    case("take: filter of 1,000 URIs, a change of another", || {
        take(Server::with([resources(0..1000)]), |server| _ = server.publish(Updated(uri(5000))), false)
    }),
    case("deliver: publish, and 1,000 streams take it", || {
        let mut server = Server::with(many(tools));
        server.publish(ToolsChanged);
        server.drain();
        Box::new(move || {
            assert_eq!(server.publish(ToolsChanged), 1000);
            assert!(server.drain() > 0);
        })
    }),
    case("open: a filter for tools", || open(&tools())),
    case("open: a filter of 1 URI", || open(&resources(0..1))),
    case("open: a filter of 1,000 URIs", || open(&resources(0..1000))),
    case("close: the client leaves", || {
        let mut server = Server::with([tools()]);
        Box::new(move || server.close())
    }),
    case("parse: a listen that is refused, filter of 1 URI", || refused(&resources(0..1))),
    case("parse: a listen that is refused, filter of 1,000 URIs", || refused(&resources(0..1000))),
    case("answer: server/discover", || {
        let (server, mut request) = (Server::with([]), Some(request("server/discover", json!({}))));
        Box::new(move || answer(&server, request.take(), 200))
    }),
];

fn many(filter: fn() -> Value) -> impl Iterator<Item = Value> {
    std::iter::repeat_with(filter).take(1000)
}

/// Streams of which each asked for a URI of its own.
fn one_uri_each(streams: usize) -> Server {
    Server::with((0..streams).map(|index| resources([index])))
}

fn publish<E: HandledBy<Bench> + 'static>(server: Server, event: E, expected: usize) -> Step {
    let mut event = Some(event);
    Box::new(move || {
        if let Some(event) = event.take() {
            assert_eq!(server.publish(event), expected);
        }
    })
}

fn publish_for(server: Server, index: usize, expected: usize) -> Step {
    let uri = uri(index);
    Box::new(move || assert_eq!(server.publish_for(uri), expected))
}

/// What was published before is taken: methods are called, filters checked, frames rendered. The streams have told the same
/// once already, as most have.
fn take(mut server: Server, before: impl Fn(&Server), sends: bool) -> Step {
    before(&server);
    server.drain();
    before(&server);
    Box::new(move || assert_eq!(server.drain() > 0, sends))
}

fn open(filter: &Value) -> Step {
    let (mut server, mut request) = (Server::with([]), Some(listen(filter)));
    Box::new(move || {
        if let Some(request) = request.take() {
            server.open(request);
        }
    })
}

/// All of it is read, and then the header is found to be another.
fn refused(filter: &Value) -> Step {
    let mut request = listen(filter);
    request.headers_mut().insert("Mcp-Method", http::HeaderValue::from_static("tools/list"));
    let (server, mut request) = (Server::with([]), Some(request));
    Box::new(move || answer(&server, request.take(), 400))
}

fn answer(server: &Server, request: Option<http::Request<http_body_util::Full<bytes::Bytes>>>, status: u16) {
    if let Some(request) = request {
        assert_eq!(server.call(request).status(), status);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_case_does_what_it_says() {
        for case in &super::CASES {
            println!("{}", case.name);
            (case.prepare)()();
        }
    }
}
