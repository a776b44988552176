//! How calls, entries and mandates are written in the sets, shared by all experiments that play sessions.

use std::collections::BTreeMap;

use actum_core::Call;
use serde::Deserialize;

use crate::defence::{Entry, EntryKind, Mandate, call};

/// A call: a tool and its arguments, all of them texts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpelledCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub args: BTreeMap<String, String>,
}

impl SpelledCall {
    /// The call itself.
    pub fn call(&self) -> Call {
        let arguments: Vec<(&str, &str)> =
            self.args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        call(&self.tool, &arguments)
    }
}

/// What the owner allows beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpelledMandate {
    /// The tool.
    pub tool: String,
    /// Arguments with the only value they may have.
    #[serde(default)]
    pub equal: BTreeMap<String, String>,
}

impl SpelledMandate {
    /// The mandate itself.
    pub fn mandate(&self) -> Mandate {
        Mandate { tool: self.tool.clone(), equal: self.equal.clone() }
    }
}

/// A text that came through a channel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpelledText {
    /// Its name, where it is an entry.
    #[serde(default)]
    pub name: String,
    /// How it came.
    pub channel: String,
    /// What it says.
    pub text: String,
}

impl SpelledText {
    /// The text as an entry of memory.
    pub fn entry(&self) -> Entry {
        Entry::of(&self.channel, self.name.clone(), self.text.clone())
    }
}

/// Memory or task, by its word.
pub(crate) fn kind_of(word: &str) -> EntryKind {
    if word == "task" { EntryKind::Task } else { EntryKind::Memory }
}

/// A set that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// It cannot be read.
    #[error("{set}: {error}")]
    Text {
        /// Which.
        set: String,
        /// What is wrong where.
        error: Box<toml::de::Error>,
    },
    /// It can be read and makes no sense.
    #[error("{set}: {what}")]
    Sense {
        /// Which.
        set: String,
        /// What is wrong with which case.
        what: String,
    },
}

/// Reads a set of any shape.
///
/// # Errors
/// [`SetError::Text`] names line and key.
pub(crate) fn read<T: serde::de::DeserializeOwned>(set: &str, text: &str) -> Result<T, SetError> {
    let wrong = |error| SetError::Text { set: set.to_owned(), error: Box::new(error) };
    toml::from_str(text).map_err(wrong)
}
