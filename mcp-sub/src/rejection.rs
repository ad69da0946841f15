//! A listen that is refused before anything was sent.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header::WWW_AUTHENTICATE};
use serde_json::{Value, json};

use crate::protocol::error::{Error, code};

/// Why [`subscribe`](crate::SubscriptionHandler::subscribe) refuses a listen.
///
/// No stream opens: the client gets an ordinary JSON-RPC error, on HTTP with a status of its own.
///
/// ```
/// use mcp_sub::Rejection;
///
/// let rejection = Rejection::unauthorized().challenge("Bearer realm=\"files\"");
/// assert_eq!(rejection.status(), 401);
/// ```
///
/// An error of yours becomes one by `map_err`, or by an `impl From` for it:
///
/// ```
/// # use mcp_sub::Rejection;
/// enum AccountError {
///     Suspended,
///     Database(std::io::Error),
/// }
///
/// impl From<AccountError> for Rejection {
///     fn from(error: AccountError) -> Self {
///         match error {
///             AccountError::Suspended => Self::forbidden(),
///             // Logged here; the client only learns that something went wrong.
///             AccountError::Database(error) => Self::failed(error),
///         }
///     }
/// }
///
/// fn quota(path: &str) -> Result<String, Rejection> {
///     std::fs::read_to_string(path).map_err(Rejection::failed)
/// }
/// # assert_eq!(quota("/does/not/exist").unwrap_err().message(), "internal error");
/// # assert_eq!(Rejection::from(AccountError::Suspended).status(), 403);
/// ```
///
/// Specification: [Overview, Error Codes](https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes).
#[derive(Clone, Debug)]
#[must_use]
pub struct Rejection {
    // Boxed, so that a `Result` with it is small.
    parts: Box<Parts>,
}

#[derive(Clone, Debug)]
struct Parts {
    status: StatusCode,
    error: Error,
    headers: HeaderMap,
    /// Whether a handler made it: what it says then is its own.
    of_handler: bool,
}

