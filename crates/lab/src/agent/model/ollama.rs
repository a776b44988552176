//! The dialect of Ollama's `/api/chat`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::choice::{Choice, Said, Token, schema};
use super::{Question, TOP_LOGPROBS};

/// What follows an endpoint's address.
pub(super) const PATH: [&str; 2] = ["/api", "/chat"];

#[derive(Deserialize)]
struct Body {
    message: Message,
    #[serde(default)]
    done_reason: Option<String>,
    /// Servers before 0.12.11 say nothing of chances.
    #[serde(default)]
    logprobs: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

pub(super) fn request(question: &Question<'_>) -> Value {
    let mut body = json!({
        "model": question.model,
        "messages": question.turns,
        "stream": false,
        // A model that thinks first spends its tokens before the answer begins.
        "think": false,
        "options": {
            "temperature": super::temperature(question.temperature_percent),
            "seed": question.seed,
            "num_predict": question.tokens,
        },
    });
    let format = match question.held {
        // `Model::new` refuses a grammar, for which this API has no word.
        None | Some((_, Choice::Plain | Choice::Grammar)) => None,
        Some((options, Choice::Schema)) => Some(("format", schema(options))),
    };
    super::add(&mut body, format);
    if question.logprobs {
        super::add(&mut body, [("logprobs", json!(true)), ("top_logprobs", json!(TOP_LOGPROBS))]);
    }
    body
}

pub(super) fn answer(value: Value) -> Result<Said, serde_json::Error> {
    let body: Body = serde_json::from_value(value)?;
    let tokens = body.logprobs.and_then(|value| serde_json::from_value::<Vec<Token>>(value).ok());
    Ok(Said {
        text: body.message.content,
        tokens: tokens.unwrap_or_default(),
        ended: body.done_reason,
    })
}
