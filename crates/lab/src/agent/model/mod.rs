//! A model behind an HTTP API, as somebody who can be asked. What is asked and how answers are kept is said elsewhere; here is how
//! a question becomes a request, what may go wrong on the way, and which option an answer is.

mod choice;
mod error;
mod http;
mod ollama;
mod openai;

use serde_json::Value;

pub use choice::Choice;
pub use error::ModelError;
pub use http::{
    ATTEMPTS_MAX, BODY_MAX, ENDPOINT_MAX, HEADERS_MAX, KEY_VARIABLE, Key, RETRY_AFTER_MAX, Sleep,
    Timeouts, WAIT_MAX, Waits,
};

use self::choice::Said;
use self::http::Wire;
use super::book::text_prompt;
use super::{AgentError, Ask, Asked, OPTIONS_MAX, Recorded, Turn};
use crate::seed::Dice;

/// How often a model is asked the same question until it names an option.
pub const TRIES_MAX: u32 = 3;
/// Bytes of a conversation.
pub const PROMPT_MAX: usize = 256 * 1024;
/// Bytes of an answer: one that is all escapes still fits a line of a book.
pub const ANSWER_MAX: usize = 8 * 1024;
/// Bytes of a model's name.
pub const MODEL_MAX: usize = 256;
/// Bytes of an option.
pub const OPTION_MAX: usize = 128;
/// Tokens of a text, unless told otherwise.
pub const TEXT_TOKENS: u32 = 60;
/// Alternatives to each token that are asked for: the most that servers give.
const TOP_LOGPROBS: u32 = 20;
/// The hottest temperature that servers take, in hundredths.
pub const TEMPERATURE_PERCENT_MAX: u32 = 200;

/// The dialect that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Api {
    /// `/v1/chat/completions`, as `OpenAI`, llama.cpp, `vLLM` and many others have it.
    #[value(name = "openai")]
    OpenAi,
    /// `/api/chat`, as Ollama has it.
    Ollama,
}

/// Which model, where, and how it is asked.
#[derive(Debug)]
pub struct Settings {
    /// The dialect.
    pub api: Api,
    /// The address, with or without the part that belongs to the API: `http://127.0.0.1:8080/v1`.
    pub endpoint: String,
    /// The model, by the name the endpoint has for it.
    pub model: String,
    /// What the endpoint knows us by.
    pub key: Option<Key>,
    /// The temperature, in hundredths.
    pub temperature_percent: u32,
    /// How an answer is held to the options.
    pub choice: Choice,
    /// Whether the chances of the options are asked for; a few servers refuse to say.
    pub logprobs: bool,
    /// Tokens of an answer to a question; `None`: as many as the longest option can need.
    pub choice_tokens: Option<u32>,
    /// Tokens of a text.
    pub text_tokens: u32,
    /// How long to wait for what.
    pub timeouts: Timeouts,
}

impl Settings {
    /// The usual: temperature 0.7, plain answers, chances asked for, no key.
    pub fn new(api: Api, endpoint: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            api,
            endpoint: endpoint.into(),
            model: model.into(),
            key: None,
            temperature_percent: 70,
            choice: Choice::Plain,
            logprobs: true,
            choice_tokens: None,
            text_tokens: TEXT_TOKENS,
            timeouts: Timeouts::default(),
        }
    }
}

/// A model that answers.
#[derive(Debug)]
pub struct Model {
    settings: Settings,
    wire: Wire,
}

/// What one request says, whatever the dialect.
struct Question<'q> {
    model: &'q str,
    turns: &'q [Turn],
    temperature_percent: u32,
    seed: u32,
    tokens: u32,
    /// The options and how the answer is held to them; none for a text.
    held: Option<(&'q [String], Choice)>,
    logprobs: bool,
}

impl Model {
    /// Gets ready; nothing is sent yet.
    ///
    /// # Errors
    /// [`ModelError`] if the settings cannot be meant.
    pub fn new(mut settings: Settings, waits: Box<dyn Waits>) -> Result<Self, ModelError> {
        let fail = |what: &str| Err(ModelError::Settings { what: what.to_owned() });
        if settings.model.is_empty() || settings.model.len() > MODEL_MAX {
            return fail("a model's name has between 1 and 256 bytes");
        }
        if settings.temperature_percent > TEMPERATURE_PERCENT_MAX {
            return fail("a temperature is between 0 and 2");
        }
        if (settings.api, settings.choice) == (Api::Ollama, Choice::Grammar) {
            return fail("this API takes no grammar; a schema does the same");
        }
        let path = match settings.api {
            Api::OpenAi => openai::PATH,
            Api::Ollama => ollama::PATH,
        };
        let url = http::url(&settings.endpoint, path)?;
        let wire = Wire::new(url, settings.key.take(), settings.timeouts, waits)?;
        Ok(Self { settings, wire })
    }

    /// Model and temperature, by which a book knows whose answers it holds.
    pub fn of(&self) -> (&str, u32) {
        (&self.settings.model, self.settings.temperature_percent)
    }

