//! Everything a person reads: lines, colours where a terminal wants them, JSON where it was asked for, and failures that say
//! what happened, to what, and what to do.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use actum_core::policy::FILE_MAX;
use actum_core::{Answer, CommitError, Outcome as RunOutcome, Reason, Refusal};
use actum_store::{PolicyMissing, StoreError};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use similar::ChangeTag;

/// The command line was wrong.
pub(crate) const USAGE: u8 = 2;
/// Something failed that is no answer.
pub(crate) const FAILED: u8 = 1;
/// Actum itself failed while running a command.
pub(crate) const RUN_FAILED: u8 = 125;

/// How to talk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Say {
    pub(crate) json: bool,
}

impl Say {
    /// A line for a person; nothing where JSON was asked for.
    pub(crate) fn line(self, text: &str) {
        if !self.json {
            out(&format!("{text}\n"));
        }
    }

    /// The answer beside the output, where the output is a command's own.
    pub(crate) fn json_beside(self, value: &Value) {
        if self.json {
            let mut err = anstream::stderr().lock();
            ignore_closed(writeln!(err, "{value}"));
        }
    }

    /// Lines that a person must see before a question, JSON or not.
    pub(crate) fn show(self, text: &str) {
        if self.json && io::stderr().is_terminal() {
            let mut err = anstream::stderr().lock();
            ignore_closed(writeln!(err, "{text}"));
        } else {
            self.line(text);
        }
    }

    /// The answer where JSON was asked for: one value, one line.
    pub(crate) fn json(self, value: &Value) {
        if self.json {
            out(&format!("{value}\n"));
        }
    }
}

/// Writes to standard output. A reader that went away is no error of ours.
pub(crate) fn out(text: &str) {
    ignore_closed(print(text));
}

/// Writes to standard output, for one who stops when nobody reads it any more.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// A line beside the output, for a person.
pub(crate) fn note(text: &str) {
    let mut err = anstream::stderr().lock();
    ignore_closed(writeln!(err, "actum: {text}"));
}

fn ignore_closed(wrote: io::Result<()>) {
    // There is nobody left to tell.
    drop(wrote);
}

/// The text in the colour of its answer.
pub(crate) fn paint(answer: Answer, text: &str) -> String {
    let color = match answer {
        Answer::Grounded => AnsiColor::Green,
        Answer::Ungrounded => AnsiColor::Yellow,
        Answer::Contradicted | Answer::Refused => AnsiColor::Red,
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{text}{style:#}")
}

/// The text, less important than its neighbours.
pub(crate) fn dim(text: &str) -> String {
    let style = Style::new().dimmed();
    format!("{style}{text}{style:#}")
}

/// A number of things: `1 event`, `2 events`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// The exit code of a run, or minus the signal that ended it; nothing where there was neither.
pub(crate) fn known_code(outcome: RunOutcome, code: i32) -> Option<i32> {
    match outcome {
        RunOutcome::Passed | RunOutcome::Failed | RunOutcome::SubjectChanged => Some(code),
        RunOutcome::Errored => Some(code).filter(|&code| code < 0),
        RunOutcome::Denied | RunOutcome::TimedOut => None,
    }
}

/// A text file that a person wrote: a plain file, links followed, no longer than a policy can be. Never waits.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    read_plain(path).map_err(|error| {
        let not_text = error.kind() == io::ErrorKind::InvalidData;
        let what = if not_text { "it is not UTF-8 text".to_owned() } else { error.to_string() };
        format!("cannot read {}: {what}", path.display())
    })
}

