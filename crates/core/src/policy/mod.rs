//! What the owner wrote in `actum.toml`: which steps there are, which commands count as which step, and what a pass is.
//!
//! A policy is read and asked here, nothing more. Starting commands, resolving programs and keeping the accepted text are
//! the caller's. The page for users is `docs/formats/policy.md`.

mod caution;
mod error;
mod file;
mod passes;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::canon::Digest;
use crate::names::{Namespace, StepName, SubjectKind};

pub use error::{PolicyError, Problem};
pub use passes::{LINE_MAX, Passes, Pattern, Shortfall, Stream, Watch};

/// Bytes in a policy file.
pub const FILE_MAX: usize = 256 * 1024;
/// Steps in a policy.
pub const STEPS_MAX: usize = 256;
/// Commands of a step.
pub const COMMANDS_MAX: usize = 64;
/// Elements of a command.
pub const ELEMENTS_MAX: usize = 256;
/// Bytes in an element of a command or of `allow`.
pub const ELEMENT_MAX: usize = 4096;
/// Elements of `allow`.
pub const ALLOW_MAX: usize = 256;
/// Names in `env`.
pub const ENV_MAX: usize = 256;
/// Bytes in a name of `env`.
pub const ENV_NAME_MAX: usize = 256;
/// Patterns of a step.
pub const PATTERNS_MAX: usize = 64;
/// Patterns of all steps together: with [`PATTERN_SIZE_MAX`] the bound on what a file can make us hold.
pub const PATTERNS_TOTAL_MAX: usize = 512;
/// Bytes in a pattern as it is written.
pub const PATTERN_MAX: usize = 1024;
/// Bytes in memory of a pattern once compiled.
pub const PATTERN_SIZE_MAX: usize = 256 * 1024;
/// The shortest lifetime.
pub const LIFETIME_MIN: Duration = Duration::from_secs(1);
/// The longest lifetime: ten years of 365 days.
pub const LIFETIME_MAX: Duration = Duration::from_hours(10 * 365 * 24);

/// The steps of one namespace, each with its rule.
#[derive(Debug, Clone)]
pub struct Policy {
    namespace: Namespace,
    steps: BTreeMap<StepName, Rule>,
}

impl Policy {
    /// Reads the text of an `actum.toml`. What is not understood is refused, never ignored.
    ///
    /// ```
    /// use actum_core::{StepName, policy::Policy};
    /// let text = r#"
    ///     version = 1
    ///     [steps.tests]
    ///     commands = [["cargo", "test"]]
    ///     allow = ["--workspace"]
    ///     passes = { output = ['test result: ok\. [1-9]'] }
    /// "#;
    /// let policy = Policy::parse(text)?;
    /// let tests = policy.step(&StepName::new("tests")?).ok_or("no such step")?;
    /// let argv = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// assert!(tests.admits(&argv("cargo test --workspace")));
    /// assert!(!tests.admits(&argv("cargo test --no-run")));
    ///
    /// let wrong = Policy::parse(&text.replace("commands", "comands")).unwrap_err();
    /// assert_eq!((wrong.line(), wrong.column()), (4, 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and column: text that is not TOML, a key this version does not know or
    /// does not support yet, a value of another type or over its limit, a name, a lifetime or a pattern that does not hold.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        file::read(text)
    }

    /// Whose steps these are: `local/default` where the file does not say.
    pub const fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// The rule of the step with this name.
    pub fn step(&self, name: &StepName) -> Option<&Rule> {
        self.steps.get(name)
    }

    /// Every step with its rule, by name.
    pub fn steps(&self) -> impl Iterator<Item = (&StepName, &Rule)> {
        self.steps.iter()
    }
}

/// What counts as one step. Only [`Policy::parse`] makes one, so every limit of this module holds for it.
#[derive(Debug, Clone)]
pub struct Rule {
    /// In the order of the file, none empty, none twice.
    commands: Vec<Vec<Element>>,
    allow: BTreeSet<String>,
    env: BTreeSet<String>,
    subject: SubjectKind,
    lifetime: Option<Duration>,
    passes: Passes,
}