    fn choose(&mut self, ask: &Ask, seed: u64) -> Result<Recorded, ModelError> {
        check_options(&ask.options)?;
        let choice = self.settings.choice;
        let mut recorded = self.unanswered(ask.digest().to_string(), seed);
        let mut ended = None;
        while recorded.choice.is_none() && recorded.tries < TRIES_MAX {
            recorded.tries += 1;
            let seed = nth_seed(seed, recorded.tries);
            let (said, ms) = self.say(&ask.turns, Some((&ask.options, choice)), seed)?;
            // The same prompt has the same chances, whatever was drawn from them.
            if recorded.tries == 1 {
                recorded.chances_millionths = choice.chances(&said.tokens, &ask.options);
            }
            recorded.choice = choice.read(&said.text, &ask.options);
            (recorded.raw, recorded.ms, ended) = (said.text, ms, said.ended);
        }
        if recorded.raw.trim().is_empty() {
            return Err(ModelError::Empty { ended, tries: recorded.tries });
        }
        Ok(recorded)
    }

    fn text(&mut self, turns: &[Turn], seed: u64) -> Result<Recorded, ModelError> {
        let (said, ms) = self.say(turns, None, seed)?;
        if said.text.trim().is_empty() {
            return Err(ModelError::Empty { ended: said.ended, tries: 1 });
        }
        let prompt = text_prompt(turns).to_string();
        Ok(Recorded { raw: said.text, tries: 1, ms, ..self.unanswered(prompt, seed) })
    }

    fn unanswered(&self, prompt: String, seed: u64) -> Recorded {
        Recorded {
            prompt,
            model: self.settings.model.clone(),
            temperature_percent: self.settings.temperature_percent,
            seed,
            raw: String::new(),
            choice: None,
            chances_millionths: None,
            tries: 0,
            ms: 0,
        }
    }

    /// One request and its answer, and how long that took, in ms.
    fn say(
        &mut self,
        turns: &[Turn],
        held: Option<(&[String], Choice)>,
        seed: u64,
    ) -> Result<(Said, u64), ModelError> {
        let bytes: usize = turns.iter().map(|turn| turn.content.len()).sum();
        if bytes > PROMPT_MAX {
            let what = format!("a prompt of {bytes} bytes is longer than {PROMPT_MAX}");
            return Err(ModelError::Settings { what });
        }
        let settings = &self.settings;
        let tokens = match held {
            None => settings.text_tokens,
            Some((options, choice)) => {
                settings.choice_tokens.unwrap_or_else(|| choice.tokens(options))
            }
        };
        let question = Question {
            model: &settings.model,
            turns,
            temperature_percent: settings.temperature_percent,
            seed: wire_seed(seed),
            tokens,
            held,
            logprobs: settings.logprobs && held.is_some(),
        };
        let body = match settings.api {
            Api::OpenAi => openai::request(&question),
            Api::Ollama => ollama::request(&question),
        };
        let mut dice = Dice::new(&["model", "wait", &seed.to_string()]);
        let answer = self.wire.post(&body.to_string(), &settings.model, &mut dice)?;
        let not_json =
            |source| ModelError::NotJson { kind: answer.kind(), begins: answer.begins(), source };
        let value: Value = serde_json::from_slice(&answer.bytes).map_err(not_json)?;
        let said = match settings.api {
            Api::OpenAi => openai::answer(value),
            Api::Ollama => ollama::answer(value),
        };
        let said = said.map_err(|source| ModelError::Shape { begins: answer.begins(), source })?;
        if said.text.len() > ANSWER_MAX {
            return Err(ModelError::TooLong { what: "the text of the answer", max: ANSWER_MAX });
        }
        Ok((said, answer.ms))
    }

    fn told(&self, error: ModelError) -> AgentError {
        let passing = error.is_passing();
        AgentError { agent: self.settings.model.clone(), what: error.to_string(), passing }
    }
}

impl Asked for Model {
    fn ask(&mut self, ask: &Ask, seed: u64) -> Result<Recorded, AgentError> {
        self.choose(ask, seed).map_err(|error| self.told(error))
    }

    fn write(&mut self, turns: &[Turn], seed: u64) -> Result<Recorded, AgentError> {
        self.text(turns, seed).map_err(|error| self.told(error))
    }
}

/// More members of a request.
fn add(body: &mut Value, more: impl IntoIterator<Item = (&'static str, Value)>) {
    if let Some(members) = body.as_object_mut() {
        members.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
}

/// A temperature as an API takes it.
fn temperature(percent: u32) -> serde_json::Number {
    let text = format!("{}.{:02}", percent / 100, percent % 100);
    text.parse().unwrap_or_else(|_never| serde_json::Number::from(0))
}

/// The seed of a further try follows from the first.
fn nth_seed(seed: u64, number: u32) -> u64 {
    if number <= 1 {
        return seed;
    }
    crate::seed(&["model", "try", &seed.to_string(), &number.to_string()])
}

/// As much of a seed as every server takes: some keep 32 bits, read them with a sign, or take all ones for chance.
fn wire_seed(seed: u64) -> u32 {
    u32::try_from(seed & 0x7fff_ffff).unwrap_or_default()
}

fn check_options(options: &[String]) -> Result<(), ModelError> {
    let fail = |what: String| Err(ModelError::Settings { what });
    if options.is_empty() || options.len() > OPTIONS_MAX {
        return fail(format!("a question has between 1 and {OPTIONS_MAX} options"));
    }
    let is_wrong = |option: &&String| option.trim().is_empty() || option.len() > OPTION_MAX;
    if let Some(option) = options.iter().find(is_wrong) {
        return fail(format!("`{option}` is no option: it has between 1 and {OPTION_MAX} bytes"));
    }
    Ok(())
}
