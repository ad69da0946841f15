//! The prompts.

use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams, GetPromptResponse,
        GetPromptResult, Prompt, PromptArgument, PromptMessage, Reference, Role,
    },
};
use serde_json::Value;

use crate::{
    contents,
    input::{Input, Question, Reply},
};

pub(crate) fn all() -> Vec<Prompt> {
    let prompt = |name: &str, description: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|name| {
            PromptArgument::new(*name).with_description("Appears in the prompt").with_required(true)
        });
        let arguments: Vec<_> = arguments.collect();
        Prompt::new(name, Some(description), (!arguments.is_empty()).then_some(arguments))
    };
    vec![
        prompt("test_simple_prompt", "A sentence", &[]),
        prompt("test_prompt_with_arguments", "A sentence with two arguments in it", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", "A resource", &["resourceUri"]),
        prompt("test_prompt_with_image", "A picture", &[]),
        prompt("test_input_required_result_prompt", "Asks for its context first", &[]),
    ]
}

pub(crate) fn get(input: &Input, request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let argument = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        argument.ok_or_else(|| ErrorData::invalid_params(format!("the argument `{name}` is missing"), None))
    };
    let contents = match &*request.name {
        "test_simple_prompt" => vec![contents::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![contents::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = contents::resource(argument("resourceUri")?, "text/plain", text);
            vec![resource, contents::text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            vec![contents::image(), contents::text("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => {
            let rounds: &[&[_]] =
                &[&[("user_context", Question::Text("What context should the prompt use?"))]];
            let responses = request.input_responses.as_ref();
            match input.ask(&request.name, rounds, responses, request.request_state.as_deref())? {
                Reply::Ask(questions) => return Ok(questions.into()),
                Reply::Answered(answers) => {
                    vec![contents::text(format!("With this context: {}", Value::Object(answers)))]
                }
            }
        }
        unknown => return Err(ErrorData::invalid_params(format!("there is no prompt {unknown:?}"), None)),
    };
    let messages = contents.into_iter().map(|contents| PromptMessage::new(Role::User, contents));
    Ok(GetPromptResult::new(messages.collect()).into())
}

/// Suggests a value for an argument of the one prompt whose arguments are free.
pub(crate) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let is_known =
        matches!(&request.r#ref, Reference::Prompt(prompt) if prompt.name == "test_prompt_with_arguments");
    let begun = &request.argument.value;
    let values =
        ["hello", "test", "world"].into_iter().filter(|value| is_known && value.starts_with(&**begun));
    let values = CompletionInfo::with_all_values(values.map(str::to_owned).collect());
    values.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}
