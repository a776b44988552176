//! What stands between an agent's memory and what it does. A defence is asked at each place where the field's defences act: when
//! an entry is kept, when it is recalled, when a stored task fires, when a step is skipped, when a call goes out. One that has
//! nothing to say there lets it pass, so a defence is what it overrides.

mod actum;
mod carryover;
mod none;
mod on_disk;
mod pair;
mod poem;
mod sentinel;

use core::fmt;
use std::collections::BTreeMap;

use actum_core::{Call, Rule, Value};
use serde::Deserialize;

pub use actum::Actum;
pub use carryover::CarryoverGate;
pub use none::NoDefence;
pub use pair::Pair;
pub use poem::{Poem, Strictness};
pub use sentinel::{FOREIGN, IMPLAUSIBLE, OPENINGS, PHRASES, Sentinel, Signals, THRESHOLD_PERCENT};

/// Memory or a stored task.
pub use actum_core::EntryKind;

/// Which of an agent's two stores an entry of memory is in, as FARMA has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// Its own decision logs, rationales and reflections.
    Reasoning,
    /// Everything else.
    General,
}

/// An entry of memory or a stored task, as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, unique in a world.
    pub name: String,
    /// Memory or task.
    pub kind: EntryKind,
    /// What it says.
    pub text: String,
    /// In which store.
    pub shelf: Shelf,
    /// How it really came: `user`, `agent`, `web:HOST`, `mcp:SERVER`, `paste`, ...
    pub channel: String,
    /// What its own metadata says of its origin; whoever writes it writes this too.
    pub declares: String,
    /// The entries it came of, as its writer says.
    pub parents: Vec<String>,
}

impl Entry {
    /// A note of the agent's own, in its reasoning store.
    pub fn log(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: EntryKind::Memory,
            text: text.into(),
            shelf: Shelf::Reasoning,
            channel: "agent".to_owned(),
            declares: "agent".to_owned(),
            parents: Vec::new(),
        }
    }

    /// An entry that came through this channel and says so.
    pub fn of(channel: &str, name: impl Into<String>, text: impl Into<String>) -> Self {
        let (channel, declares) = (channel.to_owned(), channel.to_owned());
        Self { shelf: Shelf::General, channel, declares, ..Self::log(name, text) }
    }
}

/// How an entry is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// As it is.
    Plain,
    /// As data, behind this line.
    Labelled(String),
    /// Not at all, for this reason.
    Withheld(String),
}

/// What becomes of a call or a skip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It goes ahead.
    Go,
    /// A step is missing: this call performs it.
    Perform(Call),
    /// The user has to be asked.
    Ask(String),
    /// It does not go ahead.
    Refuse(String),
}

/// How a call that went out came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It did what it was for.
    Passed,
    /// It ran and found fault.
    Failed,
}

/// What an attacker does to the bytes of a defence's own store, without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meddle {
    /// Adds an event that says that a step ran.
    Forge {
        /// Which.
        step: String,
        /// On what.
        subject: String,
    },
    /// Takes off the newest events until so many are left.
    CutTo(u64),
    /// Moves the boundary between two fields of an event without changing their bytes together.
    Reframe {
        /// The step that it says then.
        step: String,
        /// The subject that it says then.
        subject: String,
    },
}

/// A safety step, as the runtime knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepSpec {
    /// Its name.
    pub step: String,
    /// The tool that performs it.
    pub tool: String,
    /// The argument that is its subject.
    pub subject: String,
    /// The argument that it looks at.
    pub content: String,
}

impl StepSpec {
    /// The call that performs it.
    pub fn call(&self, subject: &str, content: &str) -> Call {
        call(&self.tool, &[(&self.subject, subject), (&self.content, content)])
    }

    /// The subject, if this call performs the step.
    pub fn subject_of<'c>(&self, call: &'c Call) -> Option<&'c str> {
        if call.tool() != self.tool {
            return None;
        }
        text_of(call, &self.subject)
    }
}

