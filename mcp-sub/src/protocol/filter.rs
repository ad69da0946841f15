//! The notification filter, as a client sends it.

use std::{collections::HashSet, sync::Arc};

use serde_json::{json, value::RawValue};

use super::{
    error::{Error, Shown},
    object::Object,
};
use crate::kind::{KINDS, Kind, Kinds};

/// What a client asks for. `RESOURCES_UPDATED` is in `kinds` exactly while there is something in `uris`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestedFilter {
    pub(crate) kinds: Kinds,
    /// In the order of the request, each once.
    pub(crate) uris: Vec<Arc<str>>,
}

/// How much one listen may ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterLimits {
    pub(crate) uris: usize,
    pub(crate) uri_bytes: usize,
}

impl RequestedFilter {
    /// Reads the member `notifications` of the params.
    ///
    /// Unknown members are ignored, `null`, `false` and `[]` are as absent.
    pub(crate) fn of(notifications: Option<&RawValue>, limits: FilterLimits) -> Result<Self, Error> {
        let Some(filter) = notifications.and_then(Object::of) else {
            return Err(Error::invalid_params("`notifications` is missing, or not an object"));
        };
        if let Some(name) = filter.duplicate() {
            let message = format!("the member `{}` occurs twice in `notifications`", Shown(name));
            return Err(Error::invalid_params(message));
        }
        let mut requested = Self::default();
        for (index, &Kind { field, .. }) in KINDS.iter().enumerate() {
            let kind = Kinds::at(index);
            let Some(value) = filter.get(field) else { continue };
            let asked = if kind == Kinds::RESOURCES_UPDATED {
                requested.uris = uris(field, value, limits)?;
                !requested.uris.is_empty()
            } else {
                serde_json::from_str::<Option<bool>>(value.get())
                    .map_err(|_| Error::invalid_params(format!("`{field}` must be a boolean")))?
                    .unwrap_or(false)
            };
            if asked {
                requested.kinds = requested.kinds.union(kind);
            }
        }
        Ok(requested)
    }

    /// Takes away every kind that is not in `allowed`.
    pub(crate) fn retain_kinds(&mut self, allowed: Kinds) {
        self.kinds = self.kinds.intersection(allowed);
        if !self.kinds.contains(Kinds::RESOURCES_UPDATED) {
            self.uris.clear();
        }
    }

    /// Takes away every URI for which `keep` says `false`.
    pub(crate) fn retain_uris(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.uris.retain(|uri| keep(uri));
        if self.uris.is_empty() {
            self.kinds = self.kinds.difference(Kinds::RESOURCES_UPDATED);
        }
    }
}

fn uris(field: &str, value: &RawValue, limits: FilterLimits) -> Result<Vec<Arc<str>>, Error> {
    let uris: Vec<String> = serde_json::from_str::<Option<_>>(value.get())
        .map_err(|_| Error::invalid_params(format!("`{field}` must be an array of strings")))?
        .unwrap_or_default();
    if uris.len() > limits.uris {
        let message =
            format!("`{field}` has {} URIs; at most {} are served for one listen", uris.len(), limits.uris);
        return Err(Error::invalid_params(message).with_data(json!({ "limit": "uris" })));
    }
    let bytes: usize = uris.iter().map(String::len).sum();
    if bytes > limits.uri_bytes {
        let message = format!(
            "`{field}` has {bytes} bytes of URIs; at most {} are served for one listen",
            limits.uri_bytes
        );
        return Err(Error::invalid_params(message).with_data(json!({ "limit": "uri_bytes" })));
    }
    let mut seen = HashSet::with_capacity(uris.len());
    let mut kept = Vec::with_capacity(uris.len());
    for uri in uris {
        if !has_scheme(&uri) || uri.contains(char::is_control) {
            let message = format!(
                "`{field}` has `{}`, which is not a URI: a scheme and a colon come first, and no control character anywhere",
                Shown(&uri)
            );
            return Err(Error::invalid_params(message));
        }
        let uri: Arc<str> = uri.into();
        if seen.insert(uri.clone()) {
            kept.push(uri);
        }
    }
    Ok(kept)
}

fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FilterLimits = FilterLimits { uris: 3, uri_bytes: 40 };

    fn read(json: &str) -> Result<RequestedFilter, String> {
        let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
        RequestedFilter::of(Some(&raw), LIMITS).map_err(|error| error.message)
    }

    #[test]
    fn what_is_asked_for_is_read() {
        let filter = read(
            r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///b","file:///a","file:///b"]}"#,
        );
        let filter = filter.unwrap();
        assert_eq!(filter.kinds, Kinds::TOOLS_LIST_CHANGED.union(Kinds::RESOURCES_UPDATED));
        assert_eq!(filter.uris, ["file:///b".into(), "file:///a".into()]);
    }

    #[test]
    fn false_null_empty_and_unknown_members_are_as_absent() {
        let json = r#"{"toolsListChanged":false,"promptsListChanged":null,"resourceSubscriptions":[],"taskIds":["t"]}"#;
        assert_eq!(read(json), Ok(RequestedFilter::default()));
        assert_eq!(read(r#"{"resourceSubscriptions":null}"#), Ok(RequestedFilter::default()));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named() {
        for (json, field) in [
            (r#"{"toolsListChanged":"yes"}"#, "toolsListChanged"),
            (r#"{"promptsListChanged":1}"#, "promptsListChanged"),
            (r#"{"resourcesListChanged":[]}"#, "resourcesListChanged"),
            (r#"{"resourceSubscriptions":"file:///a"}"#, "resourceSubscriptions"),
            (r#"{"resourceSubscriptions":[1]}"#, "resourceSubscriptions"),
        ] {
            assert!(read(json).unwrap_err().contains(field), "{json}");
        }
        for json in ["[]", "null", "5", "\"x\""] {
            assert!(read(json).unwrap_err().contains("`notifications`"), "{json}");
        }
    }

    #[test]
    fn a_uri_has_a_scheme_and_no_control_character() {
        for uri in ["not a uri", "", "/a", ":a", "1a:b", "file:///a\\u0000", "file:///a\\n"] {
            let error = read(&format!(r#"{{"resourceSubscriptions":["{uri}"]}}"#)).unwrap_err();
            assert!(error.contains("not a URI"), "{error}");
        }
        assert!(read(r#"{"resourceSubscriptions":["a+b-c.1:","note:x y é"]}"#).is_ok());
    }

    #[test]
    fn the_number_and_the_bytes_of_uris_are_limited() {
        let error = read(r#"{"resourceSubscriptions":["a:1","a:2","a:3","a:4"]}"#).unwrap_err();
        assert!(error.contains("4 URIs; at most 3"), "{error}");
        let error = read(&format!(r#"{{"resourceSubscriptions":["a:{}"]}}"#, "x".repeat(40))).unwrap_err();
        assert!(error.contains("42 bytes"), "{error}");
    }
}
