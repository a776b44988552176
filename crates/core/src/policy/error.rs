//! What can be wrong with a policy, and where. One line each, meant for the person who wrote the file.

use crate::names::NameError;

/// The first thing that is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("actum.toml:{line}:{column}: {problem}")]
pub struct PolicyError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) problem: Problem,
}

impl PolicyError {
    /// The line, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The character in that line, from 1.
    pub const fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there.
    pub const fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// What is wrong. Texts of the file in it are shortened and hold no control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The file is over its limit; nothing of it was read.
    #[error("the file has {length} bytes; the limit is {limit}")]
    Large {
        /// Bytes.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Not TOML: a doubled key is among these.
    #[error("{message}")]
    Syntax {
        /// In the words of the TOML reader.
        message: String,
    },
    /// A key that must be there is not.
    #[error("{place} has no `{key}`; {hint}")]
    Missing {
        /// The file or a step.
        place: String,
        /// The key.
        key: &'static str,
        /// What to write.
        hint: &'static str,
    },
    /// A key that nothing knows.
    #[error("unknown key `{key}` in {place}; {}", suggestion(*nearest, known))]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
        /// The known key that it resembles.
        nearest: Option<&'static str>,
        /// The known keys.
        known: &'static [&'static str],
    },
    /// A word that is not one of the few that may stand there.
    #[error("{what} is `{word}`; {}", suggestion(*nearest, known))]
    UnknownWord {
        /// Which value.
        what: String,
        /// The word.
        word: String,
        /// The known word that it resembles.
        nearest: Option<&'static str>,
        /// The known words.
        known: &'static [&'static str],
    },
    /// A key that is known, where it would say nothing. Refused, since whoever wrote it meant something by it.
    #[error("`{key}` has no meaning in {place}: {why}")]
    Meaningless {
        /// The key.
        key: &'static str,
        /// Where it stands.
        place: String,
        /// Why it has none.
        why: &'static str,
    },
    /// A step that is two things.
    #[error(
        "{place} has `{one}` and `{other}`; a step is exactly one of `commands`, `tool` and `all_of`"
    )]
    TwoForms {
        /// The step.
        place: String,
        /// What it is first.
        one: &'static str,
        /// What it is too.
        other: &'static str,
    },
    /// A word that a list holds already.
    #[error("{what} holds `{word}` twice")]
    Twice {
        /// The list.
        what: String,
        /// The word.
        word: String,
    },
    /// Not an argument of a tool step.
    #[error("{what} is `{text}`; a step with `tool` names an argument, such as \"args.source\"")]
    NotArgs {
        /// Which value.
        what: String,
        /// What stands there.
        text: String,
    },
    /// A step that is named and not there.
    #[error("{what} names the step `{step}`, which is not there{}", meant(nearest.as_deref()))]
    NoStep {
        /// Where it is named.
        what: String,
        /// The step.
        step: String,
        /// The step that it resembles.
        nearest: Option<String>,
    },
    /// Steps and tools that need themselves.
    #[error("{path}: a circle, in which nothing could ever come first")]
    Cycle {
        /// From the first to the first again.
        path: String,
    },
    /// Steps and tools that need one another too deep.
    #[error("{place} needs more than {limit} steps and tools one below the other")]
    Deep {
        /// The step or the tool.
        place: String,
        /// The limit.
        limit: usize,
    },
    /// Not a pattern of channels.
    #[error("`{pattern}` is not a pattern of channels: {why}")]
    ChannelPattern {
        /// What stands there.
        pattern: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Not a moment that can be read.
    #[error(
        "{what} is {found}; write a date, such as 2027-03-01, or a time with its offset, such as 2027-03-01T09:00:00Z"
    )]
    Moment {
        /// Which value.
        what: String,
        /// What stands there.
        found: String,
    },
    /// Understood, and not accepted since it contradicts something or protects nothing.
    #[error("{what}: {why}")]
    Refused {
        /// Which value.
        what: String,
        /// Why.
        why: String,
    },
    /// A value of another type.
    #[error("{what} is {found}; write {wanted}")]
    Type {
        /// Which value.
        what: String,
        /// Its type.
        found: &'static str,
        /// What to write.
        wanted: &'static str,
    },
    /// A version of the format that is not known.
    #[error("version {found} of the format is not known; this Actum reads version 1")]
    Version {
        /// The number in the file.
        found: String,
    },
    /// A name that is none.
    #[error(transparent)]
    Name(NameError),
    /// Nothing where something must be.
    #[error("{what} is empty")]
    Empty {
        /// Which value.
        what: String,
    },
    /// More than the limit.
    #[error("{what}: there are {count}; the limit is {limit}")]
    Many {
        /// Of what.
        what: String,
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// Longer than the limit.
    #[error("{what} has {length} bytes; the limit is {limit}")]
    Long {
        /// Which value.
        what: String,
        /// Bytes.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A NUL, which no argument and no variable can hold.
    #[error("{what} holds a NUL")]
    Nul {
        /// Which value.
        what: String,
    },
    /// A pattern that does not compile or compiles to too much.
    #[error("the pattern `{pattern}` cannot be used: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// In the words of the regular-expression reader.
        reason: String,
    },
    /// A pattern that any output satisfies.
    #[error("the pattern `{pattern}` matches any line, so it proves nothing")]
    MatchesAnything {
        /// The pattern.
        pattern: String,
    },
    /// A lifetime that cannot be read.
    #[error("`{text}` is not a lifetime; write a whole number and s, m, h or d, such as 24h")]
    Lifetime {
        /// What stands there.
        text: String,
    },
    /// A lifetime outside its limits.
    #[error("a lifetime of `{text}` is outside the limits, 1s to 3650d")]
    LifetimeLimit {
        /// What stands there.
        text: String,
    },
    /// A number that no command ends with.
    #[error("{found} is not an exit code; they go from 0 to 255")]
    Exit {
        /// What stands there.
        found: String,
    },
    /// `*` where it would stand for the program.
    #[error("the first word of a command names its program and cannot be `*` or `{{subject}}`")]
    AnyProgram,
    /// `*` where it would hand over what is run.
    #[error("`*` or `{{subject}}` cannot stand here: {why}; list the commands you mean")]
    AnyCommand {
        /// Why it would.
        why: String,
    },
    /// `*` in `allow`.
    #[error(
        "`*` and `{{subject}}` have no meaning in `allow`: each further argument is listed word for word"
    )]
    AnyAllowed,
    /// A command that could be run on one subject and recorded for another.
    #[error(
        "{what}: each command of a step on any {kind} says `{{subject}}` where that stands; or name the one subject, such as subject = \"{kind}:NAME\""
    )]
    Unbound {
        /// Which commands.
        what: String,
        /// The kind of subject.
        kind: &'static str,
    },
    /// Not the name of a variable.
    #[error(
        "`{name}` is not the name of a variable: it is empty, or holds `=`, white space or a control character"
    )]
    EnvName {
        /// What stands there.
        name: String,
    },
    /// A variable that decides what is run, whatever the command says.
    #[error(
        "`{name}` cannot be passed on: it changes {effect}, so the command would no longer say what ran"
    )]
    EnvRefused {
        /// The variable.
        name: String,
        /// What it changes.
        effect: &'static str,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

fn suggestion(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The text as it can be shown in one line: shortened, without control characters.
pub(super) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 64;
    let mut shown: String = text
        .chars()
        .take(SHOWN_MAX)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push_str("..");
    }
    shown
}

/// The word that `word` was most likely meant to be: at most a third of its letters differ, and never more than three.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    const WORD_MAX: usize = 32;
    if word.len() > WORD_MAX {
        return None;
    }
    let limit = (word.chars().count() / 3).clamp(1, 3);
    let candidates = known.iter().map(|&known| (edits(word, known), known));
    candidates.min().filter(|&(edits, _)| edits <= limit).map(|(_, known)| known)
}

/// Letters to insert, remove or replace to make one word of the other (Levenshtein).
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut left = index + 1;
        let mut next = vec![left];
        for (pair, &wanted) in row.windows(2).zip(&other) {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(letter != wanted)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
