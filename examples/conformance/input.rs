//! How a server asks its client: the answer to the call is a question, and the client calls again with its answers.

#![allow(deprecated, reason = "what is deprecated in this revision is in it, and the suite asks for it")]

use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
        ElicitRequestParams, InputRequest, InputRequiredResult, InputResponses, JsonObject, ListRootsRequest,
        RequestStateCodec, SamplingMessage, SealOptions,
    },
};
use serde_json::{Value, json};

/// What can be asked of a client.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    /// Of its user: a text.
    Text(&'static str),
    /// Of its user: yes or no.
    Confirm(&'static str),
    /// Of its model.
    Model(&'static str),
    /// Which directories it works in.
    Roots,
}

/// A question, and the key under which the answer comes.
pub(crate) type Asked = (&'static str, Question);

pub(crate) enum Reply {
    Ask(InputRequiredResult),
    /// What was answered in the last round.
    Answered(JsonObject),
}

/// The server keeps nothing between two calls: in which round they are is in the state that the client sends back. The
/// client must not have made it up, so it is sealed.
pub(crate) struct Input {
    seal: RequestStateCodec,
}

impl Input {
    pub(crate) fn new() -> Self {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).expect("the system has random numbers");
        Self { seal: RequestStateCodec::try_new(key).expect("the key is as long as it has to be") }
    }

    /// Asks round after round. What is not answered, or not as it has to be, is asked again.
    ///
    /// # Errors
    /// A state that this server did not seal for this `name`.
    pub(crate) fn ask(
        &self,
        name: &str,
        rounds: &[&[Asked]],
        responses: Option<&InputResponses>,
        state: Option<&str>,
    ) -> Result<Reply, ErrorData> {
        let refused = |error: &dyn ToString| ErrorData::invalid_params(error.to_string(), None);
        let round = match state {
            None => 0,
            Some(state) => {
                let state = self.seal.open_with(state, name.as_bytes()).map_err(|error| refused(&error))?;
                state.first().map_or(0, |round| usize::from(*round))
            }
        };
        let questions = rounds.get(round).copied().unwrap_or_default();
        let answers = answers(questions, responses);
        let next = round + usize::from(answers.is_some());
        match (rounds.get(next), answers) {
            (None, answers) => Ok(Reply::Answered(answers.unwrap_or_default())),
            (Some(questions), _) => {
                let round = u8::try_from(next).map_err(|error| refused(&error))?;
                let state =
                    self.seal.seal_with(&[round], &SealOptions::new().associated_data(name.as_bytes()));
                let requests =
                    questions.iter().map(|(key, question)| Ok(((*key).to_owned(), question.request()?)));
                let requests: Result<_, ErrorData> = requests.collect();
                Ok(Reply::Ask(InputRequiredResult::new(Some(requests?), Some(state))))
            }
        }
    }
}

/// All answers to `questions`, if all are there. What else the client sent is not looked at.
fn answers(questions: &[Asked], responses: Option<&InputResponses>) -> Option<JsonObject> {
    let answer = |(key, question): &Asked| {
        let response = responses?.get(*key)?;
        let member = match question {
            Question::Text(_) | Question::Confirm(_) => {
                response.get("action").filter(|action| *action == "accept")?;
                "content"
            }
            Question::Model(_) => "content",
            Question::Roots => "roots",
        };
        Some(((*key).to_owned(), response.get(member)?.clone()))
    };
    questions.iter().map(answer).collect()
}

impl Question {
    /// Whether a client that has these capabilities can be asked this.
    pub(crate) fn can_be_asked(self, client: &ClientCapabilities) -> bool {
        match self {
            Self::Text(_) | Self::Confirm(_) => client.elicitation.is_some(),
            Self::Model(_) => client.sampling.is_some(),
            Self::Roots => client.roots.is_some(),
        }
    }

    pub(crate) fn request(self) -> Result<InputRequest, ErrorData> {
        let elicit = |message: &str, name: &str, schema: Value| {
            let schema = json!({"type": "object", "properties": {name: schema}, "required": [name]});
            let requested_schema = serde_json::from_value(schema)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let message = message.into();
            let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
            Ok(InputRequest::Elicitation(ElicitRequest::new(params)))
        };
        match self {
            Self::Text(message) => elicit(message, "answer", json!({"type": "string"})),
            Self::Confirm(message) => elicit(message, "ok", json!({"type": "boolean"})),
            Self::Model(prompt) => {
                let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
                Ok(InputRequest::CreateMessage(CreateMessageRequest::new(params)))
            }
            Self::Roots => Ok(InputRequest::ListRoots(ListRootsRequest::default())),
        }
    }
}
