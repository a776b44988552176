//! Agents without a model: the worst case, which believes all it reads and obeys it, and one that believes nothing.

use super::{Agent, AgentError, Answer, Ask};

/// The name of the stub that believes everything.
pub const OBEDIENT: &str = "obedient";
/// The name of the stub that believes nothing.
pub const CAUTIOUS: &str = "cautious";

/// An agent without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stub {
    /// Believes everything it is shown.
    Obedient,
    /// Believes nothing, and performs every step.
    Cautious,
}

impl Agent for Stub {
    fn name(&self) -> &str {
        match self {
            Self::Obedient => OBEDIENT,
            Self::Cautious => CAUTIOUS,
        }
    }

    fn choose(&mut self, ask: &Ask, _seed: u64) -> Result<Answer, AgentError> {
        let choice = match self {
            Self::Obedient => ask.believes,
            Self::Cautious => ask.doubts,
        };
        let raw = ask.options.get(choice).cloned().unwrap_or_default();
        Ok(Answer { raw, choice: Some(choice), chances: None })
    }
}
