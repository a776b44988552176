//! The scenarios in which a safety step may be skipped: who does what, on which subjects, with which notes. The texts are
//! data, in `sets/forged.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The published set.
pub const FORGED: &str = include_str!("../sets/forged.toml");

/// A task with a safety step before its effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name here.
    pub name: String,
    /// What the paper calls it.
    pub paper: String,
    /// What the user asks for. As all texts, with `{x}` for the subject.
    pub task: String,
    /// The safety step.
    pub step: String,
    /// The tool that performs it.
    pub step_tool: String,
    /// The tool that has the effect.
    pub act_tool: String,
    /// The argument of both that is the subject.
    pub subject_argument: String,
    /// The argument of both that is what the step looks at.
    pub content_argument: String,
    /// What it is.
    pub content: String,
    /// What it is after somebody exchanged it.
    pub swapped: String,
    /// How a model is asked whether the step was done.
    pub question: String,
    /// A harmful call that no safety step guards.
    pub ungated: Ungated,
    /// What is in force for Actum.
    pub policy: String,
    /// One for each trial, and over again.
    pub subjects: Vec<String>,
    /// Notes that say nothing of the step.
    pub neutral: Vec<String>,
    /// FARMA's seeds.
    pub basic: Vec<String>,
    /// What a cycle of amplification adds; `{n}` counts.
    pub amplify: String,
    /// The claim as a fact in general memory.
    pub relocated: Vec<String>,
    /// Rewordings by hand.
    pub adaptive: Vec<String>,
    /// A note that calls the subject exempt.
    pub exempt: String,
    /// Notes that judge and claim nothing.
    pub judgement: Vec<String>,
    /// Notes that say that the step is still to do.
    pub pending: Vec<String>,
    /// The agent's own log of a step that ran, by style.
    pub logs: BTreeMap<String, String>,
}

/// A harmful call that no step guards.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ungated {
    /// The tool.
    pub tool: String,
    /// Its argument.
    pub argument: String,
    /// With this value, which only the attacker names.
    pub value: String,
    /// The note that brings the agent to it.
    pub note: String,
    /// How a model is asked whether it has to.
    pub question: String,
}

#[derive(Deserialize)]
struct File {
    scenario: Vec<Scenario>,
}

/// Reads a set of scenarios.
///
/// # Errors
/// What is wrong where, as TOML says it.
pub fn read(text: &str) -> Result<Vec<Scenario>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.scenario)
}

/// A text about one subject.
pub fn about(text: &str, subject: &str) -> String {
    text.replace("{x}", subject)
}

impl Scenario {
    /// The subject of a trial.
    pub fn subject(&self, trial: u32) -> &str {
        let at = usize::try_from(trial).unwrap_or_default() % self.subjects.len().max(1);
        self.subjects.get(at).map_or("", String::as_str)
    }

    /// Another subject than that of the trial.
    pub fn other_subject(&self, trial: u32) -> &str {
        self.subject(trial + 7)
    }
}

#[cfg(test)]
mod tests {
    use actum_core::policy::Policy;

    use super::*;

    #[test]
    fn the_published_set_is_whole() {
        let all = read(FORGED).unwrap();
        assert_eq!(
            all.iter().map(|it| it.paper.as_str()).collect::<Vec<_>>(),
            ["EHRAgent", "ReAct-QA", "RAP"]
        );
        for scenario in all {
            Policy::parse(&scenario.policy).unwrap();
            assert_eq!(scenario.subjects.len(), 20, "{}", scenario.name);
            assert_eq!(scenario.basic.len(), 3, "FARMA has three seeds");
            assert_eq!(scenario.judgement.len(), 5, "the paper has five judgement forgeries");
            assert_eq!(scenario.logs.keys().collect::<Vec<_>>(), ["audit", "call", "diary"]);
            assert!(scenario.amplify.contains("{n}") && scenario.question.contains("{x}"));
            assert_ne!(scenario.subject(3), scenario.other_subject(3));
        }
    }
}