fn read_plain(path: &Path) -> io::Result<String> {
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let limit = FILE_MAX as u64;
    let mut text = String::new();
    file.take(limit + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

/// A text that somebody else chose, so that it cannot move the cursor, begin a line, hide or turn around what stands beside it.
pub(crate) fn foreign(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}')
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
            || matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
            || matches!(c, '\u{17b4}' | '\u{17b5}' | '\u{fe00}'..='\u{fe0e}');
        if c.is_control() || invisible {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A text of several lines that somebody else chose, set apart from what is said of it.
pub(crate) fn quoted(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(|line| format!("    | {}", foreign(line))).collect();
    lines.join("\n")
}

/// A line of a difference between two texts that somebody else chose.
pub(crate) fn changed_line(tag: ChangeTag, line: &str) -> String {
    let line = foreign(line.trim_end_matches('\n'));
    let colored = |color: AnsiColor, text: &str| {
        let style = Style::new().fg_color(Some(color.into()));
        format!("{style}{text}{style:#}")
    };
    match tag {
        ChangeTag::Delete => colored(AnsiColor::Red, &format!("- {line}")),
        ChangeTag::Insert => colored(AnsiColor::Green, &format!("+ {line}")),
        ChangeTag::Equal => format!("  {line}"),
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: u8,
    pub(crate) reason: Option<Reason>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Nobody decided anything: reading goes on without it, unverified.
    pub(crate) unanswered: bool,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: u8, message: impl Into<String>) -> Self {
        Self { exit, reason: None, message: message.into(), hint: None, unanswered: false }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Whether it says that the ledger cannot be believed.
    pub(crate) fn is_refusal(&self) -> bool {
        self.reason.is_some_and(|reason| reason.answer() == Answer::Refused)
    }

    /// The same failure under another exit code.
    pub(crate) fn exiting(self, exit: u8) -> Self {
        Self { exit, ..self }
    }

    /// Tells the person, or whoever asked for JSON; that goes beside the output where the output is a command's own.
    pub(crate) fn tell(&self, say: Say, beside: bool) {
        if say.json {
            let value = json!({
                "error": {
                    "message": self.message,
                    "reason": self.reason.map(Reason::code),
                    "hint": self.hint,
                }
            });
            if beside {
                say.json_beside(&value);
            } else {
                say.json(&value);
            }
            return;
        }
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let mut err = anstream::stderr().lock();
        let mut wrote = writeln!(err, "{style}error:{style:#} {}", foreign(&self.message));
        for hint in self.hint.iter().flat_map(|hint| hint.lines()) {
            let hint = foreign(hint);
            wrote = wrote.and_then(|()| writeln!(err, "  {hint}"));
        }
        ignore_closed(wrote);
    }
}

/// An error with its causes, each once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let reason = error.reason();
        let hint = match &error {
            StoreError::Refused(refusal) => Some(way_out(refusal)),
            StoreError::Missing { .. } => Some(reason.way_out().to_owned()),
            StoreError::AlreadyThere { .. } => {
                Some("see it with `actum verify` and `actum log`".to_owned())
            }
            StoreError::KnownHere { .. } => Some(
                "Restore the folder, or see what is lost and go on: `actum resolve`.".to_owned(),
            ),
            StoreError::Locked { .. } => Some("wait for it, or end it, and try again".to_owned()),
            StoreError::Disk { .. } | StoreError::Commit(CommitError::Journal(_)) => Some(
                "what was acknowledged is safe; see to the disk or to the file's owner and mode, and try again"
                    .to_owned(),
            ),
            StoreError::Content { .. } | StoreError::Commit(_) => None,
        };
        let exit = match &error {
            StoreError::Refused(_)
            | StoreError::Missing { .. }
            | StoreError::KnownHere { .. }
            | StoreError::Content { .. } => Answer::Refused.exit_code(),
            StoreError::AlreadyThere { .. }
            | StoreError::Locked { .. }
            | StoreError::Disk { .. }
            | StoreError::Commit(_) => FAILED,
        };
        Self { exit, reason: Some(reason), message: chain(&error), hint, unanswered: false }
    }
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        StoreError::from(error).into()
    }
}

fn way_out(refusal: &Refusal) -> String {
    Reason::from(refusal).way_out().to_owned()
}

impl From<PolicyMissing> for Failure {
    fn from(missing: PolicyMissing) -> Self {
        let reason = match missing {
            PolicyMissing::None => Reason::NoPolicy,
            PolicyMissing::Unusable { .. } => Reason::PolicyMissing,
        };
        Self {
            exit: Answer::Refused.exit_code(),
            reason: Some(reason),
            message: missing.to_string(),
            hint: Some(reason.way_out().to_owned()),
            unanswered: false,
        }
    }
}
