//! `resources/list` and `resources/read`, as `rmcp` serves them. Nothing here knows of subscriptions.

use std::{borrow::Cow, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, Implementation, ListResourcesResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::json;
use tokio::task::block_in_place;

use crate::{
    files::{Files, MAX_BYTES, ReadError},
    uri,
    workspace::Workspace,
};

/// Resources on one page of the list.
const PAGE: usize = 1_000;
/// How far a client that does not listen may be behind. One that listens is told.
const TTL_MS: u64 = 5_000;

impl ServerHandler for Workspace {
    fn get_info(&self) -> ServerConfig {
        // The flags about subscriptions are added by the layer.
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
            .with_server_info(Implementation::new("workspace", env!("CARGO_PKG_VERSION")))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        block_in_place(|| list(&self.files, cursor.as_deref(), PAGE))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = block_in_place(|| read(&self.files, &request.uri))?;
        let result = ReadResourceResult::new(vec![contents]);
        Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private).into())
    }
}

/// A page of the list. The cursor is the URI that the page before ended with, so it stays good when files come and go.
fn list(files: &Files, cursor: Option<&str>, page: usize) -> Result<ListResourcesResult, ErrorData> {
    let after = match cursor {
        None => None,
        Some(cursor) => {
            let unknown = || {
                ErrorData::invalid_params("this cursor is none of ours", Some(json!({ "cursor": cursor })))
            };
            Some(files.path(cursor).ok_or_else(unknown)?)
        }
    };
    let (page, more) = files.page(after.as_deref(), page);
    let resources = page.into_iter().map(|(path, stamp)| {
        let resource = Resource::new(uri::encode(&path), files.name(&path)).with_size(stamp.size);
        match mime_type(&path) {
            Some(mime_type) => resource.with_mime_type(mime_type),
            None => resource,
        }
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = result.resources.last().filter(|_| more).map(|last| last.uri.clone());
    Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
}

fn read(files: &Files, uri: &str) -> Result<ResourceContents, ErrorData> {
    let bytes = files.read(uri).map_err(|error| match error {
        ReadError::NotFound => {
            ErrorData::invalid_params(format!("there is no resource {uri:?}"), Some(json!({ "uri": uri })))
        }
        ReadError::TooLarge(size) => ErrorData::invalid_params(
            format!("{uri} has {size} bytes; at most {MAX_BYTES} are served"),
            Some(json!({ "uri": uri, "size": size, "maxSize": MAX_BYTES })),
        ),
        ReadError::Failed(error) => {
            ErrorData::internal_error(format!("{uri} cannot be read: {error}"), Some(json!({ "uri": uri })))
        }
    })?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri),
    };
    Ok(match mime_type(Path::new(uri)) {
        Some(mime_type) => contents.with_mime_type(mime_type),
        None => contents,
    })
}

/// By the extension, and only what most clients treat in a way of its own.
fn mime_type(path: &Path) -> Option<&'static str> {
    Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "xml" => "application/xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;
    use crate::scratch::Scratch;

    fn names(list: &ListResourcesResult) -> Vec<&str> {
        list.resources.iter().map(|resource| &*resource.name).collect()
    }

    #[test]
    fn the_pages_of_the_list_are_all_of_it() {
        let scratch = Scratch::with(&["a", "b/c", "b/d", "e.json", "f"]);
        let files = scratch.files();
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let page = list(&files, cursor.as_deref(), 2).expect("the cursor is ours");
            assert!(page.ttl_ms.is_some() && page.cache_scope.is_some());
            all.extend(names(&page).into_iter().map(str::to_owned));
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(all, ["a", "b/c", "b/d", "e.json", "f"]);
    }

    #[test]
    fn a_cursor_stays_good_when_its_file_goes_and_others_are_refused() {
        let scratch = Scratch::with(&["a", "b", "c"]);
        let files = scratch.files();
        let gone = uri::encode(&scratch.path("bb"));
        assert_eq!(list(&files, Some(&gone), 2).as_ref().map(names), Ok(vec!["c"]));
        for cursor in ["", "2", "file:///elsewhere"] {
            let error = list(&files, Some(cursor), 2).expect_err("it is none of ours");
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{cursor}");
        }
    }

    #[test]
    fn a_file_is_text_if_it_is_utf_8() {
        let scratch = Scratch::with(&["a.md", "bytes.png"]);
        std::fs::write(scratch.path("bytes.png"), [0xff, 0]).expect("it can be written");
        let read = |name| read(&scratch.files(), &uri::encode(&scratch.path(name)));
        let text = ResourceContents::text("a.md", uri::encode(&scratch.path("a.md")));
        assert_eq!(read("a.md"), Ok(text.with_mime_type("text/markdown")));
        let blob = ResourceContents::blob("/wA=", uri::encode(&scratch.path("bytes.png")));
        assert_eq!(read("bytes.png"), Ok(blob.with_mime_type("image/png")));
    }

    #[test]
    fn a_uri_that_is_none_of_ours_is_named_in_the_error() {
        let scratch = Scratch::with(&[]);
        let error = read(&scratch.files(), "file:///etc/passwd").expect_err("it is outside");
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert_eq!(error.data, Some(json!({ "uri": "file:///etc/passwd" })));
    }
}