/// What a world tells its defence beforehand: what its owner would have configured.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The safety steps.
    pub steps: Vec<StepSpec>,
    /// Actum's policy.
    pub policy: String,
    /// Channels that the user approved, for defences that know no policy.
    pub approved: Vec<String>,
    /// Tools without consequences, for defences that know no policy.
    pub reads: Vec<String>,
    /// What the owner allows beforehand.
    pub mandates: Vec<Mandate>,
    /// Tools that the owner allows beforehand, for a defence whose mandates are names of tools.
    pub allowed: Vec<String>,
    /// Whether effects are the agent's own idea, for a defence that judges an effect only by what set it off.
    pub effects_are_derived: bool,
    /// Whether the owner can be asked.
    pub attended: bool,
    /// Whether the store has to be on disk, since somebody will change its bytes.
    pub on_disk: bool,
}

/// What the owner allows beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mandate {
    /// The tool.
    pub tool: String,
    /// Arguments with the only value they may have.
    pub equal: BTreeMap<String, String>,
}

/// What the owner allows while sessions go on, with every limit that a mandate can have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// For this stored task; for every session without one.
    #[serde(default)]
    pub task: Option<String>,
    /// How often.
    pub uses: u32,
    /// Limits on arguments.
    pub limits: Vec<GrantLimit>,
}

/// What an argument is held to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GrantLimit {
    /// Which.
    pub argument: String,
    /// How.
    pub kind: Within,
    /// By which values.
    pub values: Vec<String>,
}

/// How an argument is held to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// It is this one.
    Equal,
    /// It is one of these.
    OneOf,
    /// It is a number from the first to the second.
    Range,
    /// It begins so.
    Prefix,
}

/// A defence could not work at all: the experiment is broken, not the attack.
#[derive(Debug, thiserror::Error)]
#[error("{defence}: {what}")]
pub struct DefenceError {
    /// Which.
    pub defence: String,
    /// What it was doing, and why it could not.
    pub what: String,
}

/// What a defence was asked for, or why it could not work.
pub type Worked<T> = Result<T, DefenceError>;

/// A defence, from an empty store to its last decision.
pub trait Defence: fmt::Debug {
    /// The user or a schedule begins a session with an empty context.
    ///
    /// # Errors
    /// [`DefenceError`], as for everything below.
    fn open(&mut self) -> Worked<()> {
        Ok(())
    }

    /// The user says something in this session.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn turn(&mut self, _text: &str) -> Worked<()> {
        Ok(())
    }

    /// The result of a tool is put before the model, as it came through a channel.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn seen(&mut self, _channel: &str, _tool: &str, _text: &str) -> Worked<()> {
        Ok(())
    }

    /// A call came back with this, through this channel, and it is put before the model.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn result(&mut self, call: &Call, channel: &str, text: &str) -> Worked<()> {
        self.seen(channel, call.tool(), text)
    }

    /// The owner allows something beforehand.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn allow(&mut self, _grant: &Grant) -> Worked<()> {
        Ok(())
    }

    /// The owner, who was asked about it last, says yes to exactly this call, once.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn approve(&mut self, _call: &Call) -> Worked<()> {
        Ok(())
    }

    /// An entry is written through the store, by the agent in this session or by whoever its channel is. False: it is refused.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn keep(&mut self, _entry: &Entry) -> Worked<bool> {
        Ok(true)
    }

    /// An entry is about to be put before the model.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn recall(&mut self, _entry: &Entry) -> Worked<Served> {
        Ok(Served::Plain)
    }

    /// A stored task is about to run, in a session of its own.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn fire(&mut self, _task: &Entry) -> Worked<Served> {
        Ok(Served::Plain)
    }

    /// The agent proposes to skip a step.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn skip(&mut self, step: &StepSpec, subject: &str, content: &str) -> Worked<Ruling>;

    /// The agent calls a tool.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn act(&mut self, _call: &Call) -> Worked<Ruling> {
        Ok(Ruling::Go)
    }

    /// The call that was let go came back; with what, is put before the model by [`Defence::seen`].
    ///
    /// # Errors
    /// [`DefenceError`].
    fn ended(&mut self, _call: &Call, _how: Ended) -> Worked<()> {
        Ok(())
    }

    /// The attacker changes the bytes of the store.
    ///
    /// # Errors
    /// [`DefenceError`].
    fn meddle(&mut self, _how: &Meddle) -> Worked<()> {
        Ok(())
    }

    /// How many events its ledger has, if it keeps one.
    fn events(&self) -> u64 {
        0
    }

    /// The head of its ledger, in hexadecimal.
    fn head(&self) -> Option<String> {
        None
    }
}

