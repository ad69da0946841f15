//! The tools.

#![allow(deprecated, reason = "what is deprecated in this revision is in it, and the suite asks for it")]

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        JsonObject, LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::{
    announce, contents,
    input::{Asked, Question, Reply},
    server::Server,
    tasks,
};

/// Name, description, and the members of the schema that are not the same for all.
fn table() -> Vec<(&'static str, &'static str, Value)> {
    let nothing = || json!({});
    let count = || json!({"properties": {"count": {"type": "integer", "minimum": 0}}});
    let uri = json!({
        "properties": {"uri": {"type": "string"}, "count": {"type": "integer", "minimum": 0}}, "required": ["uri"]
    });
    let header = json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let name = json!({"properties": {"name": {"type": "string"}}});
    let mut table = vec![
        ("greet", "Greets by name", name),
        ("test_simple_text", "Says one sentence", nothing()),
        ("test_image_content", "Has a picture", nothing()),
        ("test_audio_content", "Has a sound", nothing()),
        ("test_embedded_resource", "Has a resource", nothing()),
        ("test_multiple_content_types", "Has a text, a picture and a resource", nothing()),
        ("test_error_handling", "Fails", nothing()),
        ("test_tool_with_progress", "Says how far it is", nothing()),
        ("test_trigger_tool_change", "Says `count` times that the tools changed", count()),
        ("test_trigger_prompt_change", "Says `count` times that the prompts changed", count()),
        ("test_trigger_resource_change", "Says `count` times that the list of resources changed", count()),
        ("test_update_resource", "Says `count` times that the resource `uri` changed", uri),
        ("test_subscription_count", "Says how many subscriptions are open", nothing()),
        ("test_close_subscriptions", "Ends all subscriptions", nothing()),
        ("test_missing_capability", "Needs a client that can sample", nothing()),
        ("test_logging_tool", "Logs, for those who ask for it", nothing()),
        ("test_streaming_elicitation", "Asks for a name, in its result", nothing()),
        ("test_input_required_result_elicitation", "Asks the user", nothing()),
        ("test_input_required_result_sampling", "Asks the model", nothing()),
        ("test_input_required_result_list_roots", "Asks for the roots", nothing()),
        ("test_input_required_result_request_state", "Asks the user to confirm", nothing()),
        ("test_input_required_result_tampered_state", "Asks the user to confirm", nothing()),
        ("test_input_required_result_multiple_inputs", "Asks for three things at once", nothing()),
        ("test_input_required_result_multi_round", "Asks twice", nothing()),
        ("test_input_required_result_capabilities", "Asks what the client can be asked", nothing()),
        ("test_header_parameter", "Its argument is in a header as well", header),
        ("json_schema_2020_12_tool", "Its schema has the keywords of JSON Schema 2020-12", json_schema()),
    ];
    table.extend(tasks::table());
    table
}

pub(crate) fn all() -> Vec<Tool> {
    let tool = |(name, description, schema)| {
        let mut whole = JsonObject::new();
        whole.insert("type".into(), "object".into());
        whole.insert("properties".into(), json!({}));
        if let Value::Object(members) = schema {
            whole.extend(members);
        }
        Tool::new(name, description, whole)
    };
    table().into_iter().map(tool).collect()
}

/// What a tool asks before it answers.
fn rounds(tool: &str) -> Option<&'static [&'static [Asked]]> {
    const NAME: Asked = ("user_name", Question::Text("What is your name?"));
    const CONFIRM: &[&[Asked]] = &[&[("confirm", Question::Confirm("Please confirm"))]];
    Some(match tool {
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => &[&[NAME]],
        "test_input_required_result_sampling" => {
            &[&[("capital_question", Question::Model("What is the capital of France?"))]]
        }
        "test_input_required_result_list_roots" => &[&[("client_roots", Question::Roots)]],
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => CONFIRM,
        "test_input_required_result_multiple_inputs" => &[&[
            NAME,
            ("greeting", Question::Model("Generate a greeting")),
            ("client_roots", Question::Roots),
        ]],
        "test_input_required_result_multi_round" => &[
            &[("step1", Question::Text("Step 1: What is your name?"))],
            &[("step2", Question::Text("Step 2: What is your favorite color?"))],
        ],
        _ => return None,
    })
}

