//! The tools whose answer comes later, for clients that can wait for one: the extension `io.modelcontextprotocol/tasks`.

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, Task,
    },
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
};
use serde_json::{Map, Value, json};

use crate::{
    contents,
    input::{Question, Reply},
    server::Server,
};

/// As long as a client may have something computed.
const LONGEST: u64 = 600;

/// Name, description, and the members of the schema that are not the same for all.
pub(crate) fn table() -> Vec<(&'static str, &'static str, Value)> {
    let seconds = json!({"properties": {"seconds": {"type": "integer", "minimum": 0, "maximum": LONGEST}}});
    vec![
        ("slow_compute", "Computes for `seconds`", seconds),
        ("failing_job", "Fails after a second", json!({})),
        ("protocol_error_job", "Ends with an error of the protocol", json!({})),
        ("confirm_delete", "Asks before it deletes nothing", json!({})),
        ("multi_input", "Asks two things at once", json!({})),
        ("test_tool_with_task", "Asks for a name, and greets later", json!({})),
    ]
}

/// Begins what the tool does; `None` for a tool that is not among these.
///
/// # Errors
/// A client that has to wait and cannot, or arguments that the tool does not take.
pub(crate) async fn call(
    server: &Server,
    request: &CallToolRequestParams,
    client: &ClientCapabilities,
) -> Result<Option<CallToolResponse>, ErrorData> {
    if !table().iter().any(|(name, ..)| request.name == *name) {
        return Ok(None);
    }
    let seconds = request.arguments.as_ref().and_then(|arguments| arguments.get("seconds"));
    let seconds = seconds.map_or(Some(0), Value::as_u64).filter(|seconds| *seconds <= LONGEST);
    let seconds =
        seconds.ok_or_else(|| ErrorData::invalid_params(format!("`seconds` is 0 to {LONGEST}"), None))?;
    let work = Duration::from_secs(seconds);
    if !client.supports_tasks() {
        if request.name != "slow_compute" {
            let needed = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        tokio::time::sleep(work).await;
        return Ok(Some(said("computed").into()));
    }
    let tasks = &server.tasks;
    let task = match &*request.name {
        "slow_compute" => later(tasks, move |_| async move {
            tokio::time::sleep(work).await;
            Ok(said("computed"))
        }),
        "failing_job" => later(tasks, |_| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(CallToolResult::error(vec![contents::text("the job failed")]))
        }),
        "protocol_error_job" => {
            later(tasks, |_| async { Err(ErrorData::internal_error("the server failed", None).into()) })
        }
        "confirm_delete" => later(tasks, |task| async move {
            let answer = ask(&task, "confirm", Question::Confirm("Shall it be deleted?")).await?;
            Ok(said(&answer.to_string()))
        }),
        "multi_input" => later(tasks, |task| async move {
            let name = ask(&task, "name", Question::Text("What is your name?"));
            let confirm = ask(&task, "confirm", Question::Confirm("Is it?"));
            let answers = tokio::try_join!(name, confirm)?;
            Ok(said(&format!("{answers:?}")))
        }),
        _ => {
            let rounds: &[&[_]] = &[&[("user_name", Question::Text("What is your name?"))]];
            let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
            match server.input.ask(&request.name, rounds, responses, state)? {
                Reply::Ask(questions) => return Ok(Some(questions.into())),
                Reply::Answered(answers) => later(tasks, move |_| async move { Ok(greeting(answers)) }),
            }
        }
    };
    Ok(Some(CreateTaskResult::new(task).into()))
}

/// Starts a task, which a client may cancel.
fn later<F>(tasks: &TaskManager, work: impl FnOnce(TaskContext) -> F + Send + 'static) -> Task
where
    F: Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
{
    tasks.spawn(TaskOptions::new().with_poll_interval_ms(100), |context| {
        Box::pin(async move {
            let cancelled = context.clone();
            tokio::select! {
                done = work(context) => done,
                () = cancelled.cancelled() => Err(TaskExit::Cancelled),
            }
        })
    })
}

async fn ask(task: &TaskContext, key: &str, question: Question) -> Result<Value, TaskExit> {
    task.request_input(key, question.request()?).await
}

fn greeting(answers: Map<String, Value>) -> CallToolResult {
    said(&format!("Hello, {}", Value::Object(answers)))
}

fn said(text: &str) -> CallToolResult {
    CallToolResult::success(vec![contents::text(text)])
}