/// Which defence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing.
    None,
    /// SENTINEL's Reasoning Guard, rebuilt.
    Sentinel,
    /// The paper's ledger, asked only whether the step ran at all.
    NaivePoem,
    /// The paper's defence.
    Poem,
    /// The article's gate, rebuilt.
    Carryover,
    /// Actum's provenance without its receipts: no step is required, none raises a value.
    OriginOnly,
    /// The paper's and the article's, side by side.
    PoemAndCarryover,
    /// Actum without one rule.
    Without(Rule),
    /// Actum as it is shipped.
    Actum,
}

impl Kind {
    /// Every defence but the ablations.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Sentinel,
        Self::NaivePoem,
        Self::Poem,
        Self::Carryover,
        Self::OriginOnly,
        Self::PoemAndCarryover,
        Self::Actum,
    ];

    /// Its word in transcripts and on the command line.
    pub fn word(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Sentinel => "sentinel".to_owned(),
            Self::NaivePoem => "naive-poem".to_owned(),
            Self::Poem => "poem".to_owned(),
            Self::Carryover => "carryover".to_owned(),
            Self::OriginOnly => "origin-only".to_owned(),
            Self::PoemAndCarryover => "poem+carryover".to_owned(),
            Self::Without(rule) => format!("actum-without-{}", rule.word()),
            Self::Actum => "actum".to_owned(),
        }
    }

    /// The defence with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == word);
        known.or_else(|| {
            word.strip_prefix("actum-without-").and_then(Rule::from_word).map(Self::Without)
        })
    }

    /// Its name in a table.
    pub fn title(&self) -> String {
        match self {
            Self::None => "No defence".to_owned(),
            Self::Sentinel => "SENTINEL".to_owned(),
            Self::NaivePoem => "NaivePoEM".to_owned(),
            Self::Poem => "PoEM".to_owned(),
            Self::Carryover => "CarryoverGate".to_owned(),
            Self::OriginOnly => "Origin only".to_owned(),
            Self::PoemAndCarryover => "PoEM + CarryoverGate".to_owned(),
            Self::Without(rule) => format!("Actum without `{}`", rule.word()),
            Self::Actum => "Actum".to_owned(),
        }
    }

    /// A fresh one.
    ///
    /// # Errors
    /// [`DefenceError`] if it cannot be set up so.
    pub fn build(&self, setup: &Setup) -> Worked<Box<dyn Defence>> {
        Ok(match self {
            Self::None => Box::new(NoDefence),
            Self::Sentinel => Box::new(Sentinel::default()),
            Self::NaivePoem => Box::new(Poem::new(setup, Strictness::Naive)),
            Self::Poem => Box::new(Poem::new(setup, Strictness::Paper)),
            Self::Carryover => Box::new(CarryoverGate::new(setup)),
            Self::OriginOnly => {
                Box::new(Actum::without(&[Rule::Obligation, Rule::Elevation], &self.word(), setup)?)
            }
            Self::PoemAndCarryover => Box::new(Pair::new(
                Box::new(Poem::new(setup, Strictness::Paper)),
                Box::new(CarryoverGate::new(setup)),
            )),
            Self::Without(rule) => Box::new(Actum::without(&[*rule], &self.word(), setup)?),
            Self::Actum => Box::new(Actum::shipped(setup)?),
        })
    }
}

/// A call with texts for arguments.
///
/// # Panics
/// On a name that no tool can have, or a text beyond the limits of a call: the sets are ours.
pub fn call(tool: &str, arguments: &[(&str, &str)]) -> Call {
    let arguments: BTreeMap<String, Value> =
        arguments.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect();
    let made = Call::new(tool, arguments);
    #[expect(clippy::expect_used, reason = "said in its promise")]
    made.expect("the sets name tools and arguments within the limits of a call")
}

/// A text among the arguments of a call.
pub fn text_of<'c>(call: &'c Call, argument: &str) -> Option<&'c str> {
    match call.argument(argument)? {
        Value::Text(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        let ablations = Rule::ALL.iter().map(|rule| Kind::Without(*rule));
        for kind in Kind::ALL.into_iter().chain(ablations) {
            assert_eq!(Kind::from_word(&kind.word()), Some(kind.clone()));
        }
    }
}
