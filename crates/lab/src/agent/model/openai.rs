//! The dialect of `/v1/chat/completions`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::choice::{Choice, Said, Token, grammar, schema};
use super::{Question, TOP_LOGPROBS};

/// What follows an endpoint's address.
pub(super) const PATH: [&str; 2] = ["/v1", "/chat/completions"];

#[derive(Deserialize)]
struct Body {
    choices: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
    /// Older servers have another shape here, and then nothing is said of chances.
    #[serde(default)]
    logprobs: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    /// Null where the model refused, or thought until its tokens ran out.
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct Logprobs {
    content: Vec<Token>,
}

pub(super) fn request(question: &Question<'_>) -> Value {
    let mut body = json!({
        "model": question.model,
        "messages": question.turns,
        "temperature": super::temperature(question.temperature_percent),
        "seed": question.seed,
        "max_tokens": question.tokens,
        "stream": false,
    });
    let held = match question.held {
        None | Some((_, Choice::Plain)) => None,
        Some((options, Choice::Grammar)) => Some(("grammar", json!(grammar(options)))),
        Some((options, Choice::Schema)) => {
            let named = json!({ "name": "choice", "strict": true, "schema": schema(options) });
            Some(("response_format", json!({ "type": "json_schema", "json_schema": named })))
        }
    };
    super::add(&mut body, held);
    if question.logprobs {
        super::add(&mut body, [("logprobs", json!(true)), ("top_logprobs", json!(TOP_LOGPROBS))]);
    }
    body
}

pub(super) fn answer(value: Value) -> Result<Said, serde_json::Error> {
    let body: Body = serde_json::from_value(value)?;
    let Some(one) = body.choices.into_iter().next() else {
        return Ok(Said::default());
    };
    let logprobs = one.logprobs.and_then(|value| serde_json::from_value::<Logprobs>(value).ok());
    Ok(Said {
        text: one.message.content.unwrap_or_default(),
        tokens: logprobs.map(|all| all.content).unwrap_or_default(),
        ended: one.finish_reason,
    })
}