impl Rule {
    /// Whether running `argv` is this step: it equals one of the commands, and whatever follows is in `allow`, word for word.
    pub fn admits(&self, argv: &[String]) -> bool {
        self.commands.iter().any(|command| {
            let Some((words, further)) = argv.split_at_checked(command.len()) else {
                return false;
            };
            command.iter().zip(words).all(|(element, word)| element.admits(word))
                && further.iter().all(|word| self.allow.contains(word))
        })
    }

    /// The commands in the order of the file; there is at least one, and each has at least its program.
    pub fn commands(&self) -> &[Vec<Element>] {
        &self.commands
    }

    /// The further arguments that do not weaken the step.
    pub const fn allow(&self) -> &BTreeSet<String> {
        &self.allow
    }

    /// The names of the variables that are passed on to the command.
    pub const fn env(&self) -> &BTreeSet<String> {
        &self.env
    }

    /// What the step is performed on.
    pub const fn subject(&self) -> SubjectKind {
        self.subject
    }

    /// How long a pass counts; `None` is for as long as its subject stays the same.
    pub const fn lifetime(&self) -> Option<Duration> {
        self.lifetime
    }

    /// What a pass is.
    pub const fn passes(&self) -> &Passes {
        &self.passes
    }

    /// The first words of the commands: what the caller resolves to a [`Program`] when a policy is accepted.
    pub fn programs(&self) -> BTreeSet<&str> {
        self.commands.iter().filter_map(|command| command.first()).map(Element::as_str).collect()
    }

    /// The digest of everything that gives this rule its meaning, with what its programs were resolved to.
    ///
    /// Equal exactly when the rules mean the same and run the same binaries: the order within `commands`, `allow`, `env`,
    /// `exit` and `output` changes nothing, nor do programs that no command of this rule names, so all those of a policy may
    /// be given. A program that was not resolved is simply not among them, which is another digest.
    pub fn digest(&self, programs: &[Program]) -> Digest {
        let commands: BTreeSet<_> = self.commands.iter().collect();
        let output: BTreeSet<_> = self.passes.output().iter().map(Pattern::as_str).collect();
        let named = self.programs();
        let programs: BTreeSet<_> =
            programs.iter().filter(|program| named.contains(program.name.as_str())).collect();

        let mut parts = Parts::default();
        parts.count(commands.len());
        for command in commands {
            parts.count(command.len());
            for element in command {
                parts.text(match element {
                    Element::Exact(_) => "exact",
                    Element::Any => "any",
                });
                parts.text(element.as_str());
            }
        }
        parts.texts(self.allow.iter().map(String::as_str));
        parts.texts(self.env.iter().map(String::as_str));
        parts.text(self.subject.word());
        parts.texts(self.lifetime.map(|lifetime| lifetime.as_secs().to_string()).iter());
        parts.texts(self.passes.exit().iter().map(i32::to_string));
        parts.texts(output.into_iter());
        parts.count(programs.len());
        for program in programs {
            parts.text(&program.name);
            parts.text(&program.path);
            parts.bytes(program.digest.as_bytes());
        }
        parts.digest("actum/rule/v1")
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// This word and no other.
    Exact(String),
    /// `*`: any one word, but not an empty one and not one that starts with `-`.
    Any,
}

impl Element {
    /// Whether `word` may stand here.
    pub fn admits(&self, word: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == word,
            Self::Any => !word.is_empty() && !word.starts_with('-'),
        }
    }

    /// As it stands in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(word) => word,
            Self::Any => "*",
        }
    }
}

/// What the first word of a command was resolved to when the policy was accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// The word in the policy, such as `cargo`.
    pub name: String,
    /// Where it was found.
    pub path: String,
    /// The digest of the file that was there.
    pub digest: Digest,
}

/// The parts of a digest in order. A list is its length and then its elements, so that nothing moves from one to the next.
#[derive(Default)]
struct Parts(Vec<Vec<u8>>);

impl Parts {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(bytes.to_vec());
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn count(&mut self, count: usize) {
        self.bytes(&(count as u64).to_be_bytes());
    }

    fn texts(&mut self, texts: impl ExactSizeIterator<Item = impl AsRef<str>>) {
        self.count(texts.len());
        for text in texts {
            self.text(text.as_ref());
        }
    }

    fn digest(&self, domain: &str) -> Digest {
        let parts: Vec<_> = self.0.iter().map(Vec::as_slice).collect();
        Digest::of(domain, &parts)
    }
}