impl Rejection {
    fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        Self::from_error(status, Error::new(code, message))
    }

    pub(crate) fn from_error(status: StatusCode, error: Error) -> Self {
        Self { parts: Box::new(Parts { status, error, headers: HeaderMap::new(), of_handler: false }) }
    }

    /// Something went wrong on the server: `-32603`, HTTP 500. The error goes to the log; the client is not told.
    pub fn failed(error: impl fmt::Display) -> Self {
        tracing::error!("a subscription could not be decided: {error:#}");
        Self::default()
    }

    /// Something went wrong on the server: `-32603`, HTTP 500. The client reads `message`.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code::INTERNAL_ERROR, message)
    }

    /// The caller is unknown: HTTP 401. Say with [`challenge`](Self::challenge) how it can become known.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code::INTERNAL_ERROR, "unauthorized")
    }

    /// The caller may not do this: HTTP 403.
    pub fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, code::INTERNAL_ERROR, "forbidden")
    }

    /// The caller's token lacks `scope`: HTTP 403, with the challenge that names it.
    ///
    /// A scope that no header can carry is left out of the challenge.
    pub fn insufficient_scope(scope: &str) -> Self {
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
        let rejection = Self::new(StatusCode::FORBIDDEN, code::INTERNAL_ERROR, "insufficient scope");
        if scope.contains(['"', '\\']) { rejection } else { rejection.challenge(&challenge) }
    }

    /// What was asked for makes no sense here: `-32602`, HTTP 400.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_PARAMS, message)
    }

    /// The client has not declared capabilities that are needed: `-32021`, HTTP 400.
    ///
    /// `required` is a `ClientCapabilities` object with the missing ones, such as `{"sampling": {}}`.
    pub fn missing_capability(required: impl Into<Value>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::MISSING_CAPABILITY, "a client capability is missing")
            .with_data(json!({ "requiredCapabilities": required.into() }))
    }

    /// An error of the application's own, with a code that neither JSON-RPC nor MCP reserves: HTTP 400, unless
    /// [`with_status`](Self::with_status) says otherwise.
    ///
    /// A code in `-32768..=-32000` does not compile:
    ///
    /// ```compile_fail
    /// mcp_sub::Rejection::application::<-32000>("no");
    /// ```
    pub fn application<const CODE: i64>(message: impl Into<String>) -> Self {
        const {
            assert!(CODE < -32768 || CODE > -32000, "JSON-RPC and MCP reserve the codes -32768 to -32000");
        }
        Self::new(StatusCode::BAD_REQUEST, CODE, message)
    }

    /// Adds a `WWW-Authenticate` header. One that is no valid header value is left out.
    pub fn challenge(self, challenge: &str) -> Self {
        match HeaderValue::from_str(challenge) {
            Ok(value) => self.with_header(WWW_AUTHENTICATE, value),
            Err(_) => self,
        }
    }

    /// Adds a header to the HTTP response.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.parts.headers.append(name, value);
        self
    }

    /// Sets the text that people read.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.parts.error.message = message.into();
        self
    }

    /// Sets the `data` of the error.
    pub fn with_data(mut self, data: Value) -> Self {
        self.parts.error.data = Some(data);
        self
    }

    /// Sets the HTTP status. One that is no client or server error is left as it was.
    pub fn with_status(mut self, status: StatusCode) -> Self {
        if status.is_client_error() || status.is_server_error() {
            self.parts.status = status;
        }
        self
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// The JSON-RPC error code.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.parts.error.code
    }

    /// The text that people read.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.parts.error.message
    }

    /// The `data` of the error.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.parts.error.data.as_ref()
    }

    /// The headers that the HTTP response has beside its own.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The same, from a handler.
    pub(crate) fn of_handler(mut self) -> Self {
        self.parts.of_handler = true;
        self
    }

    /// The limit of ours that it is about, if it is about one.
    pub(crate) fn limit(&self) -> Option<&str> {
        if self.parts.of_handler {
            return None;
        }
        self.data()?.get("limit")?.as_str()
    }

    pub(crate) fn into_parts(self) -> (StatusCode, HeaderMap, Error) {
        let Parts { status, error, headers, .. } = *self.parts;
        (status, headers, error)
    }
}

impl Default for Rejection {
    /// [`internal`](Self::internal), without a word about what went wrong.
    fn default() -> Self {
        Self::internal("internal error")
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message(), self.code())
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rejection_has_its_code_and_status() {
        let capability = Rejection::missing_capability(json!({ "sampling": {} }));
        for (rejection, code, status) in [
            (Rejection::default(), code::INTERNAL_ERROR, 500),
            (Rejection::unauthorized(), code::INTERNAL_ERROR, 401),
            (Rejection::forbidden(), code::INTERNAL_ERROR, 403),
            (Rejection::insufficient_scope("files:read"), code::INTERNAL_ERROR, 403),
            (Rejection::application::<-32769>("no"), -32769, 400),
            (Rejection::application::<4001>("no"), 4001, 400),
            (Rejection::invalid("no"), code::INVALID_PARAMS, 400),
            (capability, code::MISSING_CAPABILITY, 400),
        ] {
            assert_eq!((rejection.code(), rejection.status().as_u16()), (code, status));
        }
        let (_, headers, _) = Rejection::insufficient_scope("files:read").into_parts();
        assert_eq!(headers[WWW_AUTHENTICATE], "Bearer error=\"insufficient_scope\", scope=\"files:read\"");
    }

    #[test]
    fn what_no_header_can_carry_is_left_out() {
        let (_, headers, _) = Rejection::unauthorized().challenge("a\nb").into_parts();
        assert!(headers.is_empty());
        let (_, headers, _) = Rejection::insufficient_scope("a\"b").into_parts();
        assert!(headers.is_empty());
        assert_eq!(Rejection::default().with_status(StatusCode::OK).status(), 500);
    }
}
