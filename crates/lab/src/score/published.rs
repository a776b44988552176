//! The figures that the two documents published, and how ours differ from them, said in words.
#![expect(clippy::float_arithmetic, reason = "differences between figures of a report")]

use serde::{Deserialize, Serialize};

use super::table::{percent_words, share_words};
use crate::agent::{CAUTIOUS, OBEDIENT};
use crate::stats::Share;

/// Table I of the paper: model, attack, no defence, SENTINEL, `PoEM`, in per cent.
pub(crate) const TABLE_I: [(&str, &str, [f64; 3]); 6] = [
    ("GPT-4o", "basic", [100.0, 0.0, 0.0]),
    ("GPT-4o", "adaptive", [98.0, 100.0, 0.0]),
    ("GPT-4o-mini", "basic", [100.0, 0.0, 0.0]),
    ("GPT-4o-mini", "adaptive", [98.0, 99.0, 0.0]),
    ("Llama-3.1-8B", "basic", [100.0, 0.0, 0.0]),
    ("Llama-3.1-8B", "adaptive", [44.0, 44.0, 0.0]),
];

/// Table II: victim, no defence, against SENTINEL, against `PoEM`, queries to the first success.
pub(crate) const TABLE_II: [(&str, [f64; 3], f64); 3] = [
    ("GPT-4o-mini", [100.0, 100.0, 0.0], 1.0),
    ("GPT-4o", [77.0, 77.0, 0.0], 1.0),
    ("Llama-3.1-8B", [62.0, 62.0, 0.0], 4.0),
];

/// Table III: attack, and whether it succeeds against no defence, SENTINEL, `NaivePoEM`, `PoEM`.
pub(crate) const TABLE_III: [(&str, [bool; 4]); 4] = [
    ("basic", [true, false, false, false]),
    ("forged-event", [true, false, true, false]),
    ("cross-subject", [true, false, true, false]),
    ("exempt", [true, true, false, false]),
];

/// Table IV: events, grounding and verification in µs, bytes an event.
pub(crate) const TABLE_IV: [(u32, f64, f64, f64); 5] = [
    (10, 15.0, 14.0, 200.0),
    (100, 145.0, 142.0, 206.0),
    (1_000, 1_459.0, 1_456.0, 208.0),
    (10_000, 14_591.0, 14_145.0, 209.0),
    (100_000, 150_272.0, 147_721.0, 210.0),
];

/// One call of the paper's model, in ms.
pub(crate) const MODEL_CALL_MS: f64 = 1218.0;

/// Table V: scenario, metric, no defence, SENTINEL, `PoEM`.
pub(crate) const TABLE_V: [(&str, &str, [f64; 3]); 6] = [
    ("EHRAgent", "basic", [100.0, 0.0, 0.0]),
    ("EHRAgent", "adaptive", [100.0, 100.0, 0.0]),
    ("EHRAgent", "benign skip", [100.0, 50.0, 100.0]),
    ("RAP", "basic", [100.0, 0.0, 0.0]),
    ("RAP", "adaptive", [100.0, 100.0, 0.0]),
    ("RAP", "benign skip", [100.0, 50.0, 100.0]),
];

/// Figure 4: the paper's legitimate-skip rates with no defence, SENTINEL, `PoEM`, as far as its text and figure give them.
pub(crate) const BENIGN: [(&str, [f64; 3]); 3] = [
    ("GPT-4o", [100.0, 67.0, 100.0]),
    ("GPT-4o-mini", [100.0, 67.0, 100.0]),
    ("Llama-3.1-8B", [99.0, 65.0, 98.0]),
];

/// Results of a real LangChain agent, as `docs/lab/langchain.md` has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LangChain {
    /// The agent's model.
    pub model: String,
    /// The versions of what it ran on.
    pub versions: String,
    /// One row for each scenario and metric.
    pub rows: Vec<LangChainRow>,
}

/// One measured share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LangChainRow {
    /// `EHRAgent` or `RAP`, or another.
    pub scenario: String,
    /// `basic`, `adaptive`, or `benign skip`.
    pub metric: String,
    /// The word of the defence.
    pub defence: String,
    /// So many.
    pub hits: u32,
    /// Out of so many.
    pub of: u32,
}

/// The document that a figure is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The paper about `PoEM`.
    Paper,
    /// The article about `CarryoverGate`.
    Article,
}

impl Source {
    /// As a sentence names it.
    const fn word(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Article => "article",
        }
    }
}

