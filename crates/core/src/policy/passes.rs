//! What a pass is, and the watch that looks for it in the output as it comes. Memory is bounded by one line a stream.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use regex::bytes::{Regex, RegexBuilder};

use super::PATTERN_SIZE_MAX;

/// Bytes of a line that are looked at.
pub const LINE_MAX: usize = 64 * 1024;

/// When a command that ended has passed its step: one of these exit codes, and a line of output for each pattern.
#[derive(Debug, Clone)]
pub struct Passes {
    pub(super) exit: BTreeSet<i32>,
    /// In the order of the file, none twice.
    pub(super) output: Vec<Pattern>,
}

impl Passes {
    /// The exit codes that pass; there is at least one.
    pub const fn exit(&self) -> &BTreeSet<i32> {
        &self.exit
    }

    /// The patterns in the order of the file.
    pub fn output(&self) -> &[Pattern] {
        &self.output
    }

    /// Whether the output has to be watched; if not, the command may keep the terminal.
    pub const fn wants_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// A watch over one run.
    ///
    /// ```
    /// use actum_core::policy::{Policy, Stream};
    /// let policy = Policy::parse(
    ///     "version = 1\n[steps.t]\ncommands = [['run']]\npasses = { output = ['^[1-9][0-9]* passed'] }",
    /// )?;
    /// let (_, rule) = policy.commands().next().ok_or("no step")?;
    ///
    /// let mut watch = rule.passes().watch();
    /// watch.feed(Stream::Out, b"3 pas");
    /// watch.feed(Stream::Err, b"warning\n");
    /// watch.feed(Stream::Out, b"sed\n");
    /// assert_eq!(watch.finish(0), Ok(()));
    ///
    /// let mut watch = rule.passes().watch();
    /// watch.feed(Stream::Out, b"0 passed\n");
    /// let shortfall = watch.finish(0).unwrap_err();
    /// assert_eq!(shortfall.to_string(), "no line of the output matched `^[1-9][0-9]* passed`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch(&self) -> Watch {
        Watch {
            exit: self.exit.clone(),
            missing: self.output.clone(),
            out: Line::default(),
            err: Line::default(),
        }
    }
}

/// A regular expression that some line of the output must match.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles `text`; what is wrong with it is said in one line.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(text).size_limit(PATTERN_SIZE_MAX).build();
        regex.map(|regex| Self { text: text.to_owned(), regex }).map_err(|error| {
            if let regex::Error::CompiledTooBig(limit) = error {
                return format!("compiled, it is over {limit} bytes; [a-z] is smaller than \\w");
            }
            // The library draws a picture over several lines; the reason is the last of them.
            let picture = error.to_string();
            let reason = picture.lines().last().unwrap_or_default().trim();
            reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
        })
    }

    /// As it stands in the file.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a line that says nothing would do: the empty one, or each of a few that have nothing in common.
    pub(super) fn matches_anything(&self) -> bool {
        let matches = |line: &str| self.regex.is_match(line.as_bytes());
        matches("") || ["a", "7", " ", "-"].into_iter().all(matches)
    }
}

/// Where the command wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Looks for the patterns of one run, line by line. Each stream has its own line, so the two never mix within one.
///
/// A line ends with a line feed or a carriage return. Bytes need not be UTF-8. Colours (`ESC [ .. m` and its like) are left
/// out before a line is matched. Of a line over [`LINE_MAX`] only that many bytes are looked at, and where it was cut is not
/// its end: `ok$` does not match there.
#[derive(Debug)]
pub struct Watch {
    exit: BTreeSet<i32>,
    missing: Vec<Pattern>,
    out: Line,
    err: Line,
}

impl Watch {
    /// Takes the next bytes of one stream, cut anywhere.
    pub fn feed(&mut self, stream: Stream, bytes: &[u8]) {
        if self.missing.is_empty() {
            return;
        }
        let line = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        for &byte in bytes {
            if matches!(byte, b'\n' | b'\r') {
                line.end(&mut self.missing);
            } else {
                line.push(byte);
            }
        }
    }

    /// Whether the run passed, now that the command ended with `exit`. A last line needs no line feed.
    ///
    /// # Errors
    /// What is missing: the exit code first, then the first pattern that no line matched.
    pub fn finish(mut self, exit: i32) -> Result<(), Shortfall> {
        self.out.end(&mut self.missing);
        self.err.end(&mut self.missing);
        if !self.exit.contains(&exit) {
            return Err(Shortfall::Exit { code: exit, wanted: self.exit });
        }
        match self.missing.first() {
            Some(pattern) => Err(Shortfall::NoLine { pattern: pattern.text.clone() }),
            None => Ok(()),
        }
    }
}

/// What a run that ended lacks to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortfall {
    /// It ended with another exit code.
    Exit {
        /// The one it ended with.
        code: i32,
        /// Those that pass.
        wanted: BTreeSet<i32>,
    },
    /// A pattern found no line.
    NoLine {
        /// The pattern as it stands in the policy.
        pattern: String,
    },
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit { code, wanted } => {
                write!(f, "the command ended with {code}; a pass ends with ")?;
                for (index, code) in wanted.iter().enumerate() {
                    let or = if index == 0 { "" } else { " or " };
                    write!(f, "{or}{code}")?;
                }
                Ok(())
            }
            Self::NoLine { pattern } => {
                f.write_str("no line of the output matched `")?;
                f.write_str(pattern)?;
                f.write_char('`')
            }
        }
    }
}

impl std::error::Error for Shortfall {}

/// The line a stream is in. INVARIANT(bounded): never more than [`LINE_MAX`] bytes and the mark of a cut.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    escape: Escape,
}

/// Where in a colour sequence the line is.
#[derive(Debug, Default, Clone, Copy)]
enum Escape {
    #[default]
    Outside,
    Started,
    Inside,
}

const ESCAPE: u8 = 0x1b;
/// Stands where a line was cut. No UTF-8 text holds this byte, so no end of a pattern fits before it by accident.
const CUT: u8 = 0xff;

impl Line {
    fn push(&mut self, byte: u8) {
        self.escape = match self.escape {
            Escape::Outside | Escape::Started if byte == ESCAPE => Escape::Started,
            Escape::Started if byte == b'[' => Escape::Inside,
            Escape::Started => {
                self.keep(ESCAPE);
                self.keep(byte);
                Escape::Outside
            }
            Escape::Outside => {
                self.keep(byte);
                Escape::Outside
            }
            Escape::Inside if matches!(byte, b' '..=b'?') => Escape::Inside,
            Escape::Inside => Escape::Outside,
        };
    }

    fn keep(&mut self, byte: u8) {
        if self.bytes.len() < LINE_MAX {
            self.bytes.push(byte);
        } else if self.bytes.len() == LINE_MAX {
            self.bytes.push(CUT);
        }
    }

    /// Takes the patterns that this line matches off the list, and starts the next line.
    fn end(&mut self, missing: &mut Vec<Pattern>) {
        if !self.bytes.is_empty() {
            missing.retain(|pattern| !pattern.regex.is_match(&self.bytes));
        }
        self.bytes.clear();
        self.escape = Escape::Outside;
    }
}
