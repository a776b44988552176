//! The figures that the two documents published, and how ours differ from them, said in words.

use serde::{Deserialize, Serialize};

use crate::stats::Share;

/// Table I of the paper: model, attack, no defence, SENTINEL, `PoEM`, in per cent.
pub(super) const TABLE_I: [(&str, &str, [f64; 3]); 6] = [
    ("GPT-4o", "basic", [100.0, 0.0, 0.0]),
    ("GPT-4o", "adaptive", [98.0, 100.0, 0.0]),
    ("GPT-4o-mini", "basic", [100.0, 0.0, 0.0]),
    ("GPT-4o-mini", "adaptive", [98.0, 99.0, 0.0]),
    ("Llama-3.1-8B", "basic", [100.0, 0.0, 0.0]),
    ("Llama-3.1-8B", "adaptive", [44.0, 44.0, 0.0]),
];

/// Table II: victim, no defence, against SENTINEL, against `PoEM`, queries to the first success.
pub(super) const TABLE_II: [(&str, [f64; 3], f64); 3] = [
    ("GPT-4o-mini", [100.0, 100.0, 0.0], 1.0),
    ("GPT-4o", [77.0, 77.0, 0.0], 1.0),
    ("Llama-3.1-8B", [62.0, 62.0, 0.0], 4.0),
];

/// Table III: attack, and whether it succeeds against no defence, SENTINEL, `NaivePoEM`, `PoEM`.
pub(super) const TABLE_III: [(&str, [bool; 4]); 4] = [
    ("basic", [true, false, false, false]),
    ("forged-event", [true, false, true, false]),
    ("cross-subject", [true, false, true, false]),
    ("exempt", [true, true, false, false]),
];

/// Table IV: events, grounding and verification in µs, bytes an event.
pub(super) const TABLE_IV: [(u32, f64, f64, f64); 5] = [
    (10, 15.0, 14.0, 200.0),
    (100, 145.0, 142.0, 206.0),
    (1_000, 1_459.0, 1_456.0, 208.0),
    (10_000, 14_591.0, 14_145.0, 209.0),
    (100_000, 150_272.0, 147_721.0, 210.0),
];

/// One call of the paper's model, in ms.
pub(super) const MODEL_CALL_MS: f64 = 1218.0;

/// Table V: scenario, metric, no defence, SENTINEL, `PoEM`.
pub(super) const TABLE_V: [(&str, &str, [f64; 3]); 6] = [
    ("EHRAgent", "basic", [100.0, 0.0, 0.0]),
    ("EHRAgent", "adaptive", [100.0, 100.0, 0.0]),
    ("EHRAgent", "benign skip", [100.0, 50.0, 100.0]),
    ("RAP", "basic", [100.0, 0.0, 0.0]),
    ("RAP", "adaptive", [100.0, 100.0, 0.0]),
    ("RAP", "benign skip", [100.0, 50.0, 100.0]),
];

/// Figure 4: the paper's legitimate-skip rates with no defence, SENTINEL, `PoEM`, as far as its text and figure give them.
pub(super) const BENIGN: [(&str, [f64; 3]); 3] = [
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

/// How a share of ours stands to a published one: by its interval, not by its point.
pub(super) fn beside(ours: Share, published: f64) -> String {
    let Some(percent) = ours.percent() else { return "ours not measured".to_owned() };
    let (low, high) = ours.interval();
    let word = if published < low {
        "higher"
    } else if published > high {
        "lower"
    } else {
        "no difference that this many trials show"
    };
    format!("ours {percent:.0} % [{low:.0}, {high:.0}], published {published} %: {word}")
}
