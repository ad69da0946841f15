//! Between rmcp's values and ours.

use ::rmcp::{
    ErrorData, RoleServer,
    model::{
        ErrorCode, Extensions, PromptListChangedNotification, RequestId as RmcpId, RequestMetaObject,
        ResourceListChangedNotification, ResourceUpdatedNotification, ResourceUpdatedNotificationParam,
        ServerCapabilities, ServerNotification, SubscriptionFilter, ToolListChangedNotification,
    },
    service::Peer,
};
use http::request::Parts;
use serde::Serialize;
use serde_json::{Map, Value, json, value::to_raw_value};

use crate::{
    caller::Caller,
    filter::Honoured,
    kind::Kinds,
    limits::Limits,
    outbox::{Last, Message},
    protocol::{
        error::{Error, code},
        filter::RequestedFilter,
        id::RequestId,
        meta,
    },
    rejection::Rejection,
};

/// What a client asks for, under the same rules as on any other transport.
pub(super) fn requested(filter: &SubscriptionFilter, limits: &Limits) -> Result<RequestedFilter, Rejection> {
    let json = to_raw_value(filter).map_err(Rejection::failed)?;
    RequestedFilter::of(Some(&json), limits.filter()).map_err(refused)
}

/// What is honoured, to be acknowledged.
pub(super) fn accepted(honoured: &Honoured) -> SubscriptionFilter {
    let kinds = honoured.kinds();
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = kinds.contains(Kinds::TOOLS_LIST_CHANGED).then_some(true);
    filter.prompts_list_changed = kinds.contains(Kinds::PROMPTS_LIST_CHANGED).then_some(true);
    filter.resources_list_changed = kinds.contains(Kinds::RESOURCES_LIST_CHANGED).then_some(true);
    let uris = || honoured.uris().iter().map(ToString::to_string).collect();
    filter.resource_subscriptions = kinds.contains(Kinds::RESOURCES_UPDATED).then(uris);
    filter
}

/// Sets the flags of what is `declared`, in the families that the server has.
pub(super) fn advertise(mut capabilities: ServerCapabilities, declared: Kinds) -> ServerCapabilities {
    let flag = |kind| declared.contains(kind).then_some(true);
    if let Some(tools) = &mut capabilities.tools {
        tools.list_changed = flag(Kinds::TOOLS_LIST_CHANGED);
    }
    if let Some(prompts) = &mut capabilities.prompts {
        prompts.list_changed = flag(Kinds::PROMPTS_LIST_CHANGED);
    }
    if let Some(resources) = &mut capabilities.resources {
        resources.list_changed = flag(Kinds::RESOURCES_LIST_CHANGED);
        resources.subscribe = flag(Kinds::RESOURCES_UPDATED);
    }
    capabilities
}

/// Who sends a request. A session of an older revision has said its name once, when it began.
pub(super) fn caller(meta: &RequestMetaObject, extensions: &Extensions, peer: &Peer<RoleServer>) -> Caller {
    let mut meta: Map<String, Value> = (**meta).0.clone();
    if let Some(info) = peer.peer_info().filter(|info| info.protocol_version.has_initialize()) {
        insert_missing(&mut meta, meta::CLIENT_INFO, &info.client_info);
        insert_missing(&mut meta, meta::CLIENT_CAPABILITIES, &info.capabilities);
    }
    let parts = extensions.get::<Parts>();
    let (headers, extensions) =
        parts.map(|parts| (parts.headers.clone(), parts.extensions.clone())).unwrap_or_default();
    Caller::new(headers, extensions, meta)
}

fn insert_missing(meta: &mut Map<String, Value>, key: &str, value: &impl Serialize) {
    if !meta.contains_key(key)
        && let Ok(value) = serde_json::to_value(value)
    {
        meta.insert(key.into(), value);
    }
}

pub(super) fn id(id: &RmcpId, limits: &Limits) -> Result<RequestId, Rejection> {
    let json = to_raw_value(id).map_err(Rejection::failed)?;
    let too_long = || refused(Error::invalid_request("the id of the request is too long"));
    RequestId::of(&json, limits.id_bytes).ok_or_else(too_long)
}

/// There is no HTTP status to choose: it is rmcp's.
fn refused(error: Error) -> Rejection {
    Rejection::from_error(http::StatusCode::BAD_REQUEST, error)
}

pub(super) fn error(rejection: Rejection) -> ErrorData {
    let (_, _, Error { code, message, data }) = rejection.into_parts();
    let code = i32::try_from(code).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    ErrorData::new(code, message, data)
}

pub(super) fn ending(last: Last) -> Result<(), ErrorData> {
    match last {
        Last::Completed => Ok(()),
        Last::Failed(failure) => Err(failed(failure.name(), failure.text())),
    }
}

pub(super) fn failed(reason: &str, text: &str) -> ErrorData {
    error(refused(Error::new(code::INTERNAL_ERROR, text).with_data(json!({ "reason": reason }))))
}

/// `None`: it is no notification.
pub(super) fn notification(message: &Message) -> Option<ServerNotification> {
    Some(match message {
        Message::ListChanged(Kinds::TOOLS_LIST_CHANGED) => {
            ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default())
        }
        Message::ListChanged(Kinds::PROMPTS_LIST_CHANGED) => {
            ServerNotification::PromptListChangedNotification(PromptListChangedNotification::default())
        }
        Message::ListChanged(Kinds::RESOURCES_LIST_CHANGED) => {
            ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default())
        }
        Message::Updated(uri) => ServerNotification::ResourceUpdatedNotification(
            ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(&**uri)),
        ),
        Message::ListChanged(_) | Message::Ended(_) => return None,
    })
}
