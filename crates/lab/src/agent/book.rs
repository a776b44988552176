//! What a model was asked and what it answered, one JSON line each: *record once, score always*. A book is looked into before a
//! model is asked, so a run that was interrupted goes on where it stopped, and a published book stands in for its model.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use actum_core::Digest;
use serde::{Deserialize, Serialize};

use super::{Agent, AgentError, Answer, Ask, Turn};

/// Bytes of one line.
pub const LINE_MAX: u64 = 64 * 1024;

/// One answer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The digest of the prompt and its options.
    pub prompt: String,
    /// The model, by the name the endpoint has for it.
    pub model: String,
    /// The temperature, in hundredths.
    pub temperature_percent: u32,
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
    /// How often it had to be asked.
    pub tries: u32,
    /// How long the last try took, in ms.
    pub ms: u64,
}

/// A file of recorded answers that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = path.display())]
pub struct BookError {
    /// Which.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// The recorded answers of one model, and the model itself where there is one to go on with.
#[derive(Debug)]
pub struct Book {
    name: String,
    model: String,
    temperature_percent: u32,
    path: PathBuf,
    known: BTreeMap<(String, u64), Recorded>,
    live: Option<Box<dyn Asked>>,
    file: Option<File>,
}

/// Somebody who can be asked and says everything that is recorded.
pub trait Asked: core::fmt::Debug {
    /// The answer to a question with options.
    ///
    /// # Errors
    /// [`AgentError`] if none can be had.
    fn ask(&mut self, ask: &Ask, seed: u64) -> Result<Recorded, AgentError>;

    /// A text.
    ///
    /// # Errors
    /// [`AgentError`] if none can be had.
    fn write(&mut self, turns: &[Turn], seed: u64) -> Result<Recorded, AgentError>;
}

impl Book {
    /// Reads a book. All its answers are of one model at one temperature.
    ///
    /// # Errors
    /// [`BookError`] names the first line that is wrong.
    pub fn read(path: &Path, name: &str) -> Result<Self, BookError> {
        let fail = |what: String| BookError { path: path.to_owned(), what };
        let file = File::open(path).map_err(|error| fail(error.to_string()))?;
        let mut known = BTreeMap::new();
        let mut of: Option<(String, u32)> = None;
        let mut lines = BufReader::new(file);
        for number in 1_u64.. {
            let mut line = String::new();
            let mut limited = std::io::Read::take(&mut lines, LINE_MAX);
            let read = limited.read_line(&mut line).map_err(|error| fail(error.to_string()))?;
            if read == 0 {
                break;
            }
            if !line.ends_with('\n') {
                // Cut short in the middle of a line: that answer is asked for again.
                break;
            }
            let recorded: Recorded = serde_json::from_str(&line)
                .map_err(|error| fail(format!("line {number}: {error}")))?;
            let own = (recorded.model.clone(), recorded.temperature_percent);
            if *of.get_or_insert_with(|| own.clone()) != own {
                let what = format!("line {number}: another model or temperature than line 1");
                return Err(fail(what));
            }
            known.insert((recorded.prompt.clone(), recorded.seed), recorded);
        }
        let (model, temperature_percent) = of.unwrap_or_default();
        let (name, path) = (name.to_owned(), path.to_owned());
        Ok(Self { name, model, temperature_percent, path, known, live: None, file: None })
    }

    /// A book that goes on with a model: what it has is not asked for again, and what is new is written down at once.
    ///
    /// # Errors
    /// [`BookError`] if it cannot be read or written, or is of another model or temperature.
    pub fn continued(
        path: &Path,
        name: &str,
        (model, temperature_percent): (&str, u32),
        live: Box<dyn Asked>,
    ) -> Result<Self, BookError> {
        let fail = |what: String| BookError { path: path.to_owned(), what };
        let mut book = if path.exists() {
            cut_half_line(path).map_err(|error| fail(error.to_string()))?;
            Self::read(path, name)?
        } else {
            let (name, path) = (name.to_owned(), path.to_owned());
            let (model, known) = (model.to_owned(), BTreeMap::new());
            Self { name, model, temperature_percent, path, known, live: None, file: None }
        };
        if book.known.is_empty() {
            (book.model, book.temperature_percent) = (model.to_owned(), temperature_percent);
        }
        if (book.model.as_str(), book.temperature_percent) != (model, temperature_percent) {
            let what = format!(
                "holds answers of {} at temperature {}%, not of {model} at {temperature_percent}%",
                book.model, book.temperature_percent
            );
            return Err(fail(what));
        }
        let opened = OpenOptions::new().create(true).append(true).open(path);
        book.file = Some(opened.map_err(|error| fail(error.to_string()))?);
        book.live = Some(live);
        Ok(book)
    }

    /// The model whose answers these are.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The answers, in the order of their prompts.
    pub fn answers(&self) -> impl Iterator<Item = &Recorded> {
        self.known.values()
    }

    /// The digest of the file, by which a report names it.
    ///
    /// # Errors
    /// [`BookError`] if it cannot be read.
    pub fn digest(&self) -> Result<Digest, BookError> {
        let bytes = fs::read(&self.path);
        let fail =
            |error: std::io::Error| BookError { path: self.path.clone(), what: error.to_string() };
        Ok(Digest::plain(&bytes.map_err(fail)?))
    }

    fn known_or(
        &mut self,
        prompt: &Digest,
        seed: u64,
        ask: impl FnOnce(&mut dyn Asked) -> Result<Recorded, AgentError>,
    ) -> Result<Recorded, AgentError> {
        let key = (prompt.to_string(), seed);
        if let Some(recorded) = self.known.get(&key) {
            return Ok(recorded.clone());
        }
        let fail = |what: String| AgentError { agent: self.name.clone(), what, passing: false };
        let Some(live) = self.live.as_mut() else {
            let what = format!("no answer is recorded for prompt {} with seed {seed}", key.0);
            return Err(fail(what));
        };
        let recorded = ask(live.as_mut())?;
        if let Some(file) = &mut self.file {
            let text = serde_json::to_string(&recorded).map_err(|error| fail(error.to_string()))?;
            writeln!(file, "{text}").map_err(|error| fail(error.to_string()))?;
        }
        self.known.insert(key, recorded.clone());
        Ok(recorded)
    }
}

/// The digest of a conversation that asks for a text.
pub(crate) fn text_prompt(turns: &[Turn]) -> Digest {
    Ask { turns: turns.to_vec(), options: Vec::new(), believes: 0, doubts: 0 }.digest()
}

impl Agent for Book {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose(&mut self, ask: &Ask, seed: u64) -> Result<Answer, AgentError> {
        let recorded = self.known_or(&ask.digest(), seed, |live| live.ask(ask, seed))?;
        let chances = recorded
            .chances_millionths
            .map(|all| all.into_iter().map(crate::stats::of_millionths).collect());
        Ok(Answer { raw: recorded.raw, choice: recorded.choice, chances })
    }

    fn write(&mut self, turns: &[Turn], seed: u64) -> Result<Option<String>, AgentError> {
        let recorded = self.known_or(&text_prompt(turns), seed, |live| live.write(turns, seed))?;
        Ok(Some(recorded.raw))
    }
}

/// What follows the last line break was being written when the run was interrupted.
fn cut_half_line(path: &Path) -> std::io::Result<()> {
    let bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if whole < bytes.len() {
        OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(u64::try_from(whole).unwrap_or_default())?;
    }
    Ok(())
}
