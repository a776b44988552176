//! The public conformance set: small situations in `cases/`, each with its question, the right answer and the rule that gives
//! it. A case is played by the shipped rules, and again without the rule it names: then it must come out otherwise.
//! `cases/README.md` is the page for whoever writes one.

mod elsewhere;
mod page;
mod play;
mod spell;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use actum_core::Rule;
use serde::Deserialize;

pub use elsewhere::LIST;
pub use page::page;
pub use play::{Fault, play};
use spell::Step;

/// Bytes in the file of a case.
pub const CASE_MAX: u64 = 64 * 1024;

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows, in a sentence.
    pub title: String,
    /// Where it is from: a document and its place.
    pub source: String,
    /// The words of the rules that give the answer. Of several, each would do.
    pub rules: Vec<String>,
    /// The policy in force; without one none is.
    pub policy: Option<String>,
    /// What happens, in order.
    step: Vec<Step>,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let case: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        case.named_rules()?;
        if case.step.iter().any(|step| step.expected().word.is_some()) {
            Ok(case)
        } else {
            Err("no step of it expects anything".to_owned())
        }
    }

    /// The rules it names.
    ///
    /// # Errors
    /// A word that is no rule, or none at all.
    pub fn named_rules(&self) -> Result<Vec<Rule>, String> {
        if self.rules.is_empty() {
            return Err("it names no rule".to_owned());
        }
        let rule = |word: &String| Rule::from_word(word).ok_or(format!("`{word}` is no rule"));
        self.rules.iter().map(rule).collect()
    }
}

/// Every case below a folder, by its path there without the ending.
///
/// # Errors
/// A file that cannot be read or is no case, by name.
pub fn all(folder: &Path) -> Result<BTreeMap<String, Case>, String> {
    let mut found = BTreeMap::new();
    for path in files(folder).map_err(|error| error.to_string())? {
        let name = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let name = name.display().to_string();
        let case =
            fs::metadata(&path)
                .and_then(|of| {
                    if of.len() > CASE_MAX { Err(io::Error::other("too long")) } else { Ok(()) }
                })
                .and_then(|()| fs::read_to_string(&path));
        let case = case.map_err(|error| format!("{name}: {error}"))?;
        found.insert(name.clone(), Case::read(&case).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(found)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
    Ok(found)
}
