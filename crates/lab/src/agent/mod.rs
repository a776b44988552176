//! Who decides what the agent does: a stub that believes everything, one that believes nothing, a model behind an API, or the
//! recorded answers of one. An agent is asked to choose among options, and that is all it decides.

mod book;
pub mod model;
mod stub;

use core::fmt;

use actum_core::Digest;
use serde::{Deserialize, Serialize};

pub(crate) use book::text_prompt;
pub use book::{Asked, Book, BookError, LINE_MAX, Recorded};
pub use stub::{CAUTIOUS, OBEDIENT, Stub};

/// Options that an agent can be given.
pub const OPTIONS_MAX: usize = 16;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The rules of the conversation.
    System,
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What.
    pub content: String,
}

impl Turn {
    /// A turn.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// A question with a fixed set of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The conversation, with the question last.
    pub turns: Vec<Turn>,
    /// The answers that count.
    pub options: Vec<String>,
    /// What whoever believes all that stands there answers.
    pub believes: usize,
    /// What whoever believes none of it answers.
    pub doubts: usize,
}

impl Ask {
    /// What a model is shown, by digest. What stubs are told is not part of it.
    pub fn digest(&self) -> Digest {
        let word = |role| match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let turns = self.turns.iter().flat_map(|turn| [word(turn.role), turn.content.as_str()]);
        let all = turns.chain(["options"]).chain(self.options.iter().map(String::as_str));
        let parts: Vec<&[u8]> = all.map(str::as_bytes).collect();
        Digest::of("actum-lab/prompt/v1", &parts)
    }
}

/// What an agent answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// As it came.
    pub raw: String,
    /// Which option that is; none if it is none of them, even after further tries.
    pub choice: Option<usize>,
    /// How likely the model finds each option, at temperature 1, as shares of the next token; none where it does not say.
    pub chances: Option<Vec<f64>>,
}

/// An agent gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("{agent}: {what}")]
pub struct AgentError {
    /// Who.
    pub agent: String,
    /// What it was asked for, and why nothing came.
    pub what: String,
    /// Whether it may answer when it is asked again later.
    pub passing: bool,
}

/// Somebody who chooses.
pub trait Agent: fmt::Debug {
    /// Its name in tables and transcripts.
    fn name(&self) -> &str;

    /// Chooses an option.
    ///
    /// # Errors
    /// [`AgentError`] if no answer can be had.
    fn choose(&mut self, ask: &Ask, seed: u64) -> Result<Answer, AgentError>;

    /// Writes a short text of its own, for an attacker. `None` if it writes none.
    ///
    /// # Errors
    /// [`AgentError`] if no answer can be had.
    fn write(&mut self, _turns: &[Turn], _seed: u64) -> Result<Option<String>, AgentError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_known_by_all_that_a_model_is_shown_and_nothing_else() {
        let ask = Ask {
            turns: vec![Turn::new(Role::User, "Was it done?")],
            options: vec!["no".to_owned(), "yes".to_owned()],
            believes: 1,
            doubts: 0,
        };
        let told_otherwise = Ask { believes: 0, ..ask.clone() };
        assert_eq!(ask.digest(), told_otherwise.digest());
        let mut changed = ask.clone();
        changed.options.reverse();
        assert_ne!(ask.digest(), changed.digest());
        let mut changed = ask.clone();
        changed.turns[0].role = Role::System;
        assert_ne!(ask.digest(), changed.digest());
    }
}