/// # Errors
/// A tool that is not there, or arguments that it does not take.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let nothing = JsonObject::new();
    let arguments = request.arguments.as_ref().unwrap_or(&nothing);
    let client = context.meta.client_capabilities().unwrap_or_default();
    if let Some(said) = announce::call(&server.changes, &request.name, arguments)? {
        return Ok(CallToolResult::success(vec![contents::text(said)]).into());
    }
    if let Some(response) = tasks::call(server, &request, &client).await? {
        return Ok(response);
    }
    if let Some(rounds) = rounds(&request.name) {
        return ask(server, &request, rounds);
    }
    let contents = match &*request.name {
        "greet" => {
            let name = arguments.get("name").and_then(Value::as_str).unwrap_or("you");
            vec![contents::text(format!("Hello, {name}!"))]
        }
        "test_simple_text" => vec![contents::text("This is a simple text response for testing.")],
        "test_image_content" => vec![contents::image()],
        "test_audio_content" => vec![contents::audio()],
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            vec![contents::resource("test://embedded-resource", "text/plain", text)]
        }
        "test_multiple_content_types" => {
            let data = json!({"test": "data", "value": 123}).to_string();
            let resource = contents::resource("test://mixed-content-resource", "application/json", &data);
            vec![contents::text("Multiple content types test:"), contents::image(), resource]
        }
        "test_error_handling" => {
            let error = contents::text("This tool intentionally returns an error for testing");
            return Ok(CallToolResult::error(vec![error]).into());
        }
        "test_tool_with_progress" => vec![progress(context).await],
        "test_missing_capability" if client.sampling.is_none() => {
            let needed = ClientCapabilities::builder().enable_sampling().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        "test_missing_capability" => vec![contents::text("the client can sample")],
        "test_logging_tool" => vec![log(context).await],
        "test_input_required_result_capabilities" => {
            let all = [("ask_user", Question::Confirm("May I?")), ("ask_model", Question::Model("May I?"))];
            let askable: Vec<Asked> =
                all.into_iter().filter(|(_, question)| question.can_be_asked(&client)).collect();
            let rounds: &[&[Asked]] = if askable.is_empty() { &[] } else { &[&askable] };
            return ask(server, &request, rounds);
        }
        "test_header_parameter" | "json_schema_2020_12_tool" => {
            vec![contents::text(Value::Object(arguments.clone()).to_string())]
        }
        unknown => return Err(ErrorData::invalid_params(format!("there is no tool {unknown:?}"), None)),
    };
    Ok(CallToolResult::success(contents).into())
}

fn ask(
    server: &Server,
    request: &CallToolRequestParams,
    rounds: &[&[Asked]],
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    Ok(match server.input.ask(&request.name, rounds, responses, request.request_state.as_deref())? {
        Reply::Ask(questions) => questions.into(),
        Reply::Answered(answers) => {
            let state = request.request_state.as_ref().map_or("", |_| "state-ok ");
            let said = format!("{state}{}", Value::Object(answers));
            CallToolResult::success(vec![contents::text(said)]).into()
        }
    })
}

async fn progress(context: &RequestContext<RoleServer>) -> ContentBlock {
    if let Some(token) = context.meta.get_progress_token() {
        for progress in [0.0, 50.0, 100.0] {
            let progress = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
            // A client that is gone needs no progress.
            _ = context.peer.notify_progress(progress).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    contents::text("it is done")
}

async fn log(context: &RequestContext<RoleServer>) -> ContentBlock {
    if let Some(level) = context.meta.log_level() {
        let message = LoggingMessageNotificationParam::new(level, json!("the tool was called"));
        _ = context.peer.notify_logging_message(message).await;
    }
    contents::text("it is done")
}

fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"address": {
            "$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
}
