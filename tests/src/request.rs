//! Requests, right in all parts until a test makes one wrong.

/// The `_meta` that every request needs, as a member of its `params`.
pub const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The message of a request; `id` is JSON, `members` are those of its `params` beside `_meta`, as JSON.
#[must_use]
pub fn message(id: &str, method: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{META}{comma}{members}}}}}"#)
}

/// An HTTP request, as the bytes that go out.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    says_length: bool,
}

impl Request {
    /// `subscriptions/listen`; `id` and `notifications` are JSON.
    #[must_use]
    pub fn listen(id: &str, notifications: &str) -> Self {
        Self::call(id, "subscriptions/listen", &format!(r#""notifications":{notifications}"#))
    }

    /// Any method; `members` are those of its `params` beside `_meta`, as JSON.
    #[must_use]
    pub fn call(id: &str, method: &str, members: &str) -> Self {
        Self::post(message(id, method, members)).set("Mcp-Method", method)
    }

    /// A body that is all the test's own, with the headers of a listen.
    #[must_use]
    pub fn post(body: impl Into<Vec<u8>>) -> Self {
        let headers = [
            ("Host", "127.0.0.1"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "subscriptions/listen"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { method: "POST".into(), target: "/mcp".into(), headers, body: body.into(), says_length: true }
    }

    /// The same with another HTTP method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    /// The same for another target.
    #[must_use]
    pub fn target(mut self, target: &str) -> Self {
        self.target = target.into();
        self
    }

    /// The same with another body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The same with one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same without any header of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// The same with this as the only header of its name.
    #[must_use]
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// The same without `Content-Length`: the body brings its own framing.
    #[must_use]
    pub fn without_length(mut self) -> Self {
        self.says_length = false;
        self
    }

    /// Replaces text in the body.
    ///
    /// # Panics
    ///
    /// If it is not there: the test would test nothing.
    #[must_use]
    pub fn replace(mut self, from: &str, to: &str) -> Self {
        let body = String::from_utf8_lossy(&self.body).into_owned();
        assert!(body.contains(from), "{from} is not in {body}");
        self.body = body.replacen(from, to, 1).into_bytes();
        self
    }

    /// What goes out.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            out.push_str(name);
            out.push_str(": ");
            out.push_str(value);
            out.push_str("\r\n");
        }
        if self.says_length && (!self.body.is_empty() || self.method == "POST") {
            out.push_str("Content-Length: ");
            out.push_str(&self.body.len().to_string());
            out.push_str("\r\n");
        }
        out.push_str("\r\n");
        let mut out = out.into_bytes();
        out.extend_from_slice(&self.body);
        out
    }
}
