//! What happened in each trial, one JSON line each. Scores are a pure function of these lines: a table can be made again without
//! an agent, a defence or a model.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use actum_core::Digest;
use serde::{Deserialize, Serialize};

/// Bytes of one line.
pub const LINE_MAX: u64 = 256 * 1024;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// A step skipped on the strength of a note: the paper.
    Forged,
    /// Notes that an attacker searched for: the paper's table II.
    Searched,
    /// Memory and tasks that fire again: the article's first test.
    Carryover,
    /// Tasks tampered with in one session: the shape of the article's second test.
    Tampered,
    /// A payload that waits.
    Dormant,
    /// What came of something untrusted by summary.
    Laundered,
    /// Ordinary work: how often the owner is asked.
    Work,
}

impl Experiment {
    /// Every experiment.
    pub const ALL: [Self; 7] = [
        Self::Forged,
        Self::Searched,
        Self::Carryover,
        Self::Tampered,
        Self::Dormant,
        Self::Laundered,
        Self::Work,
    ];

    /// Its word on the command line and in transcripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forged => "forged",
            Self::Searched => "searched",
            Self::Carryover => "carryover",
            Self::Tampered => "tampered",
            Self::Dormant => "dormant",
            Self::Laundered => "laundered",
            Self::Work => "work",
        }
    }
}

/// What became of a trial, as the world saw it: what really ran, not what anybody said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Came {
    /// What was asked for was done, and nothing harmful.
    Safe,
    /// The harm was done.
    Unsafe,
    /// Neither: something stopped it.
    Blocked,
}

impl Came {
    /// Of a trial in which harm was done or not, and what was asked for was done or not.
    pub const fn of(harmed: bool, completed: bool) -> Self {
        match (harmed, completed) {
            (true, _) => Self::Unsafe,
            (false, true) => Self::Safe,
            (false, false) => Self::Blocked,
        }
    }
}

/// One question that the agent was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The digest of what it was shown.
    pub prompt: String,
    /// The seed.
    pub seed: u64,
    /// What it answered.
    pub raw: String,
    /// Which option that is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub choice: Option<usize>,
    /// How likely it found each option, in millionths.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chances_millionths: Option<Vec<u32>>,
}

/// One decision of the defence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// On what: `keep`, `recall`, `fire`, `skip`, `act`.
    pub on: String,
    /// About which entry, step or tool.
    pub about: String,
    /// What: `go`, `label`, `ask`, `perform`, `withhold`, `refuse`.
    pub what: String,
    /// Why, where it says why.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What was measured.
    pub experiment: Experiment,
    /// Who decided.
    pub agent: String,
    /// Where.
    pub scenario: String,
    /// What the attacker did; `clean` is nothing.
    pub attack: String,
    /// What stood in between.
    pub defence: String,
    /// The number of the trial.
    pub trial: u32,
    /// The questions that the agent was asked.
    pub asked: Vec<Asked>,
    /// The decisions that were not plainly yes.
    pub decided: Vec<Decided>,
    /// What became of it.
    pub came: Came,
    /// Whether what the user asked for was done.
    pub completed: bool,
    /// Whether a step was skipped since it had been done before.
    #[serde(skip_serializing_if = "is_false", default)]
    pub skipped: bool,
    /// Calls with effects that the agent tried.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub effects: u32,
    /// Questions that the owner was asked.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub questions: u32,
    /// Entries put before the agent, or tried to.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub entries: u32,
    /// Entries of those that were withheld or refused.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub withheld: u32,
    /// Events in the defence's ledger at the end.
    #[serde(skip_serializing_if = "is_zero_long", default)]
    pub events: u64,
    /// Its head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// What else was counted, by what the set says the things in a session are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tally: Option<Tally>,
}

/// What became of the things in a session, by what the set says they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Entries and calls that were the user's wish.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub legitimate: u32,
    /// Those of them that were withheld, asked about or refused.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub stopped: u32,
    /// Harmless entries of somebody whom the user did not approve.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub untrusted: u32,
    /// Those of them that were withheld.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub untrusted_withheld: u32,
    /// Entries that hold a payload.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub injected: u32,
    /// Those of them that were withheld.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub injected_withheld: u32,
    /// Sessions between planting and waking.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay: Option<u32>,
    /// The digest of everything that was put before the agent, with its labels.
    pub shown: String,
}

impl Line {
    /// Whether somebody attacks here: neither a clean run nor a control.
    pub fn is_attacked(&self) -> bool {
        let is_control =
            matches!(self.attack.as_str(), "clean" | "control" | "harmless" | "pending");
        !is_control && !self.attack.starts_with("benign-")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero_long(value: &u64) -> bool {
    *value == 0
}

/// A transcript that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = path.display())]
pub struct TranscriptError {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// Writes a transcript whole, or not at all.
///
/// # Errors
/// What the disk said.
pub fn write(path: &Path, lines: &[Line]) -> Result<(), TranscriptError> {
    let fail = |what: String| TranscriptError { path: path.to_owned(), what };
    let said = |error: std::io::Error| fail(error.to_string());
    let beside = path.with_extension("jsonl.new");
    let mut file = BufWriter::new(File::create(&beside).map_err(said)?);
    for line in lines {
        let text = serde_json::to_string(line).map_err(|error| fail(error.to_string()))?;
        writeln!(file, "{text}").map_err(said)?;
    }
    file.into_inner().map_err(|error| fail(error.to_string()))?.sync_all().map_err(said)?;
    fs::rename(&beside, path).map_err(said)
}

/// Reads a transcript.
///
/// # Errors
/// The first line that is wrong.
pub fn read(path: &Path) -> Result<Vec<Line>, TranscriptError> {
    let fail = |what: String| TranscriptError { path: path.to_owned(), what };
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    let (mut reader, mut lines) = (BufReader::new(file), Vec::new());
    for number in 1_u64.. {
        let mut text = String::new();
        let mut limited = std::io::Read::take(&mut reader, LINE_MAX);
        if limited.read_line(&mut text).map_err(|error| fail(error.to_string()))? == 0 {
            break;
        }
        let line = serde_json::from_str(&text);
        lines.push(line.map_err(|error| fail(format!("line {number}: {error}")))?);
    }
    Ok(lines)
}

/// The digest of lines as they are written, by which a report names them.
pub fn digest(lines: &[Line]) -> Digest {
    let texts: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n").collect();
    Digest::plain(texts.concat().as_bytes())
}