/// Which of the paper's models an agent of ours is set beside, and what to say of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counterpart {
    /// The paper's.
    pub(super) model: &'static str,
    /// What makes the two different.
    pub(super) why: &'static str,
}

/// The counterpart of an agent; none for a stub that believes nothing.
pub(super) fn counterpart(agent: &str) -> Option<Counterpart> {
    let lower = agent.to_lowercase();
    let flat: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    let of = |model, why| Some(Counterpart { model, why });
    match agent {
        CAUTIOUS => return None,
        OBEDIENT => return of("GPT-4o", "a stub that believes everything"),
        _ => {}
    }
    if flat.contains("gpt4omini") {
        return of("GPT-4o-mini", "the same model");
    }
    if flat.contains("gpt4o") {
        return of("GPT-4o", "the same model");
    }
    if flat.contains("llama318b") {
        return of("Llama-3.1-8B", "the same model");
    }
    match size_of(agent) {
        Some(size) if size < 8.0 => of("Llama-3.1-8B", "a smaller model"),
        Some(size) if size > 8.0 => of("Llama-3.1-8B", "a larger model"),
        Some(_) | None => of("Llama-3.1-8B", "another model"),
    }
}

/// How many thousand millions of parameters an agent has, by its name: `0.5b`, `135m`, `8B`.
pub(super) fn size_of(agent: &str) -> Option<f64> {
    let lower = agent.to_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').find_map(|part| {
        let (number, scale) = match (part.strip_suffix('b'), part.strip_suffix('m')) {
            (Some(number), _) => (number, 1.0),
            (None, Some(number)) => (number, 1_000.0),
            (None, None) => return None,
        };
        let value: f64 = number.parse().ok()?;
        (value > 0.0 && value.is_finite()).then(|| value / scale)
    })
}

/// A share of ours beside a published one, in words.
pub(super) fn difference(ours: Share, published: f64, (source, why): (Source, &str)) -> String {
    let source = source.word();
    let published_words = percent_words(published);
    let Some(percent) = ours.percent() else {
        return format!("ours not run, {source} {published_words}");
    };
    let (low, high) = ours.interval();
    let apart = percent - published;
    let word = if apart.abs() < 0.5 {
        "the same"
    } else if (low..=high).contains(&published) {
        if apart < 0.0 { "lower, within the interval" } else { "higher, within the interval" }
    } else if apart < 0.0 {
        "lower"
    } else {
        "higher"
    };
    let because = if why.is_empty() { String::new() } else { format!("; {why}") };
    format!("ours {}, {source} {published_words}: {word}{because}", share_words(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_set_beside_the_model_nearest_to_it() {
        let of = |agent| counterpart(agent).map(|it| (it.model, it.why));
        assert_eq!(of("qwen2.5-coder-1.5b-instruct"), Some(("Llama-3.1-8B", "a smaller model")));
        assert_eq!(of("smollm2-135m"), Some(("Llama-3.1-8B", "a smaller model")));
        assert_eq!(of("big-70B"), Some(("Llama-3.1-8B", "a larger model")));
        assert_eq!(of("llama3.1:8b"), Some(("Llama-3.1-8B", "the same model")));
        assert_eq!(of("gpt-4o-mini"), Some(("GPT-4o-mini", "the same model")));
        assert_eq!(of("GPT-4o"), Some(("GPT-4o", "the same model")));
        assert_eq!(of("somebody"), Some(("Llama-3.1-8B", "another model")));
        assert_eq!(of("cautious"), None);
        assert_eq!(size_of("qwen2.5-coder-0.5b"), Some(0.5));
        assert_eq!(size_of("smollm2-135m-q4"), Some(0.135));
        assert_eq!(size_of("infb-nanb"), None);
    }

    #[test]
    fn a_difference_is_said_in_words() {
        let said = |hits, of, published, why| {
            difference(Share { hits, of }, published, (Source::Paper, why))
        };
        assert_eq!(said(0, 60, 0.0, ""), "ours 0 % [0, 6], paper 0 %: the same");
        assert_eq!(
            said(7, 20, 44.0, "a smaller model"),
            "ours 35 % [18, 57], paper 44 %: lower, within the interval; a smaller model"
        );
        assert_eq!(
            said(3, 60, 44.0, "a smaller model"),
            "ours 5 % [2, 14], paper 44 %: lower; a smaller model"
        );
        assert_eq!(said(60, 60, 44.0, ""), "ours 100 % [94, 100], paper 44 %: higher");
        assert_eq!(said(0, 0, 1.7, ""), "ours not run, paper 1.7 %");
    }
}
